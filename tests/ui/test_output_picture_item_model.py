"""The strip's list: newest first, patched in place, and lazy however many files there are."""

import builtins
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.background import Background
from app.library.output_pictures import OutputPictures
from tests.app.supervised import PATIENCE_MS
from tests.app.test_output_pictures import put
from ui.item_models.output_picture_item_model import BROKEN_ROLE, PATH_ROLE, OutputPictureItemModel
from ui.thumbnails import ThumbnailStore

ROLES = (
    PATH_ROLE,
    BROKEN_ROLE,
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.DecorationRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
)


class Listed:
    """A folder as a list, watched by Qt's own checker of item models."""

    def __init__(self, folder: Path, bot: QtBot) -> None:
        self.folder = folder
        self.background = Background(1)
        self.store = OutputPictures(folder, self.background)
        self.thumbnails = ThumbnailStore(32)
        self.model = OutputPictureItemModel(self.store, self.thumbnails)
        fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
        self.tester = QAbstractItemModelTester(self.model, fatal)
        self._bot = bot

    def names(self) -> list[str]:
        rows = range(self.model.rowCount())
        return [self.model.index(row).data() for row in rows]

    def refresh(self, *names: str) -> None:
        self.store.refresh()
        self._bot.waitUntil(lambda: self.names() == list(names), timeout=PATIENCE_MS)


@pytest.fixture
def listed(tmp_path: Path, qtbot: QtBot) -> Iterator[Listed]:
    listed = Listed(tmp_path, qtbot)
    yield listed
    listed.background.close()
    listed.thumbnails.close()


def test_new_pictures_go_to_the_front_and_places_are_kept(listed: Listed) -> None:
    put(listed.folder, "1.png", 1)
    listed.refresh("1.png")
    place = QPersistentModelIndex(listed.model.index(0))
    inserted: list[tuple[int, int]] = []

    def note(_parent: QModelIndex, first: int, last: int) -> None:
        inserted.append((first, last))

    listed.model.rowsInserted.connect(note)
    put(listed.folder, "2.png", 2)
    put(listed.folder, "3.png", 3)
    listed.refresh("3.png", "2.png", "1.png")
    assert inserted[-1][0] == 0
    assert (place.row(), place.data()) == (2, "1.png")
    assert listed.model.index_of(str(listed.folder / "2.png")).row() == 1


def test_removed_pictures_leave_the_others_in_place(listed: Listed) -> None:
    for number in range(1, 6):
        put(listed.folder, f"{number}.png", number)
    listed.refresh(*(f"{number}.png" for number in range(5, 0, -1)))
    place = QPersistentModelIndex(listed.model.index(4))
    for number in (2, 4):
        (listed.folder / f"{number}.png").unlink()
    listed.refresh("5.png", "3.png", "1.png")
    assert (place.row(), place.data()) == (2, "1.png")
    assert not listed.model.index_of(str(listed.folder / "4.png")).isValid()


def test_thousands_of_files_are_never_read_by_the_list(
    listed: Listed, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    for number in range(2_500):
        os.close(os.open(listed.folder / f"{number:05}.png", os.O_CREAT | os.O_WRONLY))
    listed.store.refresh()
    qtbot.waitUntil(lambda: listed.model.rowCount() == 2_500, timeout=PATIENCE_MS)
    listed.thumbnails.close()

    here = threading.get_ident()

    def refusing(usual: Callable[..., object]) -> Callable[..., object]:
        def refuse(*arguments: Any, **options: Any) -> object:
            # The watch of the folder looks at it on a thread of its own.
            if threading.get_ident() != here:
                return usual(*arguments, **options)
            pytest.fail(f"a file was touched: {arguments}")

        return refuse

    for module, name in ((builtins, "open"), (Path, "open"), (os, "stat"), (Path, "stat")):
        monkeypatch.setattr(module, name, refusing(getattr(module, name)))
    for row in range(2_500):
        index = listed.model.index(row)
        for role in ROLES:
            listed.model.data(index, role)
    monkeypatch.undo()


def test_nothing_is_asked_beyond_the_end(listed: Listed) -> None:
    put(listed.folder, "1.png", 1)
    listed.refresh("1.png")
    index = listed.model.index(0)
    assert listed.model.rowCount(index) == 0
    assert listed.model.data(QModelIndex()) is None
    assert listed.model.flags(QModelIndex()) == Qt.ItemFlag.NoItemFlags


def test_pictures_are_dragged_away_as_files(listed: Listed) -> None:
    path = put(listed.folder, "a b#%ü.png", 1)
    listed.refresh("a b#%ü.png")
    data = listed.model.mimeData([listed.model.index(0)])
    assert [url.toLocalFile() for url in data.urls()] == [str(path)]
