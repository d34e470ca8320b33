"""Prompts that change, are composed, blended or weighed down, through the whole pipeline."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.cpu import CpuBackend
from engine.api.values import ConventionName, SamplerName
from tests.pipeline.jobs import a_request, psnr, run

CPU = CpuBackend()
A1111, INVOKE = ConventionName.A1111, ConventionName.INVOKE


def picture(tiny: Path, prompt: str, **changes: object) -> NDArray[np.uint8]:
    wanted: dict[str, object] = {"convention": A1111, "steps": 4, "sampler": SamplerName.EULER}
    return run(a_request(tiny, prompt=prompt, **(wanted | changes)), CPU).pixels[0]


def same(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> bool:
    return psnr(first, second) > 60


def test_a_change_takes_effect_at_its_step(tiny: Path) -> None:
    changing = picture(tiny, "[a red horse:a blue house:1]")
    assert not same(changing, picture(tiny, "a red horse"))
    assert not same(changing, picture(tiny, "a blue house"))
    # In effect up to evaluation 3, which is the last of four steps.
    assert same(picture(tiny, "[a red horse:a blue house:3]"), picture(tiny, "a red horse"))
    heun = picture(tiny, "[a red horse:a blue house:3]", sampler=SamplerName.HEUN)
    assert not same(heun, picture(tiny, "a red horse", sampler=SamplerName.HEUN))


def test_a_prompt_composed_of_halves_of_itself_is_itself(tiny: Path) -> None:
    whole = picture(tiny, "a red horse")
    assert same(picture(tiny, "a red horse :0.5 AND a red horse :0.5"), whole)
    assert not same(picture(tiny, "a red horse AND a blue house"), whole)


@pytest.mark.parametrize("guidance", [1.0, 5.0])
def test_prompts_of_unequal_length_go_together(tiny: Path, guidance: float) -> None:
    """An unpadded prompt is the same however often it has to be repeated."""
    prompt, negative = "a red horse BREAK blue", "x BREAK y BREAK z"
    changes: dict[str, object] = {"negative_prompt": negative, "guidance": guidance}
    made = picture(tiny, prompt, **changes)
    twice = picture(tiny, "a red horse BREAK blue BREAK a red horse BREAK blue", **changes)
    assert same(made, twice)


def test_words_that_compel_weighs_down_are_not_seen(tiny: Path) -> None:
    whole = picture(tiny, "a red horse", convention=INVOKE)
    down = picture(tiny, "a (red)0.3 horse", convention=INVOKE)
    assert not same(down, whole)
    assert same(picture(tiny, "a (red)0.99999 horse", convention=INVOKE), whole)
    blend = picture(tiny, '("a red horse", "a red horse").blend(0.3, 0.7)', convention=INVOKE)
    assert same(blend, whole)
