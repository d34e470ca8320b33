"""The canvas in a real window: zoomed by the wheel, painted on, grown, and kept through a kill."""

from pathlib import Path

import pytest
from PIL import Image

from tests.ui.real_window.conftest import StartRealWindow
from tests.ui.real_window.person import Point, RealWindow

CANVAS = "window.canvas"
PAINT = "window.canvas.paint"
VIEW = f"{PAINT}.view"
WRITER = "session.memory._writer"
HAS_MASK = "len(state.inputs) == 2"


@pytest.fixture
def photo(tmp_path: Path) -> str:
    path = tmp_path / "photo.png"
    Image.new("RGB", (256, 256), "teal").save(path)
    return str(path)


def paint_on(window: RealWindow, photo: str) -> Point:
    """Start from a picture and paint on it; return the middle of the view."""
    window.ask(f"session.pictures.start_from({photo!r}, 256, 256)")
    window.key("ctrl+m")
    window.wait_for(f"{PAINT} is not None and not {PAINT}.layer.mask.isNull()")
    window.wait_for(f"{VIEW}.hasFocus()")
    return window.place(VIEW)


def stroke(window: RealWindow, middle: Point) -> None:
    x, y = middle
    window.drag((x - 60, y), (x + 60, y + 20))
    window.let_go()


def test_a_stroke_outlives_escape_and_is_undone_and_redone(
    real_window: RealWindow, photo: str
) -> None:
    middle = paint_on(real_window, photo)
    stroke(real_window, middle)
    real_window.wait_for(HAS_MASK)
    real_window.key("ctrl+z")
    real_window.wait_for("len(state.inputs) == 1")
    real_window.key("ctrl+shift+z")
    real_window.wait_for(HAS_MASK)
    real_window.key("Escape")
    real_window.wait_for("not session.view.painting")
    assert real_window.ask(HAS_MASK)


def test_the_prompt_is_typed_while_a_mask_is_painted(real_window: RealWindow, photo: str) -> None:
    middle = paint_on(real_window, photo)
    stroke(real_window, middle)
    real_window.click("form.prompt")
    real_window.write("a boat [b]")
    real_window.wait_for("state.prompt == 'a boat [b]'")
    assert real_window.ask("session.view.painting")


def test_the_wheel_zooms_and_an_edge_is_dragged(real_window: RealWindow, photo: str) -> None:
    middle = paint_on(real_window, photo)
    real_window.wheel(middle, -2)
    real_window.wait_for(f"not {VIEW}.is_fitted")
    real_window.key("ctrl+0")
    real_window.wait_for(f"{VIEW}.is_fitted")
    real_window.key("g")
    x, y = real_window.ask(
        f"{VIEW}.mapToGlobal({VIEW}.canvas().center().toPoint() +"
        f" QtCore.QPoint(int({VIEW}.canvas().width() / 2), 0)).toTuple()"
    )
    real_window.drag((x, y), (x + 70, y))
    real_window.let_go()
    real_window.wait_for("state.mask_options.expand[2] > 0")
    real_window.key("ctrl+z")
    real_window.wait_for("not state.mask_options.expands")


@pytest.mark.oracle
def test_a_mask_is_there_after_a_kill(start_real_window: StartRealWindow, photo: str) -> None:
    window = start_real_window()
    stroke(window, paint_on(window, photo))
    window.wait_for(HAS_MASK)
    window.wait_for(f"not {WRITER}._soon.isActive() and not {WRITER}._writing")
    window.kill()
    again = start_real_window()
    again.wait_for(HAS_MASK)
    again.key("ctrl+m")
    again.wait_for(f"{PAINT} is not None and not {PAINT}.layer.mask.isNull()")
    again.wait_for(f"{PAINT}.layer.mask.pixelColor(128, 128).red() == 255")
