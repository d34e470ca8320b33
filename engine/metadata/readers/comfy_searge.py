"""Graphs of Searge's nodes, which pass one bundle along and keep settings apart from samplers.

After `modules/ui_generation_parameters.py` and `modules/stage_pre_processing.py` of SeargeSDXL 4.
"""

from typing import Any

from engine.api import ConventionName, GenerateRequest
from engine.api.fields import bounds_of
from engine.api.lora import LoraChoice
from engine.api.request import RefinerChoice
from engine.metadata.infotext import Parameter
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.comfy_texts import read_text
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    left_over,
    made_with_checkpoint,
    made_with_refiner,
    made_with_vae,
)
from engine.metadata.readers.loras import chosen, lora_choice
from engine.metadata.readers.values import Values
from engine.metadata.size_text import read_size

_PARAMETERS, _PROMPTS = "SeargeGenerationParameters", "SeargePromptAdapterV2"
# Sampler and schedule by the beginning of a preset's name.
_PRESETS = {
    "1 ": ("dpmpp_2m", "karras"),
    "2 ": ("euler_ancestral", "normal"),
    "3 ": ("dpmpp_2m_sde", "karras"),
    "4 ": ("dpmpp_3m_sde", "exponential"),
    "5 ": ("ddim", "ddim_uniform"),
}
_OTHER_PROMPTS = (
    "secondary_prompt", "style_prompt", "negative_secondary_prompt", "negative_style_prompt",
)  # fmt: skip
_LORAS = 5
_MODE, _REDRAWING = "SeargeOperatingMode", ("image-to-image", "in-painting")
_OF_THE_PICTURE = "from source image"
_REFINER = "refiner_checkpoint"
_TOLD = {
    "base_checkpoint": made_with_checkpoint,
    _REFINER: made_with_refiner,
    "vae_checkpoint": made_with_vae,
}
# Choices in place of a file (`UI` of `modules/ui.py`).
_NO_FILES = ("none", "from base model", "from refiner model")


def from_searge(graph: Graph) -> ImportedRequest | None:
    """Return the request of the settings in its nodes; None if there are none."""
    nodes = {node.kind: node for node in graph.nodes.values()}
    if _PARAMETERS not in nodes:
        return None
    values = Values(_settings(graph, nodes[_PARAMETERS]) | _redrawing(graph, nodes))
    files = _files(graph, nodes.get("SeargeModelSelector"))
    sampler, schedule = values.comfy_method("sampler_name")
    width, height = values.sides("width", "height")
    ratio = values.number("base_vs_refiner_ratio", *bounds_of(RefinerChoice, "switch_at"))
    prompts = nodes.get(_PROMPTS)
    request = GenerateRequest(
        prompt=_text(graph, prompts, "main_prompt"),
        negative_prompt=_text(graph, prompts, "negative_main_prompt"),
        **values.read(GenerateRequest, steps="steps", guidance="cfg", seed="seed"),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule,
        strength=values.strength("denoise"),
        refiner=None if ratio is None or _REFINER not in files else RefinerChoice(switch_at=ratio),
        convention=ConventionName.COMFY,
        loras=_loras(graph, nodes.get("SeargeLoras")),
        expand_wildcards=False,
    )
    others = [key for key in _OTHER_PROMPTS if _text(graph, prompts, key)]
    unmapped = (*values.unmapped(), *(Parameter(key, "a prompt") for key in others))
    remarks = (*_remarks(files, request), *left_over(unmapped))
    return ImportedRequest(request, (*values.warnings, *remarks), tool="ComfyUI", unmapped=unmapped)


def _settings(graph: Graph, node: Node) -> dict[str, object]:
    """Return the node's inputs, with presets written out as single values."""
    settings: dict[str, Any] = {key: graph.value(node, key) for key in node.inputs}
    preset = settings.pop("sampler_preset", None)
    size = settings.pop("image_size_preset", None)
    settings.pop("data", None)
    found = _PRESETS.get(preset[:2]) if isinstance(preset, str) else None
    if found is not None:
        settings["sampler_name"], settings["scheduler"] = found
    width, height = settings.pop("image_width", None), settings.pop("image_height", None)
    sides = read_size(size) if isinstance(size, str) else None
    if size != _OF_THE_PICTURE:
        settings["width"], settings["height"] = sides or (width, height)
    return settings


def _redrawing(graph: Graph, nodes: dict[str, Node]) -> dict[str, object]:
    """Return the strength of a picture that is redrawn."""
    mode, node = (nodes.get(name) for name in (_MODE, "SeargeImage2ImageAndInpainting"))
    if mode is None or graph.value(mode, "workflow_mode") not in _REDRAWING:
        return {}
    return {"denoise": graph.value(node, "denoise") if node else 1.0}


def _files(graph: Graph, node: Node | None) -> dict[str, str]:
    """Return the files that are chosen, by the names of the inputs."""
    found = {key: graph.value(node, key) for key in _TOLD} if node else {}
    return {
        key: name for key, name in found.items() if isinstance(name, str) and name not in _NO_FILES
    }


def _text(graph: Graph, node: Node | None, key: str) -> str:
    return (read_text(graph, node, key).text or "") if node is not None else ""


def _loras(graph: Graph, node: Node | None) -> tuple[LoraChoice, ...]:
    if node is None:
        return ()
    return chosen(
        lora_choice(
            graph.value(node, f"lora_{number}"), graph.value(node, f"lora_{number}_strength")
        )
        for number in range(1, _LORAS + 1)
    )


def _remarks(files: dict[str, str], request: GenerateRequest) -> tuple[str, ...]:
    remarks = [_TOLD[key](name) for key, name in files.items()]
    if request.strength is not None:
        remarks.append(MADE_FROM_A_PICTURE)
    return (*remarks, "Searge's nodes draw in stages of their own; the picture will differ.")
