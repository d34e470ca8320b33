"""Settings of layers, second passes and guidance by strangers: any value gives a sound request."""

import json
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api import GenerateRequest
from engine.api.bounds import bounded
from engine.api.control import MAX_CONTROLS
from engine.api.image_prompts import MAX_IMAGE_PROMPTS
from engine.api.second_passes import MAX_SECOND_PASSES
from engine.metadata.readers import recognise
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.texts import TextChunk
from tests.metadata.frozen import frozen
from tests.metadata.readers.graphs import TEXT_TO_PICTURE, node
from tests.metadata.readers.samples import INVOKE, SWARM

Document = dict[str, Any]

_SWARM = {
    "refinermethod": "PostApply", "refinercontrolpercentage": 0.3, "refinerupscale": 1.5,
    "refinerupscalemethod": "model-a.pth", "refinersteps": 30, "refinercfgscale": 5,
    "refinersampler": "euler", "refinerscheduler": "normal", "refinermodel": "b",
    "controlnetmodel": "canny", "controlnetstrength": 1, "controlnetstart": 0, "controlnetend": 1,
    "controlnetpreprocessor": "CannyEdgePreprocessor", "controlnettwomodel": "depth",
    "controlnettwostrength": 1, "controlnettwouniontype": "depth", "controlnetthreemodel": "c",
    "useipadapter": "file:d.bin", "ipadapterweight": 1, "ipadapterstart": 0, "ipadapterend": 1,
    "ipadapterweighttype": "linear", "seamlesstileable": "true", "freeuapplyto": "Both",
    "freeuversion": "2", "freeublockone": 1, "freeublocktwo": 1, "freeuskipone": 1,
    "freeuskiptwo": 1, "perturbedattentionguidancescale": 3, "selfattentionguidancescale": 0.5,
    "selfattentionguidancesigmablur": 2, "initimagecreativity": 0.6,
}  # fmt: skip
_MODEL = {"name": "a", "base": "sd-1", "hash": "sha256:00"}
_ADAPTER = {
    "type": "controlnet", "model": _MODEL, "weight": 1, "beginEndStepPct": [0, 1],
    "controlMode": "balanced",
}  # fmt: skip
_REFERENCE = _ADAPTER | {"type": "ip_adapter", "method": "style"}
_INVOKE = {
    "hrf_enabled": True, "hrf_method": "ESRGAN", "hrf_strength": 0.4, "seamless_x": True,
    "controlnets": [
        {"control_model": _MODEL, "control_weight": [1, 0.5], "begin_step_percent": 0,
         "end_step_percent": 1, "control_mode": "more_control", "resize_mode": "fill_resize"},
    ],
    "t2iAdapters": [{"t2i_adapter_model": _MODEL, "weight": 1}],
    "ipAdapters": [{"ip_adapter_model": _MODEL, "weight": 1, "method": "style"}],
    "canvas_v2_metadata": {
        "controlLayers": [{"isEnabled": True, "controlAdapter": _ADAPTER}],
        "referenceImages": [{"isEnabled": True, "ipAdapter": _REFERENCE}],
    },
    "ref_images": [{"isEnabled": True, "config": _REFERENCE}],
    "upscale_model": _MODEL, "upscale_scale": 2, "creativity": 0, "structure": 0,
}  # fmt: skip
_FOOOCUS = {"freeu": "(1, 1, 1, 1)", "refiner_model": "x", "refiner_switch": 0.5, "sharpness": 2}
_EASY = {
    "use_controlnet_model": ["a", "b"], "control_filter_to_apply": ["canny", "x"],
    "control_alpha": [1, 0.5], "tiling": "xy", "use_upscale": "x", "upscale_amount": 4,
}  # fmt: skip
_GRAPH = TEXT_TO_PICTURE | {
    "8": node("VAEDecode", samples=["29", 0], vae=["4", 2]),
    "20": node("ControlNetLoader", control_net_name="a.safetensors"),
    "21": node("LoadImage", image="a.png"),
    "22": node("CannyEdgePreprocessor", image=["21", 0], low_threshold=1, resolution=512),
    "23": node(
        "ControlNetApplyAdvanced", positive=["6", 0], negative=["7", 0], control_net=["20", 0],
        image=["22", 0], strength=1, start_percent=0, end_percent=1,
    ),
    "24": node("IPAdapterModelLoader", ipadapter_file="b.bin"),
    "25": node(
        "IPAdapterAdvanced", model=["4", 0], ipadapter=["24", 0], image=["21", 0], weight=1,
        start_at=0, end_at=1, weight_type="linear",
    ),
    "26": node("FreeU_V2", model=["25", 0], b1=1, b2=1, s1=1, s2=1),
    "27": node("PerturbedAttention", model=["26", 0], scale=3, adaptive_scale=0.5),
    "28": node("LatentUpscaleBy", samples=["3", 0], upscale_method="bilinear", scale_by=2),
    "29": node(
        "KSampler", model=["27", 0], positive=["23", 0], negative=["23", 1],
        latent_image=["28", 0], seed=1, steps=9, cfg=7, denoise=0.5, sampler_name="euler",
        scheduler="normal",
    ),
}  # fmt: skip


