"""Screens that shrink or go while a picture is made, on a display with room for two."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.known_hardware import write_verdicts
from tests.ui.real_window.display import display, missing_programs
from tests.ui.real_window.person import ROOT, RealWindow

INSIDE = (
    "not window._framed.isActive() and"
    " application.primaryScreen().availableGeometry().contains(window.frameGeometry())"
)
# So long that the screens change meanwhile.
LONG = """[
    setattr(state, name, value)
    for name, value in (("prompt", "a mill"), ("steps", 60), ("width", 64), ("height", 64))
] and session.jobs.generate()"""
STATES = "[job.state.value for job in session.queue.jobs]"


class Display:
    """An X display, whose screens are changed as by a hand at its plugs."""

    def __init__(self, name: str) -> None:
        self.name = name

    def split(self) -> None:
        """Make two screens of the one, side by side."""
        # Only the first takes the output, and so the place of the screen that was there.
        self._run("--setmonitor", "left", "1300/330x800/200+0+0", "screen")
        self._run("--setmonitor", "right", "1300/330x800/200+1300+0", "none")

    def unplug_right(self) -> None:
        self._run("--delmonitor", "right")

    def shrink(self) -> None:
        """Give the only screen a mode of 1000 x 600."""
        timing = ["60", "1000", "1010", "1020", "1100", "600", "610", "620", "650"]
        self._run("--newmode", "small", *timing)
        self._run("--addmode", "screen", "small")
        self._run("--output", "screen", "--mode", "small")

    def _run(self, *arguments: str) -> None:
        command = ["xrandr", "--display", self.name, *arguments]
        subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def screens() -> Iterator[Display]:
    """A display with one wide screen."""
    missing = missing_programs("xrandr")
    if missing:
        pytest.skip(f"a real window needs {', '.join(missing)}")
    with display(2600, 800) as name:
        yield Display(name)


def start(screens: Display, folder: Path) -> RealWindow:
    """Start a window, for which what is on the right screen is drawn larger."""
    write_verdicts(folder / "cache")
    scales = {"QT_SCREEN_SCALE_FACTORS": "left=1;right=1.25", "PYTHONPATH": str(ROOT)}
    return RealWindow(folder, screens.name, variables=scales)


@pytest.mark.oracle
def test_a_picture_is_made_while_the_windows_screen_is_unplugged(
    screens: Display, tmp_path: Path
) -> None:
    screens.split()
    window = start(screens, tmp_path / "person")
    try:
        window.wait_for("not window._framed.isActive()")
        window.ask("window.setGeometry(1340, 60, 900, 500)")
        window.wait_for("window.devicePixelRatioF() == 1.25")
        window.ask(LONG)
        window.wait_for(f"{STATES} == ['running'] and session.progress.done > 0")
        screens.unplug_right()
        window.wait_for("[screen.name() for screen in application.screens()] == ['left']")
        window.wait_for(f"window.devicePixelRatioF() == 1 and {INSIDE}")
        window.wait_for(f"{STATES} == ['done']")
        # As large as it is now it is at the next start, and not where no screen is.
        size = window.ask("window.size().toTuple()")
        window.close()
        window = start(screens, tmp_path / "person")
        window.wait_for(INSIDE)
        assert window.ask("window.size().toTuple()") == size
    finally:
        window.kill()


@pytest.mark.oracle
def test_a_window_comes_into_its_screen_that_shrinks(screens: Display, tmp_path: Path) -> None:
    window = start(screens, tmp_path / "person")
    try:
        window.wait_for("not window._framed.isActive()")
        window.ask("window.setGeometry(1500, 100, 950, 550)")
        window.wait_for("window.x() > 1400")
        screens.shrink()
        window.wait_for("application.primaryScreen().size().toTuple() == (1000, 600)")
        window.wait_for(INSIDE)
    finally:
        window.kill()
