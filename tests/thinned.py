"""Matrices of cases of which each run has some: `make test`, `make oracle` and `make thorough`."""

import functools
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import TypeVar, cast

import pytest
from _pytest.mark import ParameterSet

First = TypeVar("First")
Second = TypeVar("Second")

# Marks of tests that `make test` leaves out and other commands run alone.
RINGS = ("oracle", "slow")


def thinned(
    cases: Iterable[object],
    often: Collection[object],
    rest: pytest.MarkDecorator = pytest.mark.oracle,
    *,
    seldom: Collection[object] = (),
) -> list[ParameterSet]:
    """The parameters of a test: those in `often` as they are, the others with the mark `rest`.

    Those in `seldom` are for `make thorough` alone. A tuple has the values of several parameters.
    """

    def param(case: object) -> ParameterSet:
        mark = pytest.mark.slow if case in seldom else rest
        marks = () if case in often else (mark,)
        values = cast("tuple[object, ...]", case) if isinstance(case, tuple) else (case,)
        return pytest.param(*values, marks=marks)

    return list(map(param, cases))


def each_with_one_in_turn(
    first: Sequence[object],
    second: Sequence[object],
    rest: pytest.MarkDecorator = pytest.mark.oracle,
) -> list[ParameterSet]:
    """The pairs of two parameters, thinned to those of `in_turn`."""
    return thinned(product(first, second), in_turn(first, second), rest)


def in_turn(first: Sequence[First], second: Sequence[Second]) -> list[tuple[First, Second]]:
    """Each of either with one of the other, by turns where there are fewer of the other."""
    count = max(len(first), len(second))
    return [(first[i % len(first)], second[i % len(second)]) for i in range(count)]


def mark_of(expression: str) -> str | None:
    """The mark that every wanted test bears by pytest's `-m`: oracle, slow, or None for others."""
    first = expression.split(" and ")[0]
    return first if first in RINGS else None


@functools.cache
def names(path: Path, mark: str) -> bool:
    """True if a module of tests names a mark or what gives it; else no test in it bears the mark.

    `thinned` gives it, and the contract of backends to those that compute with torch.
    """
    text = path.read_text(encoding="utf-8")
    return any(word in text for word in (mark, thinned.__name__, "test_contract"))
