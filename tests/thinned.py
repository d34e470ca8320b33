"""Matrices of cases of which each run has some: `make test`, `make oracle` and `make thorough`."""

from collections.abc import Collection, Iterable
from typing import cast

import pytest
from _pytest.mark import ParameterSet


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
