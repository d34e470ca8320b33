"""Control layers and image prompts that other tools' metadata name."""

from typing import Any

import msgspec
import pytest

from engine.api.control import ControlLayer, ControlMode, ControlReport, ControlResize
from engine.api.control_rules import FORGE_CONTROL, ControlRules
from engine.api.conventions import CONVENTIONS, convention_of
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    ImagePromptReport,
    PictureCombination,
)
from engine.api.preprocessors import (
    CannyOptions,
    ColorGridOptions,
    ControlKind,
    DepthOptions,
    HedOptions,
    InvertOptions,
    LineartOptions,
    LineartStandardOptions,
    LuminanceOptions,
    MapOptions,
    NormalOptions,
    PidinetOptions,
    PoseOptions,
    ReferenceOptions,
    ScribblePidinetOptions,
    ThresholdOptions,
    TileOptions,
    XdogOptions,
)
from engine.api.values import ConventionName
from engine.metadata.control_text import control_units
from engine.metadata.infotext import Infotext, Parameter, format_infotext, parse_infotext
from engine.metadata.readers.a1111 import import_infotext
from engine.metadata.readers.comfy import import_graph
from engine.metadata.readers.controls import PICTURES_MISSING
from engine.metadata.readers.easy_diffusion import from_sidecar
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.readers.invoke import from_invoke
from engine.metadata.readers.swarm import from_swarm
from engine.metadata.record_text import record_infotext
from engine.metadata.texts import TextChunk
from tests.metadata.records import PLAIN, PLAIN_REQUEST
from tests.thinned import thinned

_HEAD = "a house\nNegative prompt: fog\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, "


def a1111(pairs: str, version: str = "v1.8.0") -> ImportedRequest:
    return import_infotext(parse_infotext(f"{_HEAD}{pairs}, Version: {version}"))


def test_a_unit_of_the_newest_notation_is_read_whole() -> None:
    unit = (
        'ControlNet 0: "Module: scribble_pidinet, Model: control_v11p_sd15_scribble [d4ba51ff], '
        "Weight: 0.8, Resize Mode: Resize and Fill, Low Vram: False, Processor Res: 640, "
        "Guidance Start: 0.1, Guidance End: 0.9, Pixel Perfect: False, "
        'Control Mode: My prompt is more important, Hr Option: Both, Save Detected Map: True"'
    )
    found = a1111(unit)
    assert found.request.controls == (
        ControlLayer(
            image="",
            network="control_v11p_sd15_scribble",
            hash="d4ba51ff",
            preprocessor=ScribblePidinetOptions(resolution=640),
            weight=0.8,
            range=(0.1, 0.9),
            mode=ControlMode.PROMPT,
            resize=ControlResize.FILL,
        ),
    )
    assert found.warnings == (PICTURES_MISSING,)
    assert found.unmapped == ()


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        ("f2.0.1v1.10.1-previous-669-gdfdcbab6", FORGE_CONTROL),
        ("v1.10.1", CONVENTIONS[ConventionName.A1111].control),
    ],
)
def test_forges_pictures_are_led_by_its_rules(version: str, rules: ControlRules) -> None:
    unit = 'ControlNet 1: "Module: none, Model: canny, Weight: 1"'
    found = a1111(unit, version)
    assert convention_of(found.request.convention).control == rules
    plain = a1111("Clip skip: 2", version)
    usual = CONVENTIONS[ConventionName.A1111].control
    assert convention_of(plain.request.convention).control == usual


def test_a_unit_of_2023_is_read_whole() -> None:
    unit = (
        'ControlNet 1: "preprocessor: canny, model: control_v11p_sd15_canny [d14c016b], '
        "weight: 0.6, starting/ending: (0.1, 0.8), resize mode: Just Resize, pixel perfect: True, "
        'control mode: ControlNet is more important, preprocessor params: (512, 90, 210)"'
    )
    (layer,) = a1111(unit).request.controls
    assert layer.preprocessor == CannyOptions(low=90, high=210, resolution=None)
    assert (layer.network, layer.hash) == ("control_v11p_sd15_canny", "d14c016b")
    assert (layer.weight, layer.range) == (0.6, (0.1, 0.8))
    assert (layer.mode, layer.resize) == (ControlMode.CONTROL, ControlResize.STRETCH)


