"""The second passes of a ComfyUI graph: samplers that draw on what another one drew.

After `LatentUpscale`, `LatentUpscaleBy`, `ImageScale`, `ImageScaleBy` and `KSampler` of `nodes.py`,
and `ImageUpscaleWithModel` of `comfy_extras/nodes_upscale_model.py`.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PureWindowsPath
from typing import Any

import msgspec

from engine.api import GenerateRequest
from engine.api.fields import bounds_of
from engine.api.request import RefinerChoice
from engine.api.second_passes import LatentUpscaler, Resampling, SecondPass
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.comfy_outputs import Sampling
from engine.metadata.readers.comfy_parts import PART_KEYS, last_steps, refining
from engine.metadata.readers.comfy_prompts import find_prompt
from engine.metadata.readers.comfy_settings import Networks
from engine.metadata.readers.imported import drawn_again_with, enlarged_by, enlarged_with
from engine.metadata.readers.names import COMFY_SAMPLERS, COMFY_SCHEDULES, sampler_of, schedule_of
from engine.metadata.readers.values import Values

# `LatentUpscale.upscale_methods` and `ImageScale.upscale_methods`.
LATENT_METHODS = {
    "nearest-exact": LatentUpscaler.NEAREST_EXACT,
    "bilinear": LatentUpscaler.BILINEAR,
    "area": LatentUpscaler.AREA,
    "bicubic": LatentUpscaler.BICUBIC,
    "bislerp": LatentUpscaler.BISLERP,
}
PICTURE_METHODS = {
    "nearest-exact": Resampling.NEAREST,
    "bilinear": Resampling.BILINEAR,
    "area": Resampling.AREA,
    "bicubic": Resampling.BICUBIC,
    "lanczos": Resampling.LANCZOS,
}
# Nodes that change neither the size nor the picture.
_PASSING = frozenset({"VAEDecode", "VAEDecodeTiled", "VAEEncode", "VAEEncodeTiled", "Reroute"})
_CARRIED = ("samples", "pixels", "image", "")
# The scale in the name of an upscaler's file: "4x-UltraSharp", "RealESRGAN_x4plus".
_SCALE = re.compile(r"(?<!\d)([1-8])x|x([1-8])(?!\d)", re.IGNORECASE | re.ASCII)
_USUAL_SCALE = 4
_MOST_NODES = 16
_REFINED_BEFORE = (
    "Its refiner took over before the picture was enlarged; here it does in the last pass."
)
_NEEDED = frozenset({"seed", "steps", "cfg", "denoise", "sampler_name", "scheduler"})
_ADVANCED = frozenset({"noise_seed", *PART_KEYS})


class SecondPasses(msgspec.Struct, frozen=True):
    """The refiner and the second passes of a graph, sentences on what they need, and what is left.

    `told` are inputs of the first sampler that are understood, `others` the nodes that are not.
    """

    passes: tuple[SecondPass, ...] = ()
    refiner: RefinerChoice | None = None
    told: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    others: tuple[Node, ...] = ()


class _Enlarging(msgspec.Struct):
    """The enlargement between two samplers, as the nodes between them tell it in their order."""

    size: tuple[int, int]
    fields: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    scale: float = 1.0
    remarks: list[str] = msgspec.field(default_factory=list[str])

    def take(self, graph: Graph, node: Node) -> bool:
        """Note a node; return False if a request cannot express it."""
        method = graph.value(node, "upscale_method")
        match node.kind:
            case "LatentUpscale" | "LatentUpscaleBy":
                if method not in LATENT_METHODS:
                    return False
                self.fields["upscaler"] = LATENT_METHODS[str(method)].value
            case "ImageScale" | "ImageScaleBy":
                self._resample(str(method))
            case "ImageUpscaleWithModel":
                return self._by_file(graph, node)
            case _:
                return node.kind in _PASSING
        if node.kind.endswith("By"):
            by = graph.value(node, "scale_by")
            self.scale *= by if isinstance(by, int | float) else 0.0
            return True
        width, height = graph.value(node, "width"), graph.value(node, "height")
        if not isinstance(width, int) or not isinstance(height, int):
            return False
        cropped = graph.value(node, "crop") not in (None, "disabled")
        if cropped and width * self.size[1] != height * self.size[0]:
            return False
        self.fields |= {"width": width // 8 * 8, "height": height // 8 * 8}
        return True

    def _resample(self, method: str) -> None:
        known = PICTURE_METHODS.get(method)
        if known is None:
            self.remarks.append(enlarged_by(method))
        chosen = known or Resampling.LANCZOS
        self.fields["resampling"] = chosen
        self.fields.setdefault("upscaler", chosen.value)

    def _by_file(self, graph: Graph, node: Node) -> bool:
        file = upscaler_of(graph, node)
        if not file:
            return False
        found = _SCALE.search(file)
        self.scale *= int(found[1] or found[2]) if found else _USUAL_SCALE
        self.fields["upscaler"] = file
        self.remarks.append(enlarged_with(file))
        return True


def upscaler_of(graph: Graph, node: Node) -> str:
    """Return the name of the upscaler's file that a node enlarges with; empty without one."""
    loader = graph.source(node, "upscale_model")
    name = graph.value(loader, "model_name") if loader else None
    return PureWindowsPath(name).name if isinstance(name, str) else ""