def _swarm(document: Document) -> tuple[TextChunk, ...]:
    return (TextChunk("parameters", json.dumps({"sui_image_params": document})),)


def _invoke(document: Document) -> tuple[TextChunk, ...]:
    return (TextChunk("invokeai_metadata", json.dumps(document)),)


def _fooocus(document: Document) -> tuple[TextChunk, ...]:
    text = TextChunk("parameters", json.dumps(document))
    return text, TextChunk("fooocus_scheme", "fooocus")


def _easy(document: Document) -> tuple[TextChunk, ...]:
    return tuple(TextChunk(key, str(value)) for key, value in document.items())


def _comfy(document: Document) -> tuple[TextChunk, ...]:
    return (TextChunk("prompt", json.dumps(document)),)


Write = Callable[[Document], tuple[TextChunk, ...]]
TOOLS: dict[str, tuple[Write, Document]] = {
    "SwarmUI": (_swarm, SWARM["sui_image_params"] | _SWARM),
    "InvokeAI": (_invoke, INVOKE | _INVOKE),
    "Fooocus": (_fooocus, json.loads(frozen("fooocus")["written"]["fooocus"]) | _FOOOCUS),
    "Easy Diffusion": (_easy, frozen("easy_diffusion")["written"]["embed"] | _EASY),
    "ComfyUI": (_comfy, _GRAPH),
}
UNITS = (
    'a\nSteps: 9, Sampler: Euler, Seed: 1, Size: 512x512, ControlNet 0: "Module: {0}, Model: {1}, '
    "Weight: {0}, Resize Mode: {1}, Processor Res: {0}, Threshold A: {1}, Guidance Start: {0}, "
    'Guidance End: {1}, Control Mode: {0}", Hires upscale: {1}, Hires resize: {0}, Hires steps: '
    "{1}, Denoising strength: {0}, Hires upscaler: {1}, Hires CFG Scale: {0}, freeu_enabled: True, "
    "freeu_b1: {1}, freeu_start: {0}, pag_enabled: True, pag_scale: {1}, pag_adaptive_scale: {0}, "
    "Postprocess upscaler: {1}, Postprocess upscale by: {0}"
)

