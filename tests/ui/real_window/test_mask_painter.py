"""A painted mask is kept, however the mask dialog is closed, and can be undone."""

from pathlib import Path

import pytest
from PIL import Image

from tests.ui.real_window.conftest import SCREEN
from tests.ui.real_window.person import RealWindow

DIALOG = "window.findChildren(QtWidgets.QDialog)[0]"
UNDO = "window.notices.remedies['undo_change']"
HAS_MASK = "len(state.inputs) == 2"


@pytest.mark.parametrize("key", ["Escape", "alt+F4"])
def test_a_painting_outlives_the_key_that_closes_its_window(
    real_window: RealWindow, tmp_path: Path, key: str
) -> None:
    Image.new("RGB", (256, 256), "teal").save(tmp_path / "photo.png")
    real_window.ask(f"session.pictures.start_from({str(tmp_path / 'photo.png')!r}, 256, 256)")
    real_window.ask("form.inputs.edit_mask()")
    real_window.wait_for("bool(window.findChildren(QtWidgets.QDialog))")
    real_window.wait_for(f"{DIALOG}.isActiveWindow()")
    real_window.wait_for(f"{DIALOG}.frameGeometry().height() <= {SCREEN[1]}")
    x, y = real_window.place(f"{DIALOG}.canvas")
    real_window.drag((x - 60, y), (x + 60, y + 20))
    real_window.let_go()
    real_window.wait_for(f"{DIALOG}.canvas.can_undo")
    real_window.key(key)
    real_window.wait_for(HAS_MASK)
    real_window.wait_for(f"{UNDO}.isVisible()")
    real_window.wait_for("window.isActiveWindow()")
    real_window.click(UNDO)
    real_window.wait_for("len(state.inputs) == 1")
    # The undoing is undone as well.
    real_window.click(UNDO)
    real_window.wait_for(HAS_MASK)
