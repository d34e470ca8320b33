"""Safelight's pictures stay equal: the pixels of each one and the settings in it.

Everything goes through an engine process, so that the guard holds whatever becomes of the engine's
inside.
"""

import shutil
from collections.abc import Iterator

import pytest

from tests.guard import frozen
from tests.guard.cases import Case
from tests.guard.engine import Guarded, guarded
from tests.guard.table import CASES, OFTEN

FREEZE = "if that is meant: python -m tests.guard.freeze, in a commit of its own that says why"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guard")
    with guarded(folder) as started:
        yield started
    # Checkpoints of some 500 MB.
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=() if case.name in OFTEN else pytest.mark.oracle)
        for case in CASES
    ],
)
def test_a_picture_and_its_record_are_unchanged(case: Case, engine: Guarded) -> None:
    before = frozen.read()
    found = [
        f"{made.name}: {difference}"
        for made in engine.make(case)
        for difference in frozen.differences(made, before)
    ]
    assert not found, "\n".join((*found, FREEZE))


def test_exactly_the_listed_pictures_are_frozen() -> None:
    names = [name for case in CASES for name in case.pictures]
    assert len(set(names)) == len(names)
    before = frozen.read()
    assert set(before.digests) == set(names), FREEZE
    assert set(before.kept) == set(names)


def test_no_two_pictures_are_the_same() -> None:
    """Else a case asks for what changes nothing."""
    digests = frozen.read().digests
    first: dict[str, str] = {}
    same = {name: first[d] for name, d in digests.items() if first.setdefault(d, name) != name}
    assert not same


def test_pixels_are_compared_exactly() -> None:
    before = frozen.read()
    if not before.is_of_this_machine:
        pytest.skip(f"only within {frozen.ELSEWHERE}: frozen with {dict(before.made_with)}")
