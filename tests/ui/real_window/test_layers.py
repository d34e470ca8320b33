"""Control layers by a real mouse: dropped from the strip, dragged, looked at, kept after a kill."""

import time
from pathlib import Path

import pytest
from PIL import Image

from tests.ui.real_window.conftest import StartRealWindow
from tests.ui.real_window.person import RealWindow

PANEL = "form.controls"
CARD = f"{PANEL}.cards[0]"
SIDE = 256


@pytest.fixture
def window(start_real_window: StartRealWindow, tmp_path: Path) -> RealWindow:
    """A window whose form follows two pictures by their edges."""
    made = start_real_window()
    for name in ("first", "second"):
        picture = Image.new("RGB", (SIDE, SIDE), "white")
        picture.paste("black", (64, 64, 192, 192))
        picture.save(tmp_path / f"{name}.png")
        made.ask(f"session.control.add({str(tmp_path / f'{name}.png')!r})")
    made.wait_for(f"len({PANEL}.cards) == 2 and {CARD}.isVisible()")
    return made


def images(window: RealWindow) -> list[str]:
    return [Path(path).stem for path in window.ask("[one.image for one in state.controls]")]


@pytest.mark.oracle
def test_a_map_is_made_and_laid_over_the_canvas(window: RealWindow) -> None:
    window.wait_for("session.engine.state.value == 'ready'")
    window.ask(f"form.ensureWidgetVisible({CARD}.preprocessor, 0, 60)")
    window.click(f"{CARD}.preprocessor")
    window.wait_for(f"{CARD}.preprocessor.popup is not None")
    window.write("thin white")
    window.key("Return")
    window.wait_for("type(state.controls[0].preprocessor).__name__ == 'CannyOptions'")
    window.wait_for(f"not {CARD}.map.image.isNull() and {CARD}.map.words == ''")
    # White lines on black, made by the real engine.
    window.wait_for(f"{CARD}.map.image.pixelColor(1, 1).lightness() == 0")
    window.ask(f"form.ensureWidgetVisible({CARD}.map, 0, 60)")
    window.click(f"{CARD}.map")
    window.wait_for("session.view.map_over == 0 and window.canvas.view.isVisible()")
    window.click("window.canvas.corner.map")
    window.wait_for("session.view.map_over is None")


def test_a_range_is_dragged_and_a_card_moved(window: RealWindow) -> None:
    window.ask(f"form.ensureWidgetVisible({CARD}.range, 0, 60)")
    start, middle = window.place(f"{CARD}.range.bar.start"), window.place(f"{CARD}.range.bar")
    window.drag(start, middle)
    window.let_go()
    window.wait_for("0.35 < state.controls[0].range[0] < 0.65")
    assert window.ask("state.controls[0].range[1]") == 1.0
    window.ask(f"form.ensureWidgetVisible({CARD}.grip, 0, 60)")
    window.click(f"{CARD}.grip")
    window.key("Down")
    window.wait_for("state.controls[1].range[0] > 0")
    assert images(window) == ["second", "first"]


@pytest.mark.oracle
def test_layers_are_there_again_after_a_kill(
    window: RealWindow, start_real_window: StartRealWindow
) -> None:
    window.ask("session.control.change(1, weight=0.35)")
    kept = window.paths.state / "session.json"
    deadline = time.monotonic() + 60
    while not (kept.exists() and b"0.35" in kept.read_bytes()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    window.kill()
    again = start_real_window()
    assert again.ask("[one.weight for one in state.controls]") == [1.0, 0.35]
    assert again.ask(f"len({PANEL}.cards)") == 2
