"""Matrices of cases of which `make test` runs some and `make oracle` the others."""

from collections.abc import Collection, Iterable
from typing import cast

import pytest
from _pytest.mark import ParameterSet


def thinned(cases: Iterable[object], often: Collection[object]) -> list[ParameterSet]:
    """The parameters of a test: those in `often` are for `make test`, too.

    A tuple has the values of several parameters.
    """
    return [
        pytest.param(
            *(cast("tuple[object, ...]", case) if isinstance(case, tuple) else (case,)),
            marks=() if case in often else pytest.mark.oracle,
        )
        for case in cases
    ]
