"""The prompts of encoders that pad texts with token 0."""

from pathlib import Path

import pytest

from engine.api.values import ConventionName
from engine.families import Component, identify
from engine.families.architecture import texts_of
from engine.families.shared.clip.text_encoding import ClipText
from engine.families.shared.clip.text_use import TextUse
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.resolve import resolve
from tests.pipeline.jobs import a_request

# Of the tiny tokenizer: the letter that is token 0, and the same at the end of a word.
ZERO, WORD = 0, 27


@pytest.mark.parametrize(
    ("name", "zero_padded", "read_as"),
    [
        (ConventionName.DIFFUSERS, True, ZERO),
        (ConventionName.DIFFUSERS, False, WORD),
        (ConventionName.A1111, True, WORD),
        (ConventionName.COMFY, True, WORD),
        (ConventionName.INVOKE, True, WORD),
    ],
)
def test_padding_counts_as_words_except_in_diffusers(
    tiny: Path, name: ConventionName, *, zero_padded: bool, read_as: int
) -> None:
    """The padding is "!" in SD 2's and SDXL's OpenCLIP; diffusers asks the encoder's tokenizer."""
    checkpoint = identify(tiny)
    filled = frozenset({Component.TEXT_ENCODER}) if zero_padded else frozenset[Component]()
    request = a_request(tiny, prompt="red a", convention=name)
    resolved = resolve(request, JobCheckpoints(checkpoint))
    plan = ClipText(checkpoint, TextUse(zero_padded=filled)).read([resolved])
    tokens = plan.prompts[texts_of(resolved)][Component.TEXT_ENCODER]
    (chunks,) = (p.chunks for p in tokens.positives[0].texts[0][0].phrases)
    assert chunks.ids[0, chunks.used] == read_as
