"""The judge: right about drawn pictures, at chance with captions shuffled."""

import random

import pytest
from PIL import Image

from starter.evaluate import ASKED, Score, chance, contact_sheet, score
from starter.judge import Verdict, judge
from starter.scenes import Scene, draw, random_scene

COUNT = 150


@pytest.fixture(scope="module")
def judged() -> tuple[list[Scene], list[Verdict]]:
    rng = random.Random(7)
    scenes = [random_scene(rng, unseen=i % 2 == 0) for i in range(COUNT)]
    return scenes, [judge(draw(scene, rng)) for scene in scenes]


def test_drawn_pictures_are_judged_correctly(judged: tuple[list[Scene], list[Verdict]]) -> None:
    found = score(*judged)
    assert all(getattr(found, name) >= 0.99 for name in ASKED), found


def test_shuffled_captions_are_at_chance(judged: tuple[list[Scene], list[Verdict]]) -> None:
    scenes, verdicts = judged
    shuffled = random.Random(8).sample(scenes, len(scenes))
    found, expected = score(shuffled, verdicts), chance(scenes, verdicts)
    for name in ASKED:
        assert abs(getattr(found, name) - getattr(expected, name)) < 0.12


def test_an_empty_picture_shows_no_object() -> None:
    verdict = judge(Image.new("RGB", (256, 256), (120, 190, 240)))
    assert (verdict.colour, verdict.place) == ("unclear", "unclear")


def test_two_objects_have_an_unclear_place() -> None:
    rng = random.Random(9)
    left, right = (
        draw(Scene("house", "red", "sea", "day", place, "none"), rng) for place in ("left", "right")
    )
    left.paste(right.crop((128, 0, 256, 256)), (128, 0))
    assert judge(left).place == "unclear"


def test_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="256x256"):
        judge(Image.new("RGB", (128, 128)))


def test_contact_sheet_is_tidy() -> None:
    sheet = contact_sheet([Image.new("RGB", (256, 256))] * 24, ["a red house by the sea"] * 24)
    assert sheet.width > sheet.height > 800
    assert Score(1, 1, 1, 1, 1).colour == 1
