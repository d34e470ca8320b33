"""Matrices of cases of which each run has some: `make test`, `make oracle` and `make thorough`."""

import functools
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import cast

import pytest
from _pytest.mark import ParameterSet

# Marks of tests that `make test` leaves out and other commands run alone.
RINGS = ("oracle", "slow")


def thinned(
    cases: Iterable[object],
    often: Collection[object],
    rest: pytest.MarkDecorator = pytest.mark.oracle,
) -> list[ParameterSet]:
    """The parameters of a test: those in `often` as they are, the others with the mark `rest`.

    A tuple has the values of several parameters.
    """
    return [
        pytest.param(
            *(cast("tuple[object, ...]", case) if isinstance(case, tuple) else (case,)),
            marks=() if case in often else rest,
        )
        for case in cases
    ]


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