@pytest.mark.parametrize("prefix", ["ControlNet-0", "ControlNet"])
def test_a_key_for_each_value_is_read(prefix: str) -> None:
    pairs = {
        "Enabled": "True",
        "Module": "hed",
        "Model": "control_hed-fp16 [13fee50b]",
        "Weight": "0.5",
        "Guidance Start": "0",
        "Guidance End": "0.5",
    }
    found = a1111(", ".join(f"{prefix} {key}: {value}" for key, value in pairs.items()))
    (layer,) = found.request.controls
    assert (layer.network, layer.preprocessor) == ("control_hed-fp16", HedOptions())
    assert (layer.weight, layer.range) == (0.5, (0.0, 0.5))
    assert found.unmapped == ()


def test_units_that_are_off_are_left_out() -> None:
    pairs = (
        "ControlNet-0 Enabled: False, ControlNet-0 Module: canny, ControlNet-0 Model: a [aaaaaaaa]"
    )
    assert a1111(pairs).request.controls == ()


def test_an_adapter_is_an_image_prompt() -> None:
    unit = '"Module: ip-adapter_clip_sd15, Model: ip-adapter_sd15 [836b5c2e], Weight: 0.7"'
    found = a1111(f"ControlNet 2: {unit}")
    prompt = ImagePrompt(image="", adapter="ip-adapter_sd15", hash="836b5c2e", weight=0.7)
    assert found.request.image_prompts == (prompt,)
    assert found.request.controls == ()


def test_a_map_that_cannot_be_made_is_named() -> None:
    found = a1111('ControlNet 0: "Module: lineart_anime, Model: anime [3825e83e], Weight: 1"')
    assert found.request.controls[0].preprocessor is None
    expected = 'The map of "lineart_anime" cannot be made here; choose a finished map.'
    assert expected in found.warnings


def test_a_reference_is_taken_over_with_its_style_fidelity() -> None:
    found = a1111(
        'ControlNet 0: "Module: reference_only, Model: None, Weight: 0.8, Threshold A: 0.75, '
        'Guidance Start: 0, Guidance End: 0.6, Control Mode: My prompt is more important"'
    )
    (layer,) = found.request.controls
    assert layer.preprocessor == ReferenceOptions(style_fidelity=0.75)
    assert (layer.network, layer.weight, layer.range) == (None, 0.8, (0.0, 0.6))
    assert layer.mode is ControlMode.PROMPT


def test_a_reference_has_no_network_whatever_is_named() -> None:
    """The window of sd-webui-controlnet may still show the model of another module."""
    found = a1111('ControlNet: "preprocessor: reference_only, model: canny [0123abcd], weight: 1"')
    (layer,) = found.request.controls
    assert (layer.network, layer.hash) == (None, None)


@pytest.mark.parametrize("module", ["reference_adain", "reference_adain+attn"])
def test_other_references_are_named_and_left_out(module: str) -> None:
    found = a1111(f'ControlNet: "preprocessor: {module}, model: None, weight: 1"')
    assert found.request.controls == ()
    assert any(module in warning for warning in found.warnings)


def test_an_inpainting_unit_needs_no_map() -> None:
    found = a1111(
        'ControlNet 0: "Module: inpaint_only, Model: control_v11p_sd15_inpaint, Weight: 1"'
    )
    (layer,) = found.request.controls
    assert (layer.kind, layer.preprocessor) == (ControlKind.INPAINT, None)
    # Its mask is not in the file, so the kept part cannot be put back.
    assert any("inpaint_only" in warning and "put back" in warning for warning in found.warnings)
    plain = a1111('ControlNet 0: "Module: inpaint_global_harmonious, Model: a, Weight: 1"')
    assert plain.request.controls[0].kind is ControlKind.INPAINT
    assert not any("put back" in warning for warning in plain.warnings)


def test_an_inpainting_layer_is_written_as_the_module_that_puts_nothing_back() -> None:
    layer = ControlLayer(image="a.png", network="inpaint.safetensors", kind=ControlKind.INPAINT)
    ((_, unit),) = control_units((layer,), ())
    assert unit.startswith("Module: inpaint_global_harmonious, ")