HOSTILE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        [
            10**400, -(10**400), 1e308, float("nan"), "1e999", "nan", "-0", "..\\..\\x", "/etc/x",
            "\\\\server\\share\\x.pth", "C:\\x", "model-../../x", "a" * 5000, "\0", "\x1b[31m", [],
            {}, [[]], [None] * 40, {"name": ["a"]}, {"type": "controlnet"}, ["3", 0], ["29", 0],
        ]
    ),
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values within a document."""
    found = [path] if path else []
    if isinstance(value, dict):
        inner = list(cast("Document", value).items())
    else:
        inner = list(enumerate(cast("list[Any]", value)))
    for key, item in inner:
        here = (*path, key)
        found += _places(item, here) if isinstance(item, dict | list) else [here]
    return found


def _with(document: Document, path: tuple[Any, ...], value: object) -> Document:
    changed = json.loads(json.dumps(document))
    at: Any = changed
    try:
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
    except (KeyError, IndexError, TypeError):
        return changed  # an earlier change took the place away
    return changed


def require_sound(found: ImportedRequest | None) -> None:
    """Fail unless a request is within all bounds and names no file outside of folders."""
    if found is None:
        return
    request = found.request
    assert all(number.is_within for number in bounded(request)), list(bounded(request))
    assert len(request.controls) <= MAX_CONTROLS
    assert len(request.image_prompts) <= MAX_IMAGE_PROMPTS
    assert len(request.second_passes) <= MAX_SECOND_PASSES
    named = [
        *(control.network for control in request.controls),
        *(image_prompt.adapter for image_prompt in request.image_prompts),
        *(second_pass.upscaler for second_pass in request.second_passes),
    ]
    for name in filter(None, named):
        assert not PureWindowsPath(name).anchor
        assert not PurePosixPath(name).is_absolute()
        assert ".." not in PureWindowsPath(name).parts
    assert not any(layer.image for layer in (*request.controls, *request.image_prompts))
    assert all(text.isprintable() and len(text) < 400 for text in found.warnings)
    again = msgspec.json.decode(msgspec.json.encode(request), type=GenerateRequest)
    assert again == request


@pytest.mark.parametrize("tool", TOOLS)
def test_the_samples_are_read_as_their_tool_and_have_layers(tool: str) -> None:
    write, document = TOOLS[tool]
    found = recognise(write(document))
    assert found is not None
    assert found.tool == tool
    require_sound(found)
    request = found.request
    assert request.controls or request.second_passes or request.refiner


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_value_in_a_tools_settings_gives_a_sound_request(data: st.DataObject) -> None:
    write, document = TOOLS[data.draw(st.sampled_from(sorted(TOOLS)))]
    places = st.sampled_from(_places(document))
    for place, value in data.draw(st.lists(st.tuples(places, HOSTILE), min_size=1, max_size=4)):
        document = _with(document, place, value)
    require_sound(recognise(write(document)))


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_any_value_in_the_common_text_gives_a_sound_request(first: object, second: object) -> None:
    require_sound(recognise((TextChunk("parameters", UNITS.format(first, second)),)))


MANY = 10_000


def _many(document: Document, key: str) -> Document:
    return document | {key: document[key] * MANY}


CANVAS = {"controlLayers": [{"controlAdapter": _ADAPTER}] * MANY}
UNIT = 'ControlNet {}: "Module: canny, Model: a"'


@pytest.mark.parametrize(
    "texts",
    [
        _invoke(_many(TOOLS["InvokeAI"][1], "controlnets")),
        _invoke(_many(TOOLS["InvokeAI"][1], "ref_images")),
        _invoke(INVOKE | {"canvas_v2_metadata": CANVAS}),
        _easy(TOOLS["Easy Diffusion"][1] | {"use_controlnet_model": ["a"] * MANY}),
        (TextChunk("parameters", f"a\nSteps: 9, {', '.join(map(UNIT.format, range(MANY)))}"),),
        _swarm(_SWARM | {"prompt": "a", "freeuversion": json.loads("[" * 400 + "]" * 400)}),
    ],
    ids=["layers", "references", "canvas", "names", "units", "deep"],
)
def test_ten_thousand_layers_are_read_in_a_moment(texts: tuple[TextChunk, ...]) -> None:
    """Quadratic work would take minutes."""
    require_sound(recognise(texts))
