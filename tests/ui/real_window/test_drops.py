"""A drag that is a slip does nothing; a drop does what its card says."""

from pathlib import Path

import pytest
from PIL import Image

from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.metadata.records import PLAIN
from tests.ui.real_window.person import Point, RealWindow

UNDO = "window.notices.cards[-1].remedies['undo_change']"
PROMPT = "what I was writing"


@pytest.fixture
def thumbnail(real_window: RealWindow, tmp_path: Path) -> Point:
    """A picture in the strip, and a prompt in the form; where on the screen the picture is."""
    folder = real_window.paths.output
    folder.mkdir(exist_ok=True)
    plain = tmp_path / "plain.png"
    Image.new("RGB", (256, 256), "teal").save(plain)
    chunks = record_chunks(PLAIN)
    (folder / "one.png").write_bytes(insert_text_chunks(plain.read_bytes(), chunks))
    real_window.ask("session.output_pictures.refresh()")
    real_window.wait_for("window.strip.pictures.rowCount() == 1")
    real_window.ask(f"setattr(state, 'prompt', {PROMPT!r})")
    rect = "window.strip.visualRect(window.strip.pictures.index(0))"
    x, y = real_window.ask(f"window.strip.viewport().mapToGlobal({rect}.center()).toTuple()")
    return x, y


def test_a_slip_on_a_thumbnail_leaves_the_form_as_it_is(
    real_window: RealWindow, thumbnail: Point
) -> None:
    x, y = thumbnail
    before = real_window.ask("state.build_request()")
    real_window.drag(thumbnail, (x + 14, y + 2), (x + 28, y + 3))
    real_window.let_go()
    # Whatever comes of it has come when the strip answers the mouse again.
    real_window.click(thumbnail)
    real_window.wait_for("session.view.path")
    real_window.wait_for("session.background._pool.waitForDone()")
    assert real_window.ask("state.build_request()") == before
    assert not real_window.ask("window.drops.overlay.isVisible()")


@pytest.mark.parametrize("ended_by", ["outside", "Escape"])
def test_a_drag_over_the_window_that_is_given_up_does_nothing(
    real_window: RealWindow, thumbnail: Point, ended_by: str
) -> None:
    before = real_window.ask("state.build_request()")
    card = real_window.place("window")
    outside = (card[0], card[1] - 200)
    real_window.drag(thumbnail, (thumbnail[0], thumbnail[1] - 200), card, outside)
    real_window.wait_for("window.drops.overlay.isVisible()")
    if ended_by == "Escape":
        real_window.drag_on(card)
        real_window.key("Escape")
    real_window.let_go()
    real_window.wait_for("not window.drops.overlay.isVisible()")
    real_window.wait_for("session.background._pool.waitForDone()")
    assert real_window.ask("state.build_request()") == before


def test_a_picture_of_the_strip_can_be_started_from_and_that_undone(
    real_window: RealWindow, thumbnail: Point
) -> None:
    before = real_window.ask("state.build_request()")
    # The starter follows no other pictures.
    real_window.wait_for("'second_passes' in state.suggestions.features.options")
    outside = real_window.place("window")
    real_window.drag(thumbnail, (thumbnail[0], thumbnail[1] - 200), outside)
    real_window.wait_for(
        "len(window.drops.overlay.cards) == 1 and window.drops.overlay.isVisible()"
    )
    real_window.drag_on(real_window.place("window.drops.overlay.cards[0]"))
    real_window.let_go()
    real_window.wait_for("len(state.inputs) == 1")
    assert real_window.ask("state.prompt") == PROMPT
    real_window.wait_for(f"{UNDO}.isVisible()")
    real_window.click(UNDO)
    real_window.wait_for("not state.inputs")
    assert real_window.ask("state.build_request()") == before


@pytest.fixture
def tile(real_window: RealWindow, thumbnail: Point) -> Point:
    """The Gallery with the picture of the strip; where on the screen its tile is."""
    real_window.click(thumbnail)
    real_window.click("window.places.rail.buttons['gallery']")
    grid = "window.places.page.browser.grid"
    real_window.wait_for(f"window.places.place == 'gallery' and {grid}.model().rowCount() == 1")
    rect = f"{grid}.visualRect({grid}.model().index(0))"
    x, y = real_window.ask(f"{grid}.viewport().mapToGlobal({rect}.center()).toTuple()")
    return x, y


def test_a_picture_of_the_gallery_is_dragged_through_create_onto_a_card(
    real_window: RealWindow, tile: Point, tmp_path: Path
) -> None:
    real_window.ask(f"session.control.add({str(tmp_path / 'plain.png')!r})")
    x, y = real_window.place("window.places.rail.buttons['create']")
    real_window.drag(tile, (x, y), (x + 2, y))
    real_window.wait_for("window.drops.marks.words == 'Open'")
    # The hand holds still until the page opens.
    real_window.wait_for("window.places.place == 'create' and form.isVisible()")
    card = "form.controls.cards[0].name"
    real_window.ask(f"form.ensureWidgetVisible({card}, 0, 60)")
    real_window.drag_on(real_window.place(card))
    real_window.wait_for("window.drops.marks.words == 'Replace the picture'")
    real_window.let_go()
    real_window.wait_for("state.controls[0].image.endswith('one.png')")
    real_window.ask("session.control.remove(0)")


def test_a_slip_on_a_tile_of_the_gallery_does_nothing(real_window: RealWindow, tile: Point) -> None:
    x, y = tile
    before = real_window.ask("state.build_request()")
    real_window.drag(tile, (x + 14, y + 2), (x + 28, y + 3))
    assert not real_window.ask("window.drops.overlay.isVisible()")
    real_window.let_go()
    real_window.click(tile)
    real_window.wait_for("session.background._pool.waitForDone()")
    assert real_window.ask("state.build_request()") == before
    assert real_window.ask("window.places.place") == "gallery"
    real_window.click("window.places.rail.buttons['create']")
