"""Prompts that change, are composed, blended or weighed down, through the whole pipeline."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.values import ConventionName, SamplerName
from tests.pipeline.conftest import Draw
from tests.pipeline.jobs import a_request, psnr

A1111, INVOKE = ConventionName.A1111, ConventionName.INVOKE


Picture = Callable[..., NDArray[np.uint8]]


@pytest.fixture
def picture(tiny: Path, draw: Draw) -> Picture:
    """The picture of a prompt."""

    def made(prompt: str, **changes: object) -> NDArray[np.uint8]:
        wanted: dict[str, object] = {"convention": A1111, "steps": 4, "sampler": SamplerName.EULER}
        return draw(a_request(tiny, prompt=prompt, **(wanted | changes))).pixels[0]

    return made


def same(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> bool:
    return psnr(first, second) > 60


def test_a_change_takes_effect_at_its_step(picture: Picture) -> None:
    changing = picture("[a red horse:a blue house:1]")
    assert not same(changing, picture("a red horse"))
    assert not same(changing, picture("a blue house"))
    # In effect up to evaluation 3, which is the last of four steps.
    assert same(picture("[a red horse:a blue house:3]"), picture("a red horse"))
    heun = picture("[a red horse:a blue house:3]", sampler=SamplerName.HEUN)
    assert not same(heun, picture("a red horse", sampler=SamplerName.HEUN))


def test_a_prompt_composed_of_halves_of_itself_is_itself(picture: Picture) -> None:
    whole = picture("a red horse")
    assert same(picture("a red horse :0.5 AND a red horse :0.5"), whole)
    assert not same(picture("a red horse AND a blue house"), whole)


@pytest.mark.parametrize("guidance", [1.0, 5.0])
def test_prompts_of_unequal_length_go_together(picture: Picture, guidance: float) -> None:
    """An unpadded prompt is the same however often it has to be repeated."""
    prompt, negative = "a red horse BREAK blue", "x BREAK y BREAK z"
    changes: dict[str, object] = {"negative_prompt": negative, "guidance": guidance}
    made = picture(prompt, **changes)
    twice = picture("a red horse BREAK blue BREAK a red horse BREAK blue", **changes)
    assert same(made, twice)


def test_words_that_compel_weighs_down_are_not_seen(picture: Picture) -> None:
    whole = picture("a red horse", convention=INVOKE)
    down = picture("a (red)0.3 horse", convention=INVOKE)
    assert not same(down, whole)
    assert same(picture("a (red)0.99999 horse", convention=INVOKE), whole)
    blend = picture('("a red horse", "a red horse").blend(0.3, 0.7)', convention=INVOKE)
    assert same(blend, whole)
