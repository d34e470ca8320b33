"""Each field of a request states its facts once, and what follows from them is complete."""

import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from engine.api.bounds import bounded
from engine.api.fields import bounds_of, fields_of
from engine.api.limits import MAX_STEPS
from engine.api.record import ResolvedRequest
from engine.api.request import (
    GenerateRequest,
    GuidanceOptions,
    SamplerOptions,
    SeedOptions,
)
from tests.metadata.records import PLAIN_REQUEST

# A picture's record has no use for these.
_ASKED_ONLY = {"count", "expand_wildcards", "memory_limit_bytes", "device_memory_limit_bytes"}
_RECORDED_ONLY = {"prompt_template", "negative_template"}
# None is a value of these fields and not a gap.
_MAY_BE_NONE = {"vae_tile", "refiner", *_RECORDED_ONLY}
# The machine has as much memory as it has.
_UNBOUNDED = {
    ("GenerateRequest", name) for name in ("memory_limit_bytes", "device_memory_limit_bytes")
}


def test_request_and_resolved_request_have_the_same_fields_but_for_those_named_here() -> None:
    asked, recorded = set(fields_of(GenerateRequest)), set(fields_of(ResolvedRequest))
    assert asked - recorded == _ASKED_ONLY
    assert recorded - asked == _RECORDED_ONLY


def test_a_resolved_request_has_no_gaps() -> None:
    open_fields = {
        name
        for name, field in fields_of(ResolvedRequest).items()
        if type(None) in typing.get_args(field.kind)
    }
    assert open_fields == _MAY_BE_NONE


def test_a_field_that_is_narrowed_keeps_its_bounds() -> None:
    for name in ("width", "steps", "guidance", "seed", "clip_skip", "strength", "negative_prompt"):
        asked, recorded = fields_of(GenerateRequest)[name], fields_of(ResolvedRequest)[name]
        assert asked.limit is not None
        assert recorded.limit == asked.limit
        assert recorded.default is msgspec.NODEFAULT


def _structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """The structures in a type, itself included."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
        for field in fields_of(kind).values():
            yield from _structs(field.kind)
    for part in typing.get_args(kind):
        yield from _structs(part)


def _holds(kind: Any, wanted: tuple[type, ...]) -> bool:
    """Return True if a type is one of the wanted, or has one directly in a tuple or a union."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union, tuple):
        return any(_holds(part, wanted) for part in typing.get_args(kind))
    return kind in wanted


@pytest.mark.parametrize("root", [GenerateRequest, ResolvedRequest])
def test_every_number_of_a_request_states_its_bounds(root: type[msgspec.Struct]) -> None:
    without = {
        (kind.__name__, field.name)
        for kind in _structs(root)
        for field in fields_of(kind).values()
        if _holds(field.kind, (int, float)) and field.limit is None
    }
    assert without <= _UNBOUNDED


def test_no_default_is_out_of_bounds() -> None:
    given = msgspec.structs.replace(PLAIN_REQUEST, strength=1.0)
    for request in (GenerateRequest(prompt=""), given):
        assert [number for number in bounded(request) if not number.is_within] == []


def test_bounds_name_the_field_as_people_know_it() -> None:
    names = {number.name for number in bounded(PLAIN_REQUEST)}
    assert {"width", "number of steps", "length of the prompt", "end of guidance"} <= names
    given = GenerateRequest(prompt="", sampler_options=SamplerOptions(noise_scale=2.0))
    assert ("noise_scale", 2.0, 0, 10_000) in list(bounded(given))


def test_each_side_of_a_pair_is_bounded() -> None:
    sides = [number.value for number in bounded(SeedOptions(resize_from=(64, 9000)))]
    assert {64, 9000} <= set(sides)


def test_guidance_starts_before_it_ends() -> None:
    wrong = [n for n in bounded(GuidanceOptions(range=(0.6, 0.5))) if not n.is_within]
    assert [(n.name, n.value, n.low, n.high) for n in wrong] == [("start of guidance", 0.6, 0, 0.5)]


def test_bounds_of_a_field_are_those_it_states() -> None:
    assert bounds_of(GenerateRequest, "steps").whole == (1, MAX_STEPS)
    with pytest.raises(KeyError, match="checkpoint"):
        bounds_of(GenerateRequest, "checkpoint")


def test_messages_are_decoded_whatever_numbers_they_hold() -> None:
    """The engine refuses a number in words; a pipe or a journal must not end at one."""
    request = GenerateRequest(prompt="", steps=-5, width=10**6, strength=7.0)
    encoded = msgspec.msgpack.encode(request)
    assert msgspec.msgpack.decode(encoded, type=GenerateRequest) == request
    assert msgspec.json.decode(msgspec.json.encode(request), type=GenerateRequest) == request
