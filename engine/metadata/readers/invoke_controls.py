"""Control layers and image prompts in InvokeAI's metadata.

After `invocations/metadata.py` (ControlNetMetadataField, T2IAdapterMetadataField and
IPAdapterMetadataField) for versions 3 and 4, and `controlLayers/store/types.ts` for version 5 and
later, which writes the layers of its canvas and its reference images. All name pictures of the
tool's own store.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from types import MappingProxyType

from engine.api.control import MAX_CONTROLS, ControlLayer, ControlMode, ControlResize
from engine.api.image_prompts import MAX_IMAGE_PROMPTS, AdapterBlocks, ImagePrompt
from engine.metadata.json_text import as_list, as_object
from engine.metadata.readers.controls import span_of, within_bounds
from engine.metadata.readers.imported import MADE_WITH_REFERENCES, plain
from engine.metadata.readers.named_files import file_name, hash_digits

KEYS = ("controlnets", "t2iAdapters", "ipAdapters", "canvas_v2_metadata", "ref_images")
# Others are told: a control LoRA for Flux, and controls of single families.
_CANVAS_KINDS = frozenset({"controlnet", "t2i_adapter"})
_UNBALANCED = "unbalanced"
# Kinds of reference images: those that Flux.1 Kontext, FLUX.2 and others see, and Flux.1 Redux'.
_SHOWN, _REDUX = "_reference_image", "flux_redux"
_MODES = MappingProxyType({"more_prompt": ControlMode.PROMPT, "more_control": ControlMode.CONTROL})
_RESIZES = MappingProxyType(
    {
        "just_resize": ControlResize.STRETCH,
        "just_resize_simple": ControlResize.STRETCH,
        "crop_resize": ControlResize.CROP,
        "fill_resize": ControlResize.FILL,
    }
)
_BLOCKS = MappingProxyType(
    {
        "style": AdapterBlocks.STYLE,
        "style_strong": AdapterBlocks.STYLE,
        "style_precise": AdapterBlocks.STYLE,
        "composition": AdapterBlocks.COMPOSITION,
    }
)


def invoke_controls(fields: Mapping[str, object]) -> tuple[ControlLayer, ...]:
    """Return the ControlNets and T2I-Adapters; their maps were made before."""
    return tuple(islice(chain(_layers(fields), _canvas_layers(fields)), MAX_CONTROLS))


def invoke_image_prompts(fields: Mapping[str, object]) -> tuple[ImagePrompt, ...]:
    """Return the IP-Adapters."""
    return tuple(islice(chain(_adapters(fields), _references(fields)), MAX_IMAGE_PROMPTS))


def invoke_control_remarks(fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return remarks about the settings of control layers that no request has.

    InvokeAI's mode "unbalanced" leads the prompt alone at full weights (`cfg_injection` without
    `soft_injection` in `shared_invokeai_diffusion.py`).
    """
    canvas = as_object(fields.get("canvas_v2_metadata"))
    layers = map(as_object, as_list(canvas.get("controlLayers")))
    modes = chain(
        (as_object(net).get("control_mode") for net in as_list(fields.get("controlnets"))),
        (
            as_object(layer.get("controlAdapter")).get("controlMode")
            for layer in layers
            if layer.get("isEnabled") is not False
        ),
    )
    told = [f'A control layer of the kind "{kind}" is not taken over.' for kind in _others(fields)]
    if _UNBALANCED in modes:
        told.append(f'The control mode "{_UNBALANCED}" is not available; "balanced" is used.')
    return tuple(told)


def _others(fields: Mapping[str, object]) -> dict[str, None]:
    """Return the kinds of the canvas' layers that no request has."""
    canvas = as_object(fields.get("canvas_v2_metadata"))
    layers = (
        layer for layer in map(as_object, as_list(canvas.get("controlLayers"))) if _is_on(layer)
    )
    kinds = (as_object(layer.get("controlAdapter")).get("type") for layer in layers)
    return dict.fromkeys(plain(str(kind)) for kind in kinds if kind not in _CANVAS_KINDS)


def _is_on(entity: Mapping[str, object]) -> bool:
    return entity.get("isEnabled") is not False


