"""Whole pictures of the viewer come one after another, whatever one of them meets."""

from pathlib import Path

import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from app.gallery.rows import NO_MARKS, GalleryRow
from tests.app.supervised import PATIENCE_MS
from ui.gallery import picture_loader
from ui.gallery.picture_loader import LoadedPicture, PictureLoader
from ui.picture_facts import Fact, read_facts


def row(path: str) -> GalleryRow:
    return GalleryRow(
        id=1, path=path, modified_ns=1, size=1, width=8, height=8, identity=None, prompt="",
        negative="", model="", loras=(), seed=None, tool="", marks=NO_MARKS, trouble=None,
    )  # fmt: skip


def test_a_picture_that_meets_a_bug_does_not_hold_up_the_next(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd, plain = (str(tmp_path / name) for name in ("odd.png", "plain.png"))
    for path in (odd, plain):
        Image.new("RGB", (8, 8)).save(path)

    def read(path: str) -> tuple[Fact, ...]:
        if path == odd:
            raise KeyError(path)
        return read_facts(path)

    monkeypatch.setattr(picture_loader, "read_facts", read)
    loader, told, shown = PictureLoader(), list[object](), list[LoadedPicture]()
    loader.failed.connect(told.append)
    loader.want(row(odd), shown.append)
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    loader.want(row(plain), shown.append)
    qtbot.waitUntil(lambda: bool(shown), timeout=PATIENCE_MS)
    assert [picture.path for picture in shown] == [plain]
    loader.close()
