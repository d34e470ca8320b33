"""Words of the command line about weights that the plan rounded."""

import pytest
from msgspec.structs import replace

from app.cli.machine_options import rounding_note
from engine.api.request import GenerateRequest
from engine.api.values import TextWeightBits, WeightBits
from tests.metadata.records import PLAIN


@pytest.mark.parametrize(
    ("weights", "texts", "said"),
    [
        (WeightBits.ALL, TextWeightBits.SAME, ""),
        (WeightBits.ALL, TextWeightBits.EIGHT, "memory: the text encoders' to 8 bits. -"),
        (WeightBits.EIGHT, TextWeightBits.ALL, "memory: the denoiser's to 8 bits. -"),
        (
            WeightBits.FOUR,
            TextWeightBits.SAME,
            "denoiser's to 4 bits.",
        ),
    ],
)
def test_weights_that_were_rounded_unasked_are_told(
    weights: WeightBits, texts: TextWeightBits, said: str
) -> None:
    made = replace(PLAIN.request, weight_bits=weights, text_weight_bits=texts)
    note = rounding_note(GenerateRequest(prompt=""), made)
    assert bool(note) is bool(said)
    assert said in note
    assert rounding_note(GenerateRequest(prompt="", weight_bits=weights), made) == ""
