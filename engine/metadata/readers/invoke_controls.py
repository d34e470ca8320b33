"""Control layers and image prompts in InvokeAI's metadata.

After `invocations/metadata.py` (ControlNetMetadataField, T2IAdapterMetadataField and
IPAdapterMetadataField), which name pictures of the tool's own store.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType

from engine.api.control import MAX_CONTROLS, ControlLayer, ControlMode, ControlResize
from engine.api.image_prompts import MAX_IMAGE_PROMPTS, AdapterBlocks, ImagePrompt
from engine.metadata.json_text import as_list, as_object
from engine.metadata.readers.controls import span_of, within_bounds
from engine.metadata.readers.named_files import file_name, hash_digits

KEYS = ("controlnets", "t2iAdapters", "ipAdapters")
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
    return tuple(islice(_layers(fields), MAX_CONTROLS))


def invoke_image_prompts(fields: Mapping[str, object]) -> tuple[ImagePrompt, ...]:
    """Return the IP-Adapters."""
    entries = map(as_object, as_list(fields.get("ipAdapters"))[:MAX_IMAGE_PROMPTS])
    return tuple(
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