@pytest.mark.parametrize("weight", ["1.35-1.5", "strong", "1e9", "nan"])
def test_a_weight_that_is_none_is_one_and_named(weight: str) -> None:
    found = a1111(f'ControlNet 0: "Module: none, Model: a [aaaaaaaa], Weight: {weight}"')
    assert found.request.controls[0].weight == 1
    assert any(weight in warning for warning in found.warnings)


@pytest.mark.parametrize("size", thinned([1000, 100_000], [1000]))
def test_hostile_units_are_bounded(size: int) -> None:
    text = ", ".join(f'ControlNet {at}: "Module: canny, Model: {"a" * size}"' for at in range(100))
    controls = a1111(text).request.controls
    assert len(controls) <= 16
    assert all(len(layer.network or "") <= 300 for layer in controls)


_LAYERS = [
    CannyOptions(low=10, high=20, resolution=None),
    InvertOptions(),
    ThresholdOptions(threshold=9),
    ColorGridOptions(),
    TileOptions(down_sampling_rate=2.5),
    XdogOptions(threshold=7),
    LuminanceOptions(gamma=0.5),
    LineartStandardOptions(),
    LineartOptions(resolution=768),
    HedOptions(safe=True),
    PidinetOptions(safe=True, resolution=256),
    DepthOptions(),
    PoseOptions(),
    None,
]


@pytest.mark.parametrize("options", _LAYERS, ids=str)
def test_a_layer_comes_back_from_the_common_text(options: MapOptions | None) -> None:
    layer = ControlLayer(
        image="",
        network="nets/canny.safetensors",
        preprocessor=options,
        weight=0.75,
        range=(0.25, 0.5),
        mode=ControlMode.CONTROL,
        resize=ControlResize.FILL,
        hash="0123456789",
    )
    prompt = ImagePrompt(image="", adapter="plus.bin", weight=0.5, range=(0.0, 0.5))
    pairs = (
        Parameter("Steps", "20"),
        Parameter("Sampler", "Euler"),
        *(Parameter(*pair) for pair in control_units((layer,), (prompt,))),
    )
    found = import_infotext(parse_infotext(format_infotext(Infotext("a", "", pairs))))
    assert found.request.controls == (msgspec.structs.replace(layer, network="canny"),)
    assert found.request.image_prompts == (msgspec.structs.replace(prompt, adapter="plus"),)


def _node(kind: str, **inputs: Any) -> dict[str, Any]:
    return {"class_type": kind, "inputs": inputs}


def _graph(**nodes: dict[str, Any]) -> dict[str, Any]:
    usual = {
        "1": _node("CheckpointLoaderSimple", ckpt_name="dream.safetensors"),
        "2": _node("CLIPTextEncode", text="a house", clip=["1", 1]),
        "3": _node("CLIPTextEncode", text="fog", clip=["1", 1]),
        "4": _node("EmptyLatentImage", width=512, height=512, batch_size=1),
        "8": _node("VAEDecode", samples=["5", 0], vae=["1", 2]),
        "9": _node("SaveImage", images=["8", 0]),
    }
    return usual | {name.removeprefix("n"): node for name, node in nodes.items()}


def _sampler(positive: list[Any], negative: list[Any], model: list[Any]) -> dict[str, Any]:
    return _node(
        "KSampler",
        seed=1,
        steps=20,
        cfg=7,
        sampler_name="euler",
        scheduler="normal",
        denoise=1,
        model=model,
        positive=positive,
        negative=negative,
        latent_image=["4", 0],
    )


