"""Budgets after plans for which a card's memory did not suffice."""

import pytest

from backends.base import Device
from engine.memory.plan import MemoryPlan, WeightPlacement
from engine.memory.shortages import Shortages

CARD, TWIN = Device("torch_device", "cuda:0", "card"), Device("torch_device", "cuda:1", "card")


def plan(peak_bytes: int, budget_bytes: int) -> MemoryPlan:
    return MemoryPlan(
        placement=WeightPlacement.MEMORY,
        together=True,
        peak_bytes=peak_bytes,
        budget_bytes=budget_bytes,
    )


@pytest.fixture
def shortages() -> Shortages:
    return Shortages()


def test_a_card_has_less_after_two_failures_until_more_is_free(shortages: Shortages) -> None:
    for left in (200, 152):
        shortages.note(CARD, plan(190, 200))
        assert shortages.within(CARD, 200) == left
    assert [shortages.within(CARD, budget) for budget in (100, 219, 221)] == [100, 152, 221]
    assert shortages.within(TWIN, 200) == 200


def test_a_plan_with_less_that_fails_leaves_still_less(shortages: Shortages) -> None:
    for peak, budget in ((190, 200), (190, 200), (150, 152)):
        shortages.note(CARD, plan(peak, budget))
    assert shortages.within(CARD, 200) == 120


def test_a_failure_beside_another_program_counts_for_what_that_left(shortages: Shortages) -> None:
    for peak, budget in ((190, 200), (60, 64)):
        shortages.note(CARD, plan(peak, budget))
    assert shortages.within(CARD, 64) == 48
    assert shortages.within(CARD, 200) == 200


def test_a_plan_that_needs_as_much_and_succeeds_ends_it(shortages: Shortages) -> None:
    for _ in range(2):
        shortages.note(CARD, plan(190, 200))
    shortages.note_success(CARD, plan(150, 152))
    assert shortages.within(CARD, 200) == 152
    shortages.note_success(CARD, plan(190, 300))
    assert shortages.within(CARD, 200) == 200
