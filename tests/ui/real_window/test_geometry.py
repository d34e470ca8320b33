"""All of the window is on a small laptop's screen, its frame included."""

from pathlib import Path

import pytest

from app.form.fields import Form
from app.form.last_session import LastSession, WindowPlace, encode
from tests.ui.real_window.conftest import SCREEN, StartRealWindow
from tests.ui.real_window.person import RealWindow

FRAME = "window.frameGeometry().getRect()"
PLACE = "window.geometry().getRect()"
ROOM = "application.primaryScreen().availableGeometry().getRect()"


def is_inside(window: RealWindow) -> bool:
    left, top, width, height = window.ask(FRAME)
    x, y, wide, high = window.ask(ROOM)
    return left >= x and top >= y and left + width <= x + wide and top + height <= y + high


def test_the_window_fits_a_small_screen_with_its_frame(real_window: RealWindow) -> None:
    # The frame is there: it is what once made the window too tall.
    real_window.wait_for("window.frameGeometry().height() > window.height()")
    real_window.wait_for("not window._framed.isActive()")
    real_window.wait_for("window.frameGeometry().bottom() < 768")
    assert is_inside(real_window)
    bottom = real_window.ask("window.strip.mapToGlobal(window.strip.rect().bottomLeft()).y()")
    assert bottom < SCREEN[1]


@pytest.mark.oracle
def test_a_window_is_where_it_was_and_comes_back_from_a_screen_that_is_gone(
    start_real_window: StartRealWindow, tmp_path: Path
) -> None:
    # As a large screen had it that is no longer there.
    gone = WindowPlace(x=3000, y=1500, width=2500, height=1400)
    (tmp_path / "person" / "state").mkdir(parents=True)
    last = LastSession(form=Form(), place=gone)
    (tmp_path / "person" / "state" / "session.json").write_bytes(encode(last))
    first = start_real_window()
    first.wait_for("window.frameGeometry().height() > window.height()")
    first.wait_for("not window._framed.isActive()")
    assert is_inside(first)
    assert first.ask("window.width() > 1300")
    first.ask("window.setGeometry(90, 60, 900, 600)")
    first.wait_for(f"{PLACE} == (90, 60, 900, 600)")
    first.close()
    again = start_real_window()
    again.wait_for("not window._framed.isActive()")
    assert tuple(again.ask(PLACE)) == (90, 60, 900, 600)