def read_second_passes(graph: Graph, sampling: Sampling, first: GenerateRequest) -> SecondPasses:
    """Return what the samplers after the first did, as far as a request can express it.

    `first` is the request of the first one.
    """
    samplers = sampling.sampler, *sampling.later
    refined = refining(graph, *samplers[:2]) if len(samplers) > 1 else None
    chain = samplers[1:] if refined else samplers
    found = _passes(graph, chain, samplers[0], first)
    if refined is not None:
        remarks = (*refined.remarks, *found.remarks)
        if refined.refiner is not None and found.passes:
            remarks += (_REFINED_BEFORE,)
        found = msgspec.structs.replace(
            found, refiner=refined.refiner, told=PART_KEYS, remarks=remarks
        )
    taken = len(found.passes) + 1
    if taken == len(chain):
        return found
    which = "pass is" if taken == 1 else f"{taken} passes are"
    told = f"It was sampled {len(samplers)} times over; only the first {which} taken over."
    return msgspec.structs.replace(
        found, remarks=(*found.remarks, told), others=chain[: taken - 1 : -1]
    )


def _passes(
    graph: Graph, samplers: Sequence[Node], origin: Node, first: GenerateRequest
) -> SecondPasses:
    """Return the passes of the samplers after the first of them, up to one of another kind.

    `origin` began the picture.
    """
    passes: list[SecondPass] = []
    remarks: list[str] = []
    if first.width is None or first.height is None:
        return SecondPasses()
    size = first.width, first.height
    for before, sampler in pairwise(samplers):
        enlarging = _Enlarging(size)
        nodes = _between(graph, sampler, before)
        if nodes is None or not all(enlarging.take(graph, node) for node in nodes):
            break
        own = _pass(graph, sampler, enlarging, first, origin)
        if own is None:
            break
        passes.append(own)
        remarks += [*enlarging.remarks, *_model_remark(graph, sampler, origin)]
        scaled = int(size[0] * own.scale), int(size[1] * own.scale)
        size = (own.width, own.height) if own.width and own.height else scaled
    return SecondPasses(tuple(passes), remarks=tuple(dict.fromkeys(remarks)))


def _between(graph: Graph, sampler: Node, before: Node) -> list[Node] | None:
    """Return the nodes between two samplers in the order of drawing; None for another way."""
    nodes: list[Node] = []
    node = graph.source(sampler, "latent_image")
    while node is not None and node is not before and len(nodes) < _MOST_NODES:
        nodes.append(node)
        here = node
        node = next((found for key in _CARRIED if (found := graph.source(here, key))), None)
    return nodes[::-1] if node is before else None


def _pass(
    graph: Graph, sampler: Node, enlarging: _Enlarging, first: GenerateRequest, origin: Node
) -> SecondPass | None:
    """Return the second pass of a KSampler; None for another node, or values out of bounds."""
    inputs = {key: graph.value(sampler, key) for key in sampler.inputs}
    if inputs.keys() >= _ADVANCED:
        part = last_steps(graph, sampler)
        if part is None:
            return None
        inputs |= {"steps": part[0], "denoise": part[1], "seed": inputs["noise_seed"]}
    if not inputs.keys() >= _NEEDED:
        return None
    values = Values(inputs)
    found = values.read(SecondPass, steps="steps", guidance="cfg", seed="seed", strength="denoise")
    found["sampler"] = sampler_of(COMFY_SAMPLERS, values.text("sampler_name") or "")
    found["schedule"] = schedule_of(COMFY_SCHEDULES, values.text("scheduler") or "")
    if values.warnings or found["sampler"] is None or found["schedule"] is None:
        return None
    found |= enlarging.fields
    if "width" not in found:
        low, high = bounds_of(SecondPass, "scale")
        if not low <= enlarging.scale <= high:
            return None
        found["scale"] = enlarging.scale
    else:
        low, high = bounds_of(SecondPass, "width")
        if not all(low <= found[side] <= high for side in ("width", "height")):
            return None
    for name, role in (("prompt", "positive"), ("negative_prompt", "negative")):
        text, whole = (
            find_prompt(graph, sampler_node, role).text for sampler_node in (sampler, origin)
        )
        if text is not None and text != whole:
            found[name] = text
    for name in ("steps", "guidance", "seed", "sampler", "schedule"):
        if found[name] == getattr(first, name):
            found[name] = None
    return SecondPass(**found)


def _model_remark(graph: Graph, sampler: Node, origin: Node) -> list[str]:
    """Return the remark on the checkpoint of a pass where it is another than the first's."""
    own, first = (
        Networks.of(graph, sampler_node, None).checkpoint for sampler_node in (sampler, origin)
    )
    return [drawn_again_with(own)] if own is not None and own != first else []