def invoke_reference_remarks(fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return remarks about reference images that no IP-Adapter reads."""
    kinds = {str(config.get("type")) for config in _reference_configs(fields)}
    told = [MADE_WITH_REFERENCES] if any(kind.endswith(_SHOWN) for kind in kinds) else []
    if _REDUX in kinds:
        told.append("It was led by pictures with Redux, which is not available.")
    return tuple(told)


def _adapters(fields: Mapping[str, object]) -> Iterator[ImagePrompt]:
    entries = map(as_object, as_list(fields.get("ipAdapters"))[:MAX_IMAGE_PROMPTS])
    return (
        ImagePrompt(
            image="",
            adapter=_file(entry.get("ip_adapter_model")),
            weight=within_bounds(ImagePrompt, "weight", _first(entry.get("weight")), 1.0),
            range=span_of(entry.get("begin_step_percent"), entry.get("end_step_percent")),
            blocks=_BLOCKS.get(str(entry.get("method")), AdapterBlocks.ALL),
            hash=_hash(entry.get("ip_adapter_model")),
        )
        for entry in entries
    )


def _layers(fields: Mapping[str, object]) -> Iterator[ControlLayer]:
    for key, network, weight in (
        ("controlnets", "control_model", "control_weight"),
        ("t2iAdapters", "t2i_adapter_model", "weight"),
    ):
        for entry in map(as_object, as_list(fields.get(key))):
            yield ControlLayer(
                image="",
                network=_file(entry.get(network)),
                weight=within_bounds(ControlLayer, "weight", _first(entry.get(weight)), 1.0),
                range=span_of(entry.get("begin_step_percent"), entry.get("end_step_percent")),
                mode=_MODES.get(str(entry.get("control_mode")), ControlMode.BALANCED),
                resize=_RESIZES.get(str(entry.get("resize_mode")), ControlResize.STRETCH),
                hash=_hash(entry.get(network)),
            )


def _canvas_layers(fields: Mapping[str, object]) -> Iterator[ControlLayer]:
    """Yield the control layers of the canvas that are on."""
    canvas = as_object(fields.get("canvas_v2_metadata"))
    for layer in map(as_object, as_list(canvas.get("controlLayers"))):
        adapter = as_object(layer.get("controlAdapter"))
        if layer.get("isEnabled") is False or adapter.get("type") not in _CANVAS_KINDS:
            continue
        yield ControlLayer(
            image="",
            network=_file(adapter.get("model")),
            weight=within_bounds(ControlLayer, "weight", adapter.get("weight"), 1.0),
            range=_span(adapter),
            mode=_MODES.get(str(adapter.get("controlMode")), ControlMode.BALANCED),
            resize=ControlResize.STRETCH,
            hash=_hash(adapter.get("model")),
        )


def _reference_configs(fields: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the settings of the reference images that are on.

    They were of the canvas until version 6, which lists them apart.
    """
    canvas = as_object(fields.get("canvas_v2_metadata"))
    listed = as_list(fields.get("ref_images")) or as_list(canvas.get("referenceImages"))
    for reference in filter(_is_on, map(as_object, listed)):
        yield as_object(reference.get("config") or reference.get("ipAdapter"))


def _references(fields: Mapping[str, object]) -> Iterator[ImagePrompt]:
    """Yield the reference images that an IP-Adapter reads."""
    for adapter in _reference_configs(fields):
        if adapter.get("type") != "ip_adapter":
            continue
        yield ImagePrompt(
            image="",
            adapter=_file(adapter.get("model")),
            weight=within_bounds(ImagePrompt, "weight", adapter.get("weight"), 1.0),
            range=_span(adapter),
            blocks=_BLOCKS.get(str(adapter.get("method")), AdapterBlocks.ALL),
            hash=_hash(adapter.get("model")),
        )


def _span(adapter: Mapping[str, object]) -> tuple[float, float]:
    ends = as_list(adapter.get("beginEndStepPct"))
    return span_of(*ends) if len(ends) == 2 else (0.0, 1.0)


def _first(weight: object) -> object:
    """Return a weight, or the first of those for each step."""
    listed = as_list(weight)
    return listed[0] if listed else weight


def _file(model: object) -> str | None:
    """Return a model's name, under "name" in version 4 and "model_name" in version 3."""
    fields = as_object(model)
    return file_name(fields.get("name") or fields.get("model_name")) or None


def _hash(model: object) -> str | None:
    return hash_digits(as_object(model).get("hash"))
