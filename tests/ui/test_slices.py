"""Work in slices leaves the window its turns; the pages' code is read that way."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from tests.ui.conftest import MakeDesk
from ui.slices import Slices

ROOT = Path(__file__).parents[2]
# The most modules that one piece may bring.
MOST = 12
READ = """
import sys
import engine.metadata.readers, ui.main_window
from ui.read_ahead import read_pages
known, pieces = set(sys.modules), []
for _ in read_pages():
    pieces.append(len(sys.modules.keys() - known))
    known = set(sys.modules)
import ui.gallery.page, ui.models.page, ui.settings.page
import ui.dialogs.presets_dialog, ui.dialogs.runtimes_dialog, ui.dialogs.lora_dialog
print(max(pieces), sorted(sys.modules.keys() - known))
"""


def test_other_events_are_handled_between_slices(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.slices._SLICE_S", 0.0)
    parent, told = QObject(), list[str]()
    timer = QTimer(parent, interval=0)
    timer.timeout.connect(lambda: told.append("turn"))
    timer.start()

    def work() -> Iterator[None]:
        for _ in range(3):
            told.append("piece")
            yield
        told.append("over")

    Slices(work(), parent)
    assert told == []
    qtbot.waitUntil(lambda: "over" in told)
    pieces = [at for at, event in enumerate(told) if event == "piece"]
    assert len(pieces) == 3
    assert all(after > before + 1 for before, after in pairwise(pieces))


def test_work_can_be_finished_at_once(qtbot: QtBot) -> None:
    parent, done = QObject(), list[int]()
    slices = Slices((done.append(number) for number in range(5)), parent)
    slices.finish()
    assert done == [0, 1, 2, 3, 4]
    qtbot.wait(5)
    assert len(done) == 5


def test_work_can_be_stopped(qtbot: QtBot) -> None:
    parent, done = QObject(), list[int]()
    slices = Slices((done.append(number) for number in range(5)), parent)
    slices.stop()
    qtbot.wait(5)
    assert done == []
    assert parent.children() == []


def test_work_that_is_over_leaves_nothing_behind(qtbot: QtBot) -> None:
    parent = QObject()
    slices = Slices(iter([1, 2]), parent)
    qtbot.waitUntil(lambda: parent.children() == [])
    # Who still holds it may say so.
    slices.finish()
    slices.stop()


def test_the_code_of_the_pages_is_read_in_small_pieces() -> None:
    command = [sys.executable, "-c", READ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    most, rest = done.stdout.split(maxsplit=1)
    assert int(most) <= MOST
    assert rest.strip() == "[]"


def test_a_window_that_was_shown_reads_the_code_of_its_pages(
    make_desk: MakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []

    def noted() -> Iterator[None]:
        read.append(True)
        yield

    monkeypatch.setattr("ui.read_ahead.read_pages", noted)
    monkeypatch.setattr("ui.main_window._SETTLED_MS", 0)
    make_desk()
    qtbot.waitUntil(lambda: read == [True])