def test_layers_of_a_graph_come_in_the_order_of_their_use() -> None:
    advanced = {"positive": ["2", 0], "negative": ["3", 0], "control_net": ["11", 0]}
    second = {"positive": ["10", 0], "negative": ["10", 1], "control_net": ["21", 0]}
    graph = _graph(
        n10=_node(
            "ControlNetApplyAdvanced",
            **advanced,
            image=["12", 0],
            strength=0.8,
            start_percent=0,
            end_percent=0.5,
        ),
        n11=_node("ControlNetLoader", control_net_name="sd15/canny.safetensors"),
        n12=_node(
            "CannyEdgePreprocessor",
            low_threshold=50,
            high_threshold=150,
            resolution=768,
            image=["13", 0],
        ),
        n13=_node("LoadImage", image="cat.png"),
        n20=_node("ControlNetApplyAdvanced", **second, image=["13", 0], strength=0.4),
        n21=_node("SetUnionControlNetType", control_net=["22", 0], type="tile"),
        n22=_node("ControlNetLoader", control_net_name="union.safetensors"),
        n5=_sampler(["20", 0], ["20", 1], ["1", 0]),
    )
    found = import_graph(graph)
    assert found is not None
    canny, tile = found.request.controls
    assert (canny.network, canny.weight, canny.range) == ("sd15/canny.safetensors", 0.8, (0, 0.5))
    assert canny.preprocessor == CannyOptions(low=50, high=150, resolution=768)
    assert (tile.network, tile.kind) == ("union.safetensors", ControlKind.TILE)
    assert tile.preprocessor is None
    assert PICTURES_MISSING in found.warnings
    assert found.unmapped == ()


def test_alimamas_node_paints_a_part_of_its_picture() -> None:
    graph = _graph(
        n10=_node(
            "ControlNetInpaintingAliMamaApply",
            positive=["2", 0],
            negative=["3", 0],
            control_net=["11", 0],
            vae=["1", 2],
            image=["12", 0],
            mask=["12", 1],
            strength=0.9,
            start_percent=0.1,
            end_percent=0.7,
        ),
        n11=_node("ControlNetLoader", control_net_name="beta.safetensors"),
        n12=_node("LoadImage", image="cat.png"),
        n5=_sampler(["10", 0], ["10", 1], ["1", 0]),
    )
    found = import_graph(graph)
    assert found is not None
    assert found.request.controls == (
        ControlLayer(
            image="",
            network="beta.safetensors",
            weight=0.9,
            range=(0.1, 0.7),
            kind=ControlKind.INPAINT,
        ),
    )
    assert (found.request.prompt, found.request.negative_prompt) == ("a house", "fog")
    assert found.unmapped == ()


def test_an_adapter_of_a_graph_is_an_image_prompt() -> None:
    graph = _graph(
        n30=_node("IPAdapterModelLoader", ipadapter_file="ip-adapter-plus_sd15.safetensors"),
        n31=_node("LoadImage", image="cat.png"),
        n32=_node(
            "IPAdapterAdvanced",
            model=["1", 0],
            ipadapter=["30", 0],
            image=["31", 0],
            weight=0.6,
            weight_type="style transfer",
            start_at=0.0,
            end_at=0.7,
        ),
        n5=_sampler(["2", 0], ["3", 0], ["32", 0]),
    )
    found = import_graph(graph)
    assert found is not None
    assert found.request.image_prompts == (
        ImagePrompt(
            image="",
            adapter="ip-adapter-plus_sd15.safetensors",
            weight=0.6,
            range=(0.0, 0.7),
            blocks=AdapterBlocks.STYLE,
        ),
    )
    assert found.unmapped == ()


def _adapted(kind: str, **inputs: Any) -> Any:
    shown = "image_style" if kind.startswith("IPAdapterStyle") else "image"
    graph = _graph(
        n30=_node("IPAdapterModelLoader", ipadapter_file="plus.safetensors"),
        n31=_node("LoadImage", image="cat.png"),
        n32=_node(kind, model=["1", 0], ipadapter=["30", 0], **{shown: ["31", 0]}, **inputs),
        n5=_sampler(["2", 0], ["3", 0], ["32", 0]),
    )
    found = import_graph(graph)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [
        ("ease in-out", AdapterBlocks.EASE_IN_OUT),
        ("strong style transfer", AdapterBlocks.STRONG_STYLE),
        ("weak output", AdapterBlocks.WEAK_OUTPUT),
        ("prompt is more important", AdapterBlocks.EASE_OUT),
        ("style transfer precise", AdapterBlocks.STYLE_PRECISE),
        ("composition precise", AdapterBlocks.COMPOSITION_PRECISE),
    ],
)
def test_weight_types_are_blocks(kind: str, blocks: AdapterBlocks) -> None:
    found = _adapted("IPAdapterAdvanced", weight=0.6, weight_type=kind)
    assert [image_prompt.blocks for image_prompt in found.request.image_prompts] == [blocks]
    assert not any(kind in warning for warning in found.warnings)


