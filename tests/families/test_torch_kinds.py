"""PyTorch files that people keep beside checkpoints are named, not refused for their format."""

from pathlib import Path

import pytest

from engine.errors import EngineError
from engine.families import identify

FROZEN = Path(__file__).parents[1] / "checkpoints" / "frozen"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("a1111_embedding.pt", "a textual inversion embedding"),
        ("concept.bin", "a textual inversion embedding"),
        ("nested.bin", "a textual inversion embedding"),
        ("hypernetwork.pt", "a hypernetwork"),
    ],
)
def test_a_small_file_of_torchs_is_named(name: str, title: str) -> None:
    with pytest.raises(EngineError) as caught:
        identify(FROZEN / name)
    assert caught.value.message == f"{name} is {title}, not a model."
