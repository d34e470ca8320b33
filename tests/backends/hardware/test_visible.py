"""Cards that variables hide from the runtime of their maker, and the numbers of the others."""

import pytest

from backends.hardware import Adapter, visible_cards, with_hidden

AMD = [Adapter("AMD", name, address=address) for name, address in (("first", "a"), ("second", "b"))]
CARDS = [*AMD, Adapter("AMD", "third", address="c")]


@pytest.mark.parametrize(
    ("environment", "order"),
    [
        ({}, (0, 1, 2)),
        ({"HIP_VISIBLE_DEVICES": "2,0"}, (2, 0)),
        ({"CUDA_VISIBLE_DEVICES": "1"}, (1,)),
        ({"CUDA_VISIBLE_DEVICES": ""}, (0, 1, 2)),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "1"}, (0,)),
        ({"ROCR_VISIBLE_DEVICES": "1,2", "HIP_VISIBLE_DEVICES": "1"}, (2,)),
        ({"ROCR_VISIBLE_DEVICES": "GPU-1234"}, (0, 1, 2)),
    ],
)
def test_hip_numbers_the_cards_that_are_left(
    environment: dict[str, str], order: tuple[int, ...]
) -> None:
    assert visible_cards(CARDS, environment).order == order


def test_the_variable_that_hides_a_card_is_named() -> None:
    both = {"ROCR_VISIBLE_DEVICES": "1,2", "HIP_VISIBLE_DEVICES": "1"}
    reasons = [card.unusable for card in with_hidden(CARDS, both)]
    assert reasons == ["ROCR_VISIBLE_DEVICES hides it", "HIP_VISIBLE_DEVICES hides it", ""]


def test_the_variables_do_nothing_to_cards_of_other_makers() -> None:
    cards = [Adapter("Intel", "Arc")]
    assert with_hidden(cards, {"CUDA_VISIBLE_DEVICES": ""}) == tuple(cards)


def test_no_cards_have_no_numbers() -> None:
    assert visible_cards([], {"CUDA_VISIBLE_DEVICES": "0"}).order == ()
