"""The parts of a run that samplers of a ComfyUI graph take: base and refiner, or the last steps.

After `KSamplerAdvanced` of `nodes.py` and `KSampler.sample` of `comfy/samplers.py`.
"""

import math

import msgspec

from engine.api.request import RefinerChoice
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.comfy_prompts import find_prompt
from engine.metadata.readers.comfy_settings import Networks
from engine.metadata.readers.imported import made_with_refiner

# The inputs that tell a part; a whole run has none of them.
PART_KEYS = ("add_noise", "start_at_step", "end_at_step", "return_with_leftover_noise")
_METHOD = ("steps", "sampler_name", "scheduler")


class Refining(msgspec.Struct, frozen=True):
    """The refiner of a run in two parts, None if one network made both; and remarks on it."""

    refiner: RefinerChoice | None
    remarks: tuple[str, ...] = ()


def refining(graph: Graph, first: Node, second: Node) -> Refining | None:
    """Return the refiner if the second sampler goes on where the first one stopped; else None.

    The first one leaves the noise in its latent, and the second adds none.
    """
    end, steps = graph.value(first, "end_at_step"), graph.value(first, "steps")
    if not isinstance(end, int) or not isinstance(steps, int) or not 0 < end < steps:
        return None
    is_one_run = (
        graph.source(second, "latent_image") is first
        and graph.value(first, "start_at_step") == 0
        and graph.value(first, "add_noise") == "enable"
        and graph.value(first, "return_with_leftover_noise") == "enable"
        and graph.value(second, "start_at_step") == end
        and graph.value(second, "add_noise") == "disable"
        and _goes_to_the_end(graph, second, steps)
        and all(graph.value(first, key) == graph.value(second, key) for key in _METHOD)
    )
    if not is_one_run:
        return None
    return _refiner(graph, first, second, end / steps)


def _refiner(graph: Graph, first: Node, second: Node, share: float) -> Refining | None:
    base, refiner = (Networks.of(graph, sampler, None) for sampler in (first, second))
    is_guided_alike = graph.value(first, "cfg") == graph.value(second, "cfg") and all(
        find_prompt(graph, first, role).text == find_prompt(graph, second, role).text
        for role in ("positive", "negative")
    )
    if base.checkpoint == refiner.checkpoint:
        is_same = is_guided_alike and base.loras == refiner.loras
        return Refining(None) if is_same else None
    remarks = [made_with_refiner(refiner.checkpoint)] if refiner.checkpoint else []
    if not is_guided_alike:
        remarks.append("Its refiner had a prompt or a guidance of its own; here it has the base's.")
    return Refining(RefinerChoice(switch_at=share), tuple(remarks))


def _goes_to_the_end(graph: Graph, sampler: Node, steps: int) -> bool:
    end = graph.value(sampler, "end_at_step")
    is_clean = graph.value(sampler, "return_with_leftover_noise") == "disable"
    return isinstance(end, int) and end >= steps and is_clean


def last_steps(graph: Graph, sampler: Node) -> tuple[int, float] | None:
    """Return steps and strength of a KSampler that redraws as a sampler does with its last steps.

    None for a sampler that takes another part. `KSampler` divides the steps by the strength and
    rounds down, for which the strength is the next lower number where that would lose a step.
    """
    steps, start = graph.value(sampler, "steps"), graph.value(sampler, "start_at_step")
    if not isinstance(steps, int) or not isinstance(start, int) or not 0 <= start < steps:
        return None
    is_whole = graph.value(sampler, "add_noise") == "enable"
    if not is_whole or not _goes_to_the_end(graph, sampler, steps):
        return None
    strength = (steps - start) / steps
    if int((steps - start) / strength) != steps:
        strength = math.nextafter(strength, 0)
    return steps - start, strength
