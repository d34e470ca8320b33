"""The texts of an enlarged picture: those of the one before, and what enlarged it."""

from pathlib import Path

import msgspec
import pytest

from engine.api.record import UpscaleReport
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.metadata.infotext import parse_infotext
from engine.metadata.png import insert_text_chunks
from engine.metadata.readers import read_request
from engine.metadata.record import decode_record, encode_record, find_record
from engine.metadata.texts import TextChunk
from engine.metadata.upscales import read_upscales, with_upscale
from tests.metadata.records import PLAIN, png_with

REPORT = UpscaleReport(
    name="4x, sharp", width=2048, height=1536, resampling="lanczos", path="/models/4x.pth"
)
PIXEL = png_with()
OTHER = UpscaleReport(name="area", width=64, height=64, resampling="area")
PARAMETERS = "a cat\nNegative prompt: dog\nSteps: 20, Sampler: Euler, CFG scale: 7, Size: 512x384"


def texts(*chunks: TextChunk, report: UpscaleReport = REPORT) -> dict[str, str]:
    return {chunk.keyword: chunk.text for chunk in with_upscale(chunks, report)}


def test_our_record_lists_each_enlargement() -> None:
    before = PLAIN
    once = texts(TextChunk("safelight", encode_record(before)))
    twice = texts(TextChunk("safelight", once["safelight"]), report=OTHER)
    found = find_record((TextChunk("safelight", twice["safelight"]),))
    assert found is not None
    assert found.upscales == (REPORT, OTHER)
    assert msgspec.structs.replace(found, upscales=msgspec.UNSET) == before


def test_a_record_without_enlargement_says_nothing_of_one() -> None:
    text = encode_record(PLAIN)
    assert "upscales" not in text
    found = decode_record(text)
    assert found is not None
    assert found.upscales is msgspec.UNSET


def test_a1111s_text_has_its_pairs_at_the_end() -> None:
    found = texts(TextChunk("parameters", PARAMETERS))
    assert set(found) == {"parameters", "safelight"}
    assert found["parameters"].startswith(PARAMETERS + ", ")
    info = parse_infotext(found["parameters"])
    assert (info.prompt, info.negative_prompt, info.get("Steps")) == ("a cat", "dog", "20")
    assert info.get("Postprocess upscale to") == "2048x1536"
    assert info.get("Postprocess upscaler") == "4x, sharp"


def test_the_text_of_a_jpeg_file_is_the_parameters() -> None:
    assert "Postprocess upscaler" in texts(TextChunk("exif:UserComment", PARAMETERS))["parameters"]


def test_other_texts_stay_as_they_are() -> None:
    comfy = {"prompt": '{"3": {}}', "workflow": "{}"}
    found = texts(*(TextChunk(keyword, text) for keyword, text in comfy.items()))
    expected = 'Postprocess upscale to: 2048x1536, Postprocess upscaler: "4x, sharp"'
    record = found.pop("safelight")
    assert found == {**comfy, "postprocessing": expected}
    # It does not say how the picture was made.
    assert decode_record(record) is None
    again = texts(*(TextChunk(*item) for item in found.items()), report=OTHER)
    assert again["postprocessing"] == "Postprocess upscale to: 64x64, Postprocess upscaler: area"
    swarm = '{"sui_image_params": {}}'
    assert texts(TextChunk("parameters", swarm))["parameters"] == swarm
    # Its prompt looks like pairs.
    swarm = '{"sui_image_params": {"prompt": "place: sea, time: night, style: ink"}}'
    assert texts(TextChunk("parameters", swarm))["parameters"] == swarm
    damaged = texts(TextChunk("safelight", "{"))
    assert damaged["safelight"] == "{"


def test_a_picture_without_texts_tells_what_enlarged_it_and_names_no_other_tool(
    tmp_path: Path,
) -> None:
    found = texts()
    assert set(found) == {"postprocessing", "safelight"}
    assert found["postprocessing"].endswith('Postprocess upscaler: "4x, sharp"')
    again = texts(*(TextChunk(*item) for item in found.items()), report=OTHER)
    path = tmp_path / "large.png"
    chunks = [TextChunk(*item) for item in again.items()]
    path.write_bytes(insert_text_chunks(PIXEL, chunks))
    assert read_upscales(path) == (REPORT, OTHER)
    with pytest.raises(EngineError) as raised:
        read_request(path)
    assert raised.value.info.code is ErrorCode.METADATA_MISSING


def test_the_enlargement_of_another_tools_picture_is_read_beside_its_settings(
    tmp_path: Path,
) -> None:
    path = tmp_path / "large.png"
    chunks = with_upscale([TextChunk("parameters", PARAMETERS)], REPORT)
    path.write_bytes(insert_text_chunks(PIXEL, chunks))
    assert read_upscales(path) == (REPORT,)
    assert read_request(path).tool == "AUTOMATIC1111"


@pytest.mark.parametrize("text", ["{", '{"upscales": [{"name": 1}]}', "[]", '{"upscales": 3}'])
def test_a_damaged_record_of_an_enlargement_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "large.png"
    path.write_bytes(insert_text_chunks(PIXEL, [TextChunk("safelight", text)]))
    assert read_upscales(path) == ()
