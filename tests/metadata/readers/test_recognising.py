"""The choice of the tool whose reading counts; texts of any kind can be read."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.metadata.readers import recognise
from engine.metadata.record import record_chunks
from engine.metadata.texts import TextChunk
from tests.metadata.frozen import frozen
from tests.metadata.readers.graphs import TEXT_TO_PICTURE, prompt
from tests.metadata.readers.pictures import imported
from tests.metadata.readers.samples import INVOKE, NOVELAI, SDCPP, SWARM, novelai
from tests.metadata.records import PLAIN


def test_a_tools_own_notation_comes_before_the_common_text(tmp_path: Path) -> None:
    """Nodes of ComfyUI write AUTOMATIC1111's text beside the graph; we write it beside ours."""
    common = TextChunk("parameters", "common\nSteps: 9, Sampler: Euler, Seed: 8")
    assert imported(tmp_path, common, prompt(TEXT_TO_PICTURE)).tool == "ComfyUI"
    own = record_chunks(PLAIN)
    assert imported(tmp_path, common, prompt(TEXT_TO_PICTURE), *own).tool == "Safelight"
    assert imported(tmp_path, common).tool == "AUTOMATIC1111"


@pytest.mark.parametrize(
    ("texts", "model"),
    [
        ((TextChunk("parameters", "a\nSteps: 9, Seed: 8, Model: dream"),), "dream"),
        ((prompt(TEXT_TO_PICTURE),), "sd15\\dream.safetensors"),
        ((TextChunk("parameters", json.dumps(SWARM)),), "OfficialStableDiffusion/sd_xl_base_1.0"),
        ((TextChunk("parameters", "a\nSteps: 9, Seed: 8"),), ""),
    ],
    ids=["AUTOMATIC1111", "ComfyUI", "SwarmUI", "none"],
)
def test_the_name_of_the_model_is_told(texts: tuple[TextChunk, ...], model: str) -> None:
    found = recognise(texts)
    assert found is not None
    assert found.model == model


HOSTILE = (
    ("parameters", "aa: b, " * 500_000),
    ("parameters", "x\n" * 1_900_000),
    ("parameters", "<lora:" * 600_000),
    ("parameters", "[a:b:" + "1" * 3_000_000 + "\nSteps: 1, Seed: 2, Version: v1.5.0"),
    ("parameters", "x" * 4_000_001),
    ("parameters", json.dumps({"sui_image_params": {"loras": "," * 3_000_000}})),
    ("prompt", json.dumps({"1": {"class_type": "SaveImage", "inputs": {"images": ["1"] * 300}}})),
    ("sd-metadata", json.dumps({"image": {"prompt": "[" * 3_000_000}})),
    ("sd-metadata", json.dumps({"image": {"prompt": "[a]" * 1_000_000}})),
    ("Dream", " -s" * 1_000_000),
    ("Dream", '" -s' + " " * 3_000_000),
    ("Sampler", "x"),
)


# Quadratic work would take hours.
@pytest.mark.parametrize(("keyword", "text"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_take_linear_time_and_memory(keyword: str, text: str) -> None:
    keywords = (keyword, "Guidance Scale", "Steps")
    tracemalloc.start()
    recognise(tuple(TextChunk(word, text) for word in keywords))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 << 20


@pytest.mark.parametrize("words", ["{" * 250_000, "{a}[" * 60_000])
def test_hostile_brackets_of_novelai_take_linear_time(words: str) -> None:
    texts = dict(novelai("")) | {"Comment": json.dumps(NOVELAI | {"prompt": words})}
    found = recognise(tuple(TextChunk(*text) for text in texts.items()))
    assert found is not None
    assert len(found.request.prompt) < 4_000_000


KEYWORDS = st.sampled_from(
    [
        "parameters", "fooocus_scheme", "Software", "Source", "Comment", "Description", "prompt",
        "invokeai_metadata", "sd-metadata", "Dream", "exif:UserComment", "exif:MakerNote",
        "exif:Model", "jpeg:comment", "xmp:parameters", "num_inference_steps", "guidance_scale",
        "Sampler", "LoRA model", "safelight",
    ]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6),
    st.sampled_from(["a1111", "fooocus", "NovelAI", "512x512", "(512, 512)", "1e999", "k_euler_k"]),
)  # fmt: skip
WHOLE = [SWARM, NOVELAI, INVOKE, frozen("easy_diffusion")["written"]["embed"]]
KEYS = st.sampled_from(
    sorted(
        {key for document in WHOLE for key in (*document, *document.get("sui_image_params", ()))}
    )
)
OBJECTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=12)),
    max_leaves=25,
)


def _changed(whole: dict[str, Any], changes: dict[str, Any]) -> str:
    return json.dumps(whole | changes)


CONTENTS = st.one_of(
    OBJECTS.map(json.dumps),
    st.builds(_changed, st.sampled_from(WHOLE), st.dictionaries(KEYS, OBJECTS, max_size=4)),
    st.text(max_size=20),
    st.sampled_from(["a1111", "fooocus", "NovelAI", "[" * 5000, '{"a":' * 5000, SDCPP]),
)


@settings(deadline=None)
@given(st.lists(st.builds(TextChunk, KEYWORDS, CONTENTS), max_size=5))
def test_any_texts_give_a_request_within_bounds_or_none(texts: list[TextChunk]) -> None:
    found = recognise(tuple(texts))
    if found is None:
        return
    request = found.request
    assert isinstance(request.prompt, str)
    assert request.steps is None or 1 <= request.steps <= 1000
    assert request.guidance is None or 0 <= request.guidance <= 100
    assert request.seed is None or 0 <= request.seed < 2**64
    assert request.width is None or 64 <= request.width <= 8192
    assert request.strength is None or 0 <= request.strength <= 1
    assert all(warning.isprintable() and len(warning) < 300 for warning in found.warnings)
