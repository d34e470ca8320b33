"""The tables of names: each holds every name of its tool, and every name of ours is there."""

from collections.abc import Mapping

import pytest

from engine.api import SamplerName, ScheduleName
from engine.metadata.readers import names
from engine.metadata.readers.names import sampler_of, schedule_of
from engine.sampling.samplers import SAMPLERS as SAMPLERS_OF_OURS
from tests.metadata.frozen import frozen

Table = Mapping[str, str | None]
SAMPLERS: dict[str, Table] = {
    "a1111": names.A1111_SAMPLERS,
    "comfy": names.COMFY_SAMPLERS,
    "fooocus": names.COMFY_SAMPLERS,
    "easy_diffusion": names.EASY_DIFFUSION_SAMPLERS | names.EASY_DIFFUSION_LIKE,
    "sdcpp": names.SDCPP_SAMPLERS,
}
SCHEDULES: dict[str, Table] = {
    "a1111": names.A1111_SCHEDULES,
    "comfy": names.COMFY_SCHEDULES,
    "fooocus": names.COMFY_SCHEDULES,
    "sdcpp": names.SDCPP_SCHEDULES,
}


@pytest.mark.parametrize("tool", SAMPLERS)
def test_every_sampler_of_a_tool_is_known(tool: str) -> None:
    missing = {name.casefold() for name in frozen(tool)["samplers"]} - SAMPLERS[tool].keys()
    assert missing == set()


def test_every_scheduler_of_invoke_is_known() -> None:
    """The names of those with Karras' schedule end in `_k`."""
    listed = {name.removesuffix("_k") for name in frozen("invoke")["samplers"]}
    assert listed - names.INVOKE_SAMPLERS.keys() == set()


@pytest.mark.parametrize("tool", SCHEDULES)
def test_every_schedule_of_a_tool_is_known(tool: str) -> None:
    listed = {name.casefold() for name in frozen(tool)["schedules"]} - {"automatic"}
    assert listed - SCHEDULES[tool].keys() == set()


@pytest.mark.parametrize(
    "table", [*SAMPLERS.values(), names.INVOKE_SAMPLERS, names.NOVELAI_SAMPLERS]
)
def test_samplers_map_to_ours(table: Table) -> None:
    assert set(table.values()) <= {None, *(name.value for name in SamplerName)}
    assert all((sampler_of(table, name) is None) == (table[name] is None) for name in table)


@pytest.mark.parametrize("table", [*SCHEDULES.values(), names.NOVELAI_SCHEDULES])
def test_schedules_map_to_ours(table: Table) -> None:
    assert set(table.values()) <= {None, *(name.value for name in ScheduleName)}
    assert all((schedule_of(table, name) is None) == (table[name] is None) for name in table)


def test_automatic_is_the_schedule_that_a_sampler_has_by_default() -> None:
    # Those of LCM and TCD are their cards'.
    usual = {
        name.value: info.defaults.schedule.value
        for name, info in SAMPLERS_OF_OURS.items()
        if info.defaults.schedule is not ScheduleName.NORMAL
        and name not in (SamplerName.LCM, SamplerName.TCD)
    }
    assert usual == names.A1111_AUTOMATIC, "readers have the schedules of SAMPLERS, too"
    assert {name.value for name in SamplerName} >= names.A1111_OWN_TIMESTEPS


def test_our_own_labels_are_read_back() -> None:
    samplers = [
        sampler
        for sampler in SamplerName
        if sampler_of(names.ANY_SAMPLERS, sampler.label) is not sampler
    ]
    schedules = [
        schedule
        for schedule in ScheduleName
        if schedule_of(names.ANY_SCHEDULES, schedule.label) is not schedule
    ]
    assert not samplers + schedules, "labels are names in engine/metadata/readers/names.py, too"


def test_comfys_two_unipcs_are_two_samplers() -> None:
    """The B(h) of the two differ, `comfy/extra_samplers/uni_pc.py`."""
    assert sampler_of(names.COMFY_SAMPLERS, "uni_pc") is SamplerName.UNIPC
    assert sampler_of(names.COMFY_SAMPLERS, "uni_pc_bh2") is SamplerName.UNIPC_BH2
