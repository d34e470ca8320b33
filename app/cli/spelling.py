"""Parses samplers, schedules, sizes and numbers as users of any tool spell them."""

import argparse
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple, TypeVar

from engine.api.values import SamplerName, ScheduleName
from engine.metadata.readers.names import (
    EVERY_SAMPLER,
    EVERY_SCHEDULE,
    sampler_of,
    schedule_of,
    split_method,
)
from engine.metadata.size_text import read_size

Name = TypeVar("Name", SamplerName, ScheduleName)
Word = TypeVar("Word", bound=StrEnum)


class Method(NamedTuple):
    """A sampler, and the schedule that older tools name with it: "DPM++ 2M Karras"."""

    sampler: SamplerName
    schedule: ScheduleName | None


def parse_method(text: str) -> Method:
    """Return the sampler of our identifier or label, or of any tool's name for it."""
    own = _own_name(text, SamplerName)
    if own is not None:
        return Method(own, None)
    name, fused = split_method(text)
    sampler = sampler_of(EVERY_SAMPLER, name) or _own_name(name, SamplerName)
    schedule = schedule_of(EVERY_SCHEDULE, fused) if fused else None
    if sampler is None or (fused not in (None, "automatic") and schedule is None):
        raise argparse.ArgumentTypeError(f"{text!r} is none of {names_of(SamplerName)}")
    return Method(sampler, schedule)


def parse_schedule(text: str) -> ScheduleName:
    """Return the schedule of our identifier or label, or of any tool's name for it."""
    found = _own_name(text, ScheduleName) or schedule_of(EVERY_SCHEDULE, text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {names_of(ScheduleName)}")
    return found


def _own_name(text: str, kind: type[Name]) -> Name | None:
    return next((v for v in kind if text.casefold() in (v.value, v.label.casefold())), None)


def parse_size(text: str) -> tuple[int, int]:
    """Return width and height in pixels of a text such as "512x768"."""
    size = read_size(text)
    if size is None or 0 in size:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write it as 512x768")
    return size


def parse_number(text: str) -> float:
    """Return a number; its bounds are those of the setting, which the request checks."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def parse_whole_number(text: str) -> int:
    """Return a whole number; its bounds are those of the setting, which the request checks."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def one_of(words: Iterable[Word]) -> Callable[[str], Word]:
    """Return a parser of the words of an enumeration, which names them all for another one."""
    by_text = {word.value: word for word in words}

    def parse(text: str) -> Word:
        if text not in by_text:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(by_text)}")
        return by_text[text]

    return parse


def names_of(values: type[SamplerName] | type[ScheduleName]) -> str:
    """Return our identifiers, separated by commas."""
    return ", ".join(value.value for value in values)
