"""Control layers and image prompts of a ComfyUI graph.

Inputs are those of ComfyUI's `ControlNetApply` nodes and `SetUnionControlNetType`, of the
preprocessors of comfyui_controlnet_aux, and of ComfyUI_IPAdapter_plus. A graph names the files of
its pictures, which are not in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from engine.api.control import MAX_CONTROLS, ControlLayer
from engine.api.image_prompts import (
    MAX_IMAGE_PROMPTS,
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    PictureCombination,
)
from engine.api.preprocessors import (
    CannyOptions,
    ColorGridOptions,
    ControlKind,
    DepthOptions,
    HedOptions,
    IntensityOptions,
    InvertOptions,
    LineartOptions,
    LineartStandardOptions,
    LuminanceOptions,
    MapOptions,
    PidinetOptions,
    PoseOptions,
    ScribbleHedOptions,
    ScribblePidinetOptions,
    ShuffleOptions,
    ThresholdOptions,
    XdogOptions,
)
from engine.metadata.readers.comfy_graph import TRANSPARENT, Graph, Node
from engine.metadata.readers.controls import (
    PICTURES_MISSING,
    blocks_of,
    no_map_of,
    span_of,
    within_bounds,
)
from engine.metadata.readers.imported import plain
from engine.metadata.readers.named_files import file_name

# The node for alimama's networks, which paint a masked part of a picture.
_PAINTING = "ControlNetInpaintingAliMamaApply"
_APPLYING = frozenset(
    {
        _PAINTING,
        "ControlNetApply",
        "ControlNetApplyAdvanced",
        "ControlNetApplySD3",
        "ACN_AdvancedControlNetApply",
        "ACN_AdvancedControlNetApply_v2",
    }
)
_PICTURES = frozenset({"LoadImage", "LoadImageMask", "LoadImageOutput"})
# Nodes that bring a picture to another size, which a control layer does by itself.
_RESIZING = frozenset({"ImageScale", "ImageScaleBy", "ImageScaleToTotalPixels", "ImageResize+"})
UNIONS = MappingProxyType(
    {
        "openpose": ControlKind.POSE,
        "depth": ControlKind.DEPTH,
        "hed/pidi/scribble/ted": ControlKind.SOFTEDGE,
        "canny/lineart/anime_lineart/mlsd": ControlKind.CANNY,
        "normal": ControlKind.NORMAL,
        "segment": ControlKind.SEG,
        "tile": ControlKind.TILE,
        "repaint": ControlKind.INPAINT,
    }
)
# Ways to scale an image prompt, and to join several pictures, that are followed.
_SCALINGS = MappingProxyType(
    {
        "V only": AdapterScaling.VALUES,
        "K+V": AdapterScaling.KEYS_AND_VALUES,
        "K+V w/ C penalty": AdapterScaling.KEYS_AND_VALUES_BY_WIDTH,
        "K+mean(V) w/ C penalty": AdapterScaling.KEYS_AND_MEAN_BY_WIDTH,
    }
)
_COMBINATIONS = MappingProxyType(
    {combination.value.replace("_", " "): combination for combination in PictureCombination}
)


class NodePreprocessor(msgspec.Struct, frozen=True):
    """A node's options here, and the names of its inputs by those of the options."""

    options: type[MapOptions]
    inputs: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


_SAFE = MappingProxyType({"safe": "safe"})
NODE_PREPROCESSORS: Mapping[str, NodePreprocessor] = MappingProxyType(
    {
        "CannyEdgePreprocessor": NodePreprocessor(
            CannyOptions, {"low": "low_threshold", "high": "high_threshold"}
        ),
        "BinaryPreprocessor": NodePreprocessor(ThresholdOptions, {"threshold": "bin_threshold"}),
        "ColorPreprocessor": NodePreprocessor(ColorGridOptions),
        "HEDPreprocessor": NodePreprocessor(HedOptions, _SAFE),
        "FakeScribblePreprocessor": NodePreprocessor(ScribbleHedOptions),
        "PiDiNetPreprocessor": NodePreprocessor(PidinetOptions, _SAFE),
        "Scribble_PiDiNetNodePreprocessor": NodePreprocessor(ScribblePidinetOptions),
        "Scribble_XDoGNodePreprocessor": NodePreprocessor(XdogOptions, {"threshold": "threshold"}),
        "LineArtPreprocessor": NodePreprocessor(LineartOptions),
        "LineartStandardPreprocessor": NodePreprocessor(LineartStandardOptions),
        "DepthAnythingV2Preprocessor": NodePreprocessor(DepthOptions),
        "DWPreprocessor": NodePreprocessor(
            PoseOptions, {"body": "detect_body", "hands": "detect_hand", "face": "detect_face"}
        ),
        "ShufflePreprocessor": NodePreprocessor(ShuffleOptions, {"seed": "seed"}),
        "ImageLuminanceDetector": NodePreprocessor(LuminanceOptions, {"gamma": "gamma_correction"}),
        "ImageIntensityDetector": NodePreprocessor(IntensityOptions, {"gamma": "gamma_correction"}),
        "ImageInvert": NodePreprocessor(InvertOptions),
    }
)


class GraphControls(msgspec.Struct):
    """The control layers and image prompts of a graph, the nodes that state them, and remarks."""

    controls: tuple[ControlLayer, ...] = ()
    image_prompts: tuple[ImagePrompt, ...] = ()
    nodes: frozenset[Node] = frozenset()
    remarks: list[str] = msgspec.field(default_factory=list[str])


