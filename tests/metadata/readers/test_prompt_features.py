"""Texts of pictures are read by no grammar that their tool has not got."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.api import GenerateRequest, ResolvedRequest
from engine.api.conventions import CONVENTIONS, convention_of
from engine.api.prompt_rules import PromptFeature
from engine.api.values import ConventionName
from engine.metadata.readers import import_record
from engine.metadata.record import decode_record, encode_record
from engine.text import WeightedText, read_prompt
from tests.metadata.readers.pictures import from_text, recognised
from tests.metadata.readers.samples import NOVELAI, SDCPP
from tests.metadata.records import PLAIN

LINE = "Steps: 20, Sampler: Euler, Seed: 5"


def drawn(request: GenerateRequest | ResolvedRequest, *, negative: bool = False) -> str:
    """The words that are encoded, of all moments and parts."""
    text = request.negative_prompt if negative else request.prompt
    reading = read_prompt(text, convention_of(request.convention), 20, negative=negative)
    return "|".join(
        part.text
        for timeline in reading.timelines
        for timed in timeline.passages
        for mixture in timed.passage
        for phrase in mixture.phrases
        for part in phrase
        if isinstance(part, WeightedText) and part.text
    )


@pytest.mark.parametrize(
    "version",
    ["", ", Version: v1.10.1", ", Version: 1.6.0", ", App: SD.Next", ", Civitai resources: []"],
)
def test_words_after_a_hash_in_a_picture_are_encoded(tmp_path: Path, version: str) -> None:
    """AUTOMATIC1111 writes prompts without their comments; the others have none."""
    text = f"sky, #87ceeb, very wide\nNegative prompt: #rain, fog\n{LINE}{version}"
    request = from_text(tmp_path, text).request
    assert drawn(request) == "sky, #87ceeb, very wide"
    assert drawn(request, negative=True) == "#rain, fog"


def test_words_after_a_hash_in_a_prompt_without_settings_are_encoded(tmp_path: Path) -> None:
    assert drawn(from_text(tmp_path, "a #1 fan").request) == "a #1 fan"


@pytest.mark.parametrize("version", ["f2.0.1v1.10.1-previous-669-gdfdcbab6", "Safelight 0.1"])
def test_comments_are_left_out_for_tools_that_write_them(tmp_path: Path, version: str) -> None:
    """Forge 2 writes the prompt as it was before they were taken out; so do we."""
    request = from_text(tmp_path, f"sky # blue\n{LINE}, Version: {version}").request
    assert drawn(request).strip() == "sky"


def test_a_picture_without_a_hash_keeps_the_tools_convention(tmp_path: Path) -> None:
    request = from_text(tmp_path, f"sky\n{LINE}, RNG: CPU").request
    assert request.convention is ConventionName.A1111


def test_a_record_keeps_the_features_of_its_text(tmp_path: Path) -> None:
    """A picture made from another tool's text is made again from its own record."""
    request = from_text(tmp_path, f"sky, #87ceeb\n{LINE}").request
    resolved = msgspec.structs.replace(
        PLAIN.request, prompt=request.prompt, convention=convention_of(request.convention)
    )
    record = decode_record(encode_record(msgspec.structs.replace(PLAIN, request=resolved)))
    assert record is not None
    again = import_record(record).request
    assert again.convention == request.convention
    assert drawn(again) == "sky, #87ceeb"


def test_a_record_without_features_has_all() -> None:
    written = json.loads(encode_record(PLAIN))
    del written["request"]["convention"]["prompt_features"]
    assert decode_record(json.dumps(written)) == PLAIN


def test_stable_diffusion_cpp_has_only_brackets_breaks_and_loras() -> None:
    text = SDCPP.replace("a red house", "a #red [x:y:0.5] AND [b|c] (d:1.2) BREAK e")
    request = recognised(("parameters", text.encode().decode("latin-1"))).request
    assert drawn(request) == "a #red |x:y:0.5| AND |b|c| |d|e , 猫"


def test_novelai_has_only_weights() -> None:
    words = "#テスト, [a:b:3], x AND y, <lora:a:1>, BREAK, {b|c}"
    comment = json.dumps(NOVELAI | {"prompt": words, "uc": "# z"})
    texts = (("Software", "NovelAI"), ("Source", "NovelAI Diffusion V3"), ("Comment", comment))
    request = recognised(*texts).request
    read = drawn(request)
    assert "".join(read.split("|")) == "#テスト, a:b:3, x AND y, <lora:a:1>, BREAK, bc"
    assert drawn(request, negative=True) == "# z"


def with_captions(prompt: dict[str, Any], negative: dict[str, Any]) -> dict[str, Any]:
    return NOVELAI | {"v4_prompt": {"caption": prompt}, "v4_negative_prompt": {"caption": negative}}


def test_prompts_of_novelais_characters_are_read_with_a_warning() -> None:
    comment = with_captions(
        {
            "base_caption": "2girls, -0.8::feet::, park",
            "char_captions": [
                {"char_caption": "girl, {red hair}", "centers": [{"x": 0.3, "y": 0.5}]},
                {"char_caption": "girl, 1.5::hat::", "centers": [{"x": 0.7, "y": 0.5}]},
            ],
        },
        {"base_caption": "bad", "char_captions": [{"char_caption": "boy", "centers": []}]},
    )
    found = recognised(
        ("Software", "NovelAI"),
        ("Source", "NovelAI Diffusion V4.5 4BDE2A90"),
        ("Comment", json.dumps(comment)),
    )
    assert found.request.prompt == (
        "2girls, (feet:-0.8), park, girl, (red hair:1.05), girl, (hat:1.5)"
    )
    assert found.request.negative_prompt == "bad, boy"
    assert any("characters apart from the scene" in warning for warning in found.warnings)


def test_every_convention_has_all_prompt_features() -> None:
    for convention in CONVENTIONS.values():
        assert convention.prompt_features == tuple(PromptFeature)
