"""How the prompts of an encoder are read whose texts are filled up with token 0."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from backends.base import Precision
from backends.cpu import CpuBackend
from engine.api.values import ConventionName
from engine.families import Component, identify
from engine.pipeline.prompts.encoding import PromptEncoding, texts_of
from engine.pipeline.resolve import resolve
from engine.text.tokenizers import tokenizer_of
from tests.pipeline.jobs import a_request, make_stages

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
def test_what_fills_up_is_a_word_but_in_diffusers(
    tiny: Path, name: ConventionName, *, zero_padded: bool, read_as: int
) -> None:
    """As "!" with SD 2's and SDXL's OpenCLIP: diffusers asks the encoder's own tokenizer."""
    backend = CpuBackend()
    checkpoint = identify(tiny)
    filled = frozenset({Component.TEXT_ENCODER}) if zero_padded else frozenset[Component]()
    checkpoint = replace(checkpoint, text=replace(checkpoint.text, zero_padded=filled))
    request = a_request(tiny, prompt="red a", convention=name)
    resolved = resolve(request, checkpoint)
    with closing(make_stages(backend, tiny.parent, (Precision.F32,))) as stages:
        encoding = PromptEncoding(resolved, checkpoint, tokenizer_of(checkpoint.tokenizer), stages)
        plan = encoding.plan([resolved])[texts_of(resolved)]
    (chunks,) = (p.chunks for p in plan.positives[0].texts[0][0].phrases)
    assert chunks.ids[0, chunks.used] == read_as