def test_style_and_composition_have_weights_of_their_own() -> None:
    def parts(found: Any) -> list[tuple[AdapterBlocks, float]]:
        return [
            (image_prompt.blocks, image_prompt.weight)
            for image_prompt in found.request.image_prompts
        ]

    style, composition = AdapterBlocks.STYLE, AdapterBlocks.COMPOSITION
    both = _adapted("IPAdapterAdvanced", weight=0.6, weight_type="style and composition")
    assert parts(both) == [(style, 0.6), (composition, 1.0)]
    weights = {"weight_style": 0.7, "weight_composition": 0.4}
    own = _adapted("IPAdapterStyleComposition", expand_style=False, **weights)
    assert parts(own) == [(style, 0.7), (composition, 0.4)]
    strong = _adapted("IPAdapterStyleComposition", expand_style=True, **weights)
    assert parts(strong)[0] == (AdapterBlocks.STRONG_STYLE, 0.7)


def test_ways_to_scale_and_to_join_image_prompts_are_read() -> None:
    ways = {"embeds_scaling": "K+mean(V) w/ C penalty", "combine_embeds": "norm average"}
    found = _adapted("IPAdapterAdvanced", weight=1.0, **ways)
    (prompt,) = found.request.image_prompts
    assert prompt.scaling is AdapterScaling.KEYS_AND_MEAN_BY_WIDTH
    assert prompt.combination is PictureCombination.NORM_AVERAGE
    unknown = _adapted("IPAdapterAdvanced", weight=1.0, embeds_scaling="K only")
    assert '"K only" of an image prompt is not available.' in unknown.warnings
    assert unknown.request.image_prompts[0].scaling is AdapterScaling.VALUES


def test_a_preprocessor_that_is_unknown_here_is_named() -> None:
    graph = _graph(
        n10=_node("ControlNetApply", conditioning=["2", 0], control_net=["11", 0], image=["12", 0]),
        n11=_node("ControlNetLoader", control_net_name="mlsd.pth"),
        n12=_node("M-LSDPreprocessor", image=["13", 0]),
        n13=_node("LoadImage", image="cat.png"),
        n5=_sampler(["10", 0], ["3", 0], ["1", 0]),
    )
    found = import_graph(graph)
    assert found is not None
    assert found.request.controls == (ControlLayer(image="", network="mlsd.pth"),)
    assert any("M-LSDPreprocessor" in warning for warning in found.warnings)


def test_a_map_that_only_exists_here_is_written_as_one_that_is_given() -> None:
    layer = ControlLayer(image="", network="normal", preprocessor=NormalOptions())
    pairs = (Parameter("Steps", "20"), Parameter("Sampler", "Euler"))
    units = (Parameter(*pair) for pair in control_units((layer,), ()))
    found = import_infotext(parse_infotext(format_infotext(Infotext("a", "", (*pairs, *units)))))
    assert found.request.controls == (ControlLayer(image="", network="normal"),)


def test_invokes_controls_are_read() -> None:
    fields = {
        "positive_prompt": "a house",
        "steps": 20,
        "controlnets": [
            {
                "image": {"image_name": "a.png"},
                "control_model": {"name": "canny", "hash": "blake3:ab"},
                "control_weight": [0.5, 0.5],
                "begin_step_percent": 0.1,
                "end_step_percent": 0.9,
                "control_mode": "more_control",
                "resize_mode": "fill_resize",
            }
        ],
        "t2iAdapters": [{"t2i_adapter_model": {"model_name": "sketch"}, "weight": 2}],
        "ipAdapters": [
            {"ip_adapter_model": {"name": "plus"}, "weight": 0.4, "method": "composition"}
        ],
    }
    text = msgspec.json.encode(fields).decode()
    found = from_invoke((TextChunk("invokeai_metadata", text),))
    assert found is not None
    canny, sketch = found.request.controls
    assert (canny.network, canny.weight, canny.range) == ("canny", 0.5, (0.1, 0.9))
    assert (canny.mode, canny.resize) == (ControlMode.CONTROL, ControlResize.FILL)
    assert (sketch.network, sketch.weight) == ("sketch", 2)
    (prompt,) = found.request.image_prompts
    assert (prompt.adapter, prompt.weight) == ("plus", 0.4)
    assert prompt.blocks is AdapterBlocks.COMPOSITION
    assert PICTURES_MISSING in found.warnings
    assert found.unmapped == ()


