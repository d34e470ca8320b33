"""The words about a model's parts."""

import pytest

from engine.api.checkpoints import ComponentInfo
from ui.checkpoint_labels import part_summary


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (1_200_000, "1 million weights"),
        (859_520_964, "860 million weights"),
        (2_567_463_684, "2.6 billion weights"),
    ],
)
@pytest.mark.usefixtures("qapp")
def test_the_size_of_a_part_is_said_in_millions_or_billions(parameters: int, said: str) -> None:
    part = ComponentInfo(
        name="denoiser", parameters=parameters, bytes=2_000_000, precisions=("f16",)
    )
    assert part_summary(part) == f"{said} · 2 MB · f16"