def controls_of(graph: Graph, conditioning: Sequence[Node], model: Iterable[Node]) -> GraphControls:
    """Return the controls among the nodes between the prompt, or the model, and the sampler.

    Both lists begin at the sampler; the node that was applied first is last.
    """
    found, model = GraphControls(), tuple(model)
    applied = [node for node in conditioning if node.kind in _APPLYING]
    adapters = [node for node in model if _is_adapter(graph, node)]
    layers = [_layer(graph, node, found) for node in reversed(applied)]
    prompts = [
        prompt for node in reversed(adapters) for prompt in _image_prompts(graph, node, found)
    ]
    found.controls = tuple(layers[:MAX_CONTROLS])
    found.image_prompts = tuple(prompts[:MAX_IMAGE_PROMPTS])
    loaders = (node for node in model if node.kind.startswith("IPAdapterUnifiedLoader"))
    found.nodes = frozenset((*applied, *adapters, *loaders))
    if layers or prompts:
        found.remarks.append(PICTURES_MISSING)
    return found


def _layer(graph: Graph, node: Node, found: GraphControls) -> ControlLayer:
    network, kind = _network(graph, node)
    return ControlLayer(
        image="",
        network=network,
        preprocessor=_preprocessor(graph, node, found),
        weight=within_bounds(ControlLayer, "weight", graph.value(node, "strength"), 1.0),
        range=span_of(graph.value(node, "start_percent"), graph.value(node, "end_percent")),
        kind=ControlKind.INPAINT if node.kind == _PAINTING else kind,
    )


def _network(graph: Graph, node: Node) -> tuple[str | None, ControlKind | None]:
    """Return the name of the network's file, and the kind that a union network is set to."""
    kind = None
    for source in graph.line(node, "control_net"):
        if source.kind == "SetUnionControlNetType":
            kind = UNIONS.get(str(graph.value(source, "type")))
        for key in ("control_net_name", "name"):
            if name := file_name(graph.value(source, key)):
                return name, kind
    return None, kind


def _preprocessor(graph: Graph, node: Node, found: GraphControls) -> MapOptions | None:
    """Return the options of the node that makes the map; None for a picture that is the map."""
    for source in graph.line(node, "image"):
        kind = source.kind
        if kind == "AIONodePreprocessor":
            kind = str(graph.value(source, "preprocessor"))
        if kind in _PICTURES or kind in _RESIZING or kind in TRANSPARENT:
            continue
        known = NODE_PREPROCESSORS.get(kind)
        if known is None:
            found.remarks.append(no_map_of(kind))
            return None
        return _options(graph, source, known)
    return None


def _options(graph: Graph, node: Node, known: NodePreprocessor) -> MapOptions:
    """Return a node's options; what is missing or out of bounds is the default."""
    options: Any = known.options()
    chosen: dict[str, Any] = {}
    for name, key in (("resolution", "resolution"), *known.inputs.items()):
        if name not in known.options.__struct_fields__:
            continue
        value, usual = graph.value(node, key), getattr(options, name)
        if isinstance(usual, bool):
            chosen[name] = value in (True, "enable")
        else:
            number = within_bounds(known.options, name, value, usual)
            chosen[name] = int(number) if isinstance(usual, int) else number
    return msgspec.structs.replace(options, **chosen)


def _is_adapter(graph: Graph, node: Node) -> bool:
    shown = any(graph.source(node, key) is not None for key in ("image", "image_style"))
    return node.kind.startswith("IPAdapter") and shown


def _image_prompts(graph: Graph, node: Node, found: GraphControls) -> tuple[ImagePrompt, ...]:
    """Return a node's image prompt; two where style and composition have weights of their own."""
    prompt = _image_prompt(graph, node, found)

    def part(blocks: AdapterBlocks, key: str) -> ImagePrompt:
        weight = within_bounds(ImagePrompt, "weight", graph.value(node, key), 1.0)
        return msgspec.structs.replace(prompt, blocks=blocks, weight=weight)

    if node.kind.startswith("IPAdapterStyleComposition"):
        expands = graph.value(node, "expand_style") is True
        style = AdapterBlocks.STRONG_STYLE if expands else AdapterBlocks.STYLE
        return (
            part(style, "weight_style"),
            part(AdapterBlocks.COMPOSITION, "weight_composition"),
        )
    if prompt.blocks is AdapterBlocks.STYLE_AND_COMPOSITION:
        # The node's weight is the style's; the composition's is always 1.
        composition = part(AdapterBlocks.COMPOSITION, "weight_composition")
        return part(AdapterBlocks.STYLE, "weight"), composition
    return (prompt,)


def _image_prompt(graph: Graph, node: Node, found: GraphControls) -> ImagePrompt:
    loader = graph.source(node, "ipadapter")
    name = file_name(graph.value(loader, "ipadapter_file")) if loader else ""
    scaling, combination = (graph.value(node, key) for key in ("embeds_scaling", "combine_embeds"))
    for way, known in ((scaling, _SCALINGS), (combination, _COMBINATIONS)):
        if way is not None and str(way) not in known:
            found.remarks.append(f'"{plain(str(way))}" of an image prompt is not available.')
    return ImagePrompt(
        image="",
        adapter=name or None,
        weight=within_bounds(ImagePrompt, "weight", graph.value(node, "weight"), 1.0),
        range=span_of(graph.value(node, "start_at"), graph.value(node, "end_at")),
        blocks=blocks_of(graph.value(node, "weight_type"), found.remarks),
        scaling=_SCALINGS.get(str(scaling), AdapterScaling.VALUES),
        combination=_COMBINATIONS.get(str(combination), PictureCombination.CONCAT),
    )
