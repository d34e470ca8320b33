"""All cells: every sampler and schedule that users of a tool choose, and what else they set."""
# pyright: basic

from collections.abc import Iterable, Iterator

from engine.api.values import ConventionName
from tests.oracle.fidelity import a1111, aspects, hugging_face
from tests.oracle.fidelity.a1111_schedules import SCHEDULES as A1111_SCHEDULES
from tests.oracle.fidelity.cells import Cell
from tests.oracle.fidelity.comfy_schedules import SCHEDULES as COMFY_SCHEDULES
from tests.oracle.fidelity.names import (
    A1111_SAMPLERS,
    COMFY_SAMPLERS,
    DIFFUSERS_SAMPLERS,
    INVOKE_SAMPLERS,
    schedule_name,
)
from tests.oracle.fidelity.ours import Asked
from tests.oracle.fidelity.picture import STEPS, Picture

# Restart restarts from 20 steps on; the table of Align Your Steps has 11 levels.
_STEPS = {"Restart": 20}
_WHOLE_ROWS = {"Euler", "DPM++ 2M", "euler", "dpmpp_2m", "EulerDiscrete", "DPMSolverMultistep"}
# These take two levels of the schedule, and then as many evaluations as they like.
_FREE = {"DPM adaptive", "dpm_adaptive", "DPM fast", "dpm_fast"}
_DRAWING = ("Euler a", "DPM2 a", "DPM++ 2S a", "DPM++ SDE", "DPM++ 2M SDE", "DPM++ 2M SDE Heun")
_DRAWING += ("DPM++ 3M SDE", "Restart", "LCM", "DPM fast")


def cells() -> tuple[Cell, ...]:
    """Every comparison, in the page's order."""
    return (
        *_a1111(),
        *_a1111_on_card(),
        *_comfy(),
        *_diffusers(),
        *_invoke(),
        *aspects.cells(),
    )


def of_each_kind(cells: Iterable[Cell]) -> frozenset[str]:
    """The names of few cells in which each sampler, schedule, aspect and tool is seen."""
    seen = {cell.name: _kinds(cell) for cell in cells}
    missing, chosen = set().union(*seen.values()), set[str]()
    while missing:
        most = max(seen, key=lambda name: len(seen[name] & missing))
        chosen.add(most)
        missing -= seen[most]
    return frozenset(chosen)


def _kinds(cell: Cell) -> set[tuple[object, ...]]:
    asked = cell.asked
    tool = "tool", cell.tool, cell.on_card
    return {tool, ("sampler", asked.sampler), ("schedule", asked.schedule), (cell.aspect,)}


def _spread(samplers: Iterable[str], schedules: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Two samplers with every schedule, every other with one of them in turn."""
    for index, sampler in enumerate(samplers):
        if sampler in _WHOLE_ROWS:
            yield from ((sampler, schedule) for schedule in schedules)
        elif sampler not in _FREE:
            yield sampler, schedules[index % len(schedules)]


def _a1111() -> Iterator[Cell]:
    pairs = dict.fromkeys((name, traits[1]) for name, traits in a1111.K_SAMPLERS.items())
    pairs |= dict.fromkeys(_spread(a1111.K_SAMPLERS, A1111_SCHEDULES))
    order = {name: index for index, name in enumerate(a1111.K_SAMPLERS)}
    for sampler, schedule in sorted(pairs, key=lambda pair: order[pair[0]]):
        picture = Picture(sampler, schedule, steps=_STEPS.get(sampler, STEPS))
        yield Cell("A1111", picture, a1111_asked(sampler, schedule))
    for sampler in a1111.TIMESTEP_SAMPLERS:
        yield Cell("A1111", Picture(sampler), a1111_asked(sampler))


def _a1111_on_card() -> Iterator[Cell]:
    for sampler in ("Euler", *_DRAWING):
        schedule = a1111.K_SAMPLERS[sampler][1]
        steps = _STEPS.get(sampler, STEPS)
        picture = Picture(sampler, schedule, steps=steps, source="cuda")
        yield Cell("A1111", picture, a1111_asked(sampler, schedule))


def a1111_asked(sampler: str, schedule: str = "") -> Asked:
    """Our names for A1111's."""
    return Asked(ConventionName.A1111, A1111_SAMPLERS[sampler], schedule_name(schedule))


def _comfy() -> Iterator[Cell]:
    pairs = dict.fromkeys((name, "normal") for name in COMFY_SAMPLERS)
    pairs |= dict.fromkeys(_spread(COMFY_SAMPLERS, COMFY_SCHEDULES))
    order = {name: index for index, name in enumerate(COMFY_SAMPLERS)}
    for sampler, schedule in sorted(pairs, key=lambda pair: order[pair[0]]):
        yield Cell(
            "ComfyUI", Picture(sampler, schedule, source="cuda"), comfy_asked(sampler, schedule)
        )


def comfy_asked(sampler: str, schedule: str) -> Asked:
    """Our names for ComfyUI's."""
    return Asked(ConventionName.COMFY, COMFY_SAMPLERS[sampler], schedule_name(schedule))


def _diffusers() -> Iterator[Cell]:
    for sampler in DIFFUSERS_SAMPLERS:
        spreads = tuple(hugging_face.SPREADS) if sampler in _WHOLE_ROWS else ("", "Karras")
        for spread in spreads:
            own = hugging_face.OWN_SPREAD[sampler]
            if spread == own or (spread == "Karras" and sampler not in hugging_face.KARRAS):
                continue
            yield Cell("diffusers", Picture(sampler, spread), diffusers_asked(sampler, spread))


def diffusers_asked(sampler: str, spread: str = "") -> Asked:
    """Our names for diffusers'."""
    schedule = schedule_name(spread or hugging_face.OWN_SPREAD[sampler])
    return Asked(ConventionName.DIFFUSERS, DIFFUSERS_SAMPLERS[sampler], schedule)


def _invoke() -> Iterator[Cell]:
    for name in INVOKE_SAMPLERS:
        yield Cell("InvokeAI", Picture(name, source="cuda"), invoke_asked(name))


def invoke_asked(name: str) -> Asked:
    """Our names for InvokeAI's, whose names have the schedule in them."""
    return Asked(ConventionName.INVOKE, *INVOKE_SAMPLERS[name])
