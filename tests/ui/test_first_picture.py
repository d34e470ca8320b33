"""From the first start to the first picture in two clicks, with the real engine and the starter."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.display import prepare_display
from app.engine.process import EngineState
from app.form.fields import STARTER_PROMPT
from app.queue.jobs import JobState
from engine.metadata.readers import read_request
from tests.ui.conftest import Desk, MakeDesk
from ui.item_models.output_picture_item_model import PATH_ROLE

ON_XVFB = "SAFELIGHT_TEST_ON_XVFB"
# The engine opens, prepares and runs the starter; on two busy cores that takes a while.
PICTURE_MS = 240_000


class Clicks(QObject):
    """Counts every press of a mouse button in the application."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        if watched.isWidgetType() and event.type() is QEvent.Type.MouseButtonPress:
            self.count += 1
        return False


def wait_for_rows(desk: Desk, bot: QtBot, count: int) -> None:
    bot.waitUntil(lambda: desk.window.strip.pictures.rowCount() == count, timeout=PICTURE_MS)


def test_the_first_picture_takes_two_clicks(
    make_desk: MakeDesk, qtbot: QtBot, qapp: QApplication
) -> None:
    desk, clicks = make_desk(real=True), Clicks()
    window = desk.window
    qapp.installEventFilter(clicks)
    # The window is there, with a prompt, before there is an engine.
    assert desk.session.engine.state is not EngineState.READY
    assert window.form.prompt.toPlainText() == STARTER_PROMPT
    desk.session.start()
    QTest.mouseClick(window.dock.generate, Qt.MouseButton.LeftButton)
    wait_for_rows(desk, qtbot, 1)
    qapp.removeEventFilter(clicks)
    assert 1 <= clicks.count <= 2
    path = window.strip.pictures.index(0).data(PATH_ROLE)
    assert desk.queue.jobs[0].state in (JobState.DONE, JobState.RUNNING)
    assert read_request(Path(path)).request.prompt == STARTER_PROMPT
    # It is shown large without another click.
    qtbot.waitUntil(lambda: window.info.title.text() == STARTER_PROMPT, timeout=PICTURE_MS)
    assert window.canvas.view.image is not None
    assert window.canvas.view.is_fitted


def test_type_press_generate_a_row_appears(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(real=True)
    window = desk.window
    previews: list[object] = []
    desk.session.progress.preview_changed.connect(previews.append)
    desk.session.start()
    window.form.prompt.selectAll()
    QTest.keyClicks(window.form.prompt, "a blue boat, sunset")
    QTest.keyClick(window.form.prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait_for_rows(desk, qtbot, 1)
    path = window.strip.pictures.index(0).data(PATH_ROLE)
    request = read_request(Path(path)).request
    assert request.prompt == "a blue boat, sunset"
    assert (request.width, request.height) == (256, 256)
    # Not dropped: nobody reads slowly here.
    assert previews


# Beside the tests of the real window, which a window manager puts in its place.
@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")
@pytest.mark.skipif(ON_XVFB in os.environ, reason="this is the real window already")
def test_the_same_in_a_real_window() -> None:
    server, display = _start_xvfb()
    try:
        environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", ON_XVFB: "1"}
        if (problem := prepare_display(dict(environment))) is not None:
            pytest.skip(problem.message)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )
    finally:
        server.terminate()
        server.wait()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def _start_xvfb() -> tuple["subprocess.Popen[bytes]", str]:
    """An X server of its own, and the display it chose."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1440x900x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        return server, f":{answer.readline().strip()}"