@pytest.mark.parametrize(
    ("fields", "is_told"),
    [
        ({"controlnets": [{"control_mode": "unbalanced"}]}, True),
        ({"controlnets": [{"control_mode": "balanced"}]}, False),
        (
            {
                "canvas_v2_metadata": {
                    "controlLayers": [{"controlAdapter": {"controlMode": "unbalanced"}}]
                }
            },
            True,
        ),
    ],
)
def test_invokes_unbalanced_mode_is_told_of(fields: dict[str, object], is_told: bool) -> None:
    text = msgspec.json.encode({"positive_prompt": "a house", "steps": 20} | fields).decode()
    found = from_invoke((TextChunk("invokeai_metadata", text),))
    assert found is not None
    assert any('"unbalanced"' in remark for remark in found.warnings) is is_told


def test_swarms_controls_are_read() -> None:
    parameters = {
        "prompt": "a house",
        "steps": 20,
        "controlnetmodel": "canny",
        "controlnetstrength": 0.5,
        "controlnetend": 0.8,
        "controlnettwomodel": "depth",
        "controlnettwopreprocessor": "MiDaS-DepthMapPreprocessor",
    }
    text = msgspec.json.encode({"sui_image_params": parameters}).decode()
    found = from_swarm((TextChunk("parameters", text),))
    assert found is not None
    assert [layer.network for layer in found.request.controls] == ["canny", "depth"]
    assert (found.request.controls[0].weight, found.request.controls[0].range) == (0.5, (0, 0.8))
    assert any("MiDaS" in warning for warning in found.warnings)
    assert found.unmapped == ()


def test_easy_diffusions_controls_are_read() -> None:
    written = {
        "prompt": "a house",
        "num_inference_steps": 20,
        "guidance_scale": 7,
        "use_stable_diffusion_model": "dream",
        "use_controlnet_model": ["nets/canny", "nets/mlsd"],
        "control_filter_to_apply": ["canny", "mlsd"],
        "control_alpha": [0.5, 0.9],
    }
    found = from_sidecar(".json", msgspec.json.encode(written).decode())
    assert found is not None
    canny, mlsd = found.request.controls
    assert (canny.network, canny.weight, canny.preprocessor) == ("nets/canny", 0.5, CannyOptions())
    assert (mlsd.weight, mlsd.preprocessor) == (0.9, None)
    assert any("mlsd" in warning for warning in found.warnings)
    assert found.unmapped == ()


def test_units_of_ours_name_files_with_the_hashes_that_are_known() -> None:
    layer = ControlLayer(image="a.png", network="/nets/canny.safetensors", hash="01234567")
    other = ControlLayer(image="a.png", network="/nets/depth.safetensors", hash="89abcdef")
    prompt = ImagePrompt(image="b.png", adapter="/nets/plus.bin")
    record = msgspec.structs.replace(
        PLAIN,
        request=msgspec.structs.replace(
            PLAIN_REQUEST, controls=(layer, other), image_prompts=(prompt,)
        ),
        controls=(
            ControlReport(
                name="canny",
                path="/nets/canny.safetensors",
                kind=ControlKind.INPAINT,
                short_hash="d14c016b",
            ),
        ),
        image_prompts=(
            ImagePromptReport(name="plus", path="/nets/plus.bin", short_hash="c817b455"),
        ),
    )
    units = {parameter.key: parameter.value for parameter in record_infotext(record).parameters}
    # The kind is what the file was taken for, and the hash that of the file that was used.
    inpainting = "Module: inpaint_global_harmonious, Model: canny [d14c016b],"
    assert inpainting in units["ControlNet 0"]
    assert "Model: depth [89abcdef]," in units["ControlNet 1"]
    assert "Model: plus [c817b455]," in units["ControlNet 2"]
