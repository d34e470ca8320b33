"""Facts about several pictures together."""

import msgspec
import pytest

from app.gallery.rows import NO_MARKS, GalleryRow, Marks
from ui.gallery.chosen_facts import chosen_facts
from ui.gallery.labels import hover_lines, spoken

ROW = GalleryRow(
    id=1,
    path="/pictures/1.png",
    modified_ns=1_763_000_000_000_000_000,
    size=1_000_000,
    width=512,
    height=768,
    identity=None,
    prompt="a red house",
    negative="",
    model="dreamer",
    loras=("ink",),
    seed=7,
    tool="AUTOMATIC1111",
    marks=NO_MARKS,
    trouble=None,
)

pytestmark = pytest.mark.usefixtures("qapp")


def told(*rows: GalleryRow, count: int = 0) -> dict[str, str]:
    return {fact.label: fact.text for fact in chosen_facts(rows, count or len(rows))}


def test_facts_that_pictures_share_are_told_once() -> None:
    facts = told(ROW, ROW)
    assert facts["Prompt"] == "a red house"
    assert (facts["Model"], facts["LoRAs"], facts["Seed"]) == ("dreamer", "ink", "7")
    assert facts["Together"] == "2 pictures · 2 MB"
    assert "Different" not in facts
    assert "Rating" not in facts


def test_settings_that_differ_are_named_and_counted() -> None:
    starred = Marks(rating=3)
    other = msgspec.structs.replace(ROW, model="mine", seed=8, width=768, marks=starred)
    facts = told(ROW, ROW, other)
    assert facts["Model"] == "dreamer (2)\nmine (1)"
    assert facts["Rating"] == "no stars (2)\n3 stars (1)"
    assert facts["Different"] == "Seed, Model, Size"
    assert "Seed" not in facts


def test_the_many_values_of_a_setting_are_cut() -> None:
    rows = [msgspec.structs.replace(ROW, model=f"m{number}") for number in range(7)]
    lines = told(*rows)["Model"].splitlines()
    assert len(lines) == 5
    assert lines[-1] == "and 3 more"


def test_days_are_told_from_the_first_to_the_last() -> None:
    later = msgspec.structs.replace(ROW, modified_ns=ROW.modified_ns + 10 * 86_400 * 10**9)
    assert " to " in told(later, ROW)["Saved"]
    assert " to " not in told(ROW, ROW)["Saved"]


def test_more_pictures_than_were_looked_at_are_told_of() -> None:
    assert told(ROW, count=734)["Together"] == "1 picture · 1 MB of 734 that are chosen"


def test_the_starter_is_called_by_its_title() -> None:
    own = msgspec.structs.replace(ROW, model="safelight-starter", tool="Safelight")
    other = msgspec.structs.replace(own, tool="ComfyUI")
    assert "Safelight starter" in spoken(own)
    assert "Safelight starter" in hover_lines(own)[1]
    assert told(own, own)["Model"] == "Safelight starter"
    assert told(other, other)["Model"] == "safelight-starter"
