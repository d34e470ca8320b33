"""The texts of an enlarged picture: those of the one before, and what enlarged it."""

import msgspec

from engine.api.record import UpscaleReport
from engine.metadata.infotext import parse_infotext
from engine.metadata.record import decode_record, encode_record, find_record
from engine.metadata.texts import TextChunk
from engine.metadata.upscales import with_upscale
from tests.metadata.records import PLAIN

REPORT = UpscaleReport(
    name="4x, sharp", width=2048, height=1536, resampling="lanczos", path="/models/4x.pth"
)
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
    assert set(found) == {"parameters"}
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
    assert found == {**comfy, "postprocessing": expected}
    again = texts(*(TextChunk(*one) for one in found.items()), report=OTHER)
    assert again["postprocessing"] == "Postprocess upscale to: 64x64, Postprocess upscaler: area"
    swarm = '{"sui_image_params": {}}'
    assert texts(TextChunk("parameters", swarm))["parameters"] == swarm
    damaged = texts(TextChunk("safelight", "{"))
    assert damaged["safelight"] == "{"


def test_a_picture_without_texts_tells_what_enlarged_it() -> None:
    assert texts()["parameters"].endswith('Postprocess upscaler: "4x, sharp"')
