"""A tool's values are read within the bounds that the fields of a request state."""

from collections.abc import Iterator

import msgspec
import pytest

from engine.api.fields import Bounds, Measure, fields_of
from engine.api.masks import MaskOptions
from engine.api.request import (
    GenerateRequest,
    GuidanceOptions,
    RefinerChoice,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
    SizeOptions,
)
from engine.api.values import SamplerName, ScheduleName
from engine.metadata.readers.options import read_schedule_options
from engine.metadata.readers.values import Values

_KINDS = (
    GenerateRequest, GuidanceOptions, MaskOptions, RefinerChoice, SamplerOptions, ScheduleOptions,
    SeedOptions, SizeOptions,
)  # fmt: skip

Kind = type[msgspec.Struct]


def _numbers() -> Iterator[tuple[Kind, str, Bounds]]:
    for kind in _KINDS:
        for field in fields_of(kind).values():
            if field.limit is not None and field.limit.measure is Measure.VALUE:
                yield kind, field.name, field.limit.bounds


@pytest.mark.parametrize(("kind", "name", "bounds"), list(_numbers()), ids=str)
def test_a_number_is_taken_at_each_bound_and_refused_past_it(
    kind: Kind, name: str, bounds: Bounds
) -> None:
    default = fields_of(kind)[name].default
    for taken in bounds:
        for written in (taken, str(int(taken))):
            values = Values({"key": written})
            assert values.read(kind, **{name: "key"}) == {name: taken}
            assert values.warnings == []
    for refused in (bounds.low - 1, bounds.high + 1, float("nan"), "many"):
        values = Values({"key": refused})
        assert values.read(kind, **{name: "key"}) == {name: default}
        assert len(values.warnings) == 1


def test_a_missing_value_is_the_default_of_its_field() -> None:
    found = Values({}).read(
        GenerateRequest, prompt="p", negative_prompt="n", steps="s", guidance="g"
    )
    assert found == {"prompt": "", "negative_prompt": "", "steps": None, "guidance": None}
    assert Values({}).read(MaskOptions, padding="p", blur="b") == {"padding": 32, "blur": None}


def test_zero_leaves_a_schedule_its_own_options() -> None:
    values = Values({"least": 0, "most": "14.5", "rho": "0"})
    options = read_schedule_options(values, sigma_min="least", sigma_max="most", rho="rho")
    assert options == ScheduleOptions(sigma_max=14.5)


@pytest.mark.parametrize(("place", "skip"), [(-1, 1), (-2, 2), (-64, 64), (-65, None), (0, None)])
def test_a_last_layer_counts_from_the_end(place: int, skip: int | None) -> None:
    assert Values({"layer": place}).clip_skip("layer") == skip


def test_a_method_of_comfyui_is_read_by_its_names_and_refused_by_its_keys() -> None:
    named = Values({"name": "euler_ancestral", "scheduler": "karras"})
    assert named.comfy_method("name") == (SamplerName.EULER_ANCESTRAL, ScheduleName.KARRAS)
    empty = Values({})
    assert empty.comfy_method("name", otherwise=("euler", "simple")) == (
        SamplerName.EULER,
        ScheduleName.SIMPLE,
    )
    assert empty.warnings == []
    unknown = Values({"name": "nothing", "scheduler": "none of ours"})
    assert unknown.comfy_method("name") == (None, None)
    assert [warning.split(":")[0] for warning in unknown.warnings] == ['"name', '"scheduler']
