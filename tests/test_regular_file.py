"""Files of ours that another program holds for a moment are waited for, and not given up."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.form.presets import FILE as PRESETS
from app.form.presets import PresetStore
from app.gallery.marks import FILE as MARKS
from app.gallery.marks import MarkStore
from app.gallery.rows import Marks
from app.settings.reading import FILE as SETTINGS
from app.settings.reading import read_settings
from engine.api.values import ErrorInfo
from engine.regular_file import open_when_free, read_when_free
from tests.app.held_file import Held

IDENTITY = b"i" * 16


def untold(error: ErrorInfo) -> None:
    raise AssertionError(error)


def stars(folder: Path) -> object:
    store = MarkStore(folder, untold)
    found = store.of(IDENTITY), store.problem
    store.close()
    return found


def presets(folder: Path) -> object:
    store = PresetStore(folder)
    return store.presets, store.problem


def settings(folder: Path) -> object:
    return read_settings(folder / SETTINGS).settings.quality


@pytest.mark.parametrize(
    ("name", "read"), [(MARKS, stars), (PRESETS, presets), (SETTINGS, settings)]
)
def test_a_file_that_is_held_for_a_moment_is_read_and_stays(
    tmp_path: Path,
    qapp: object,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    read: Callable[[Path], object],
) -> None:
    store = MarkStore(tmp_path, untold)
    store.set({IDENTITY: Marks(5)})
    store.close()
    (tmp_path / PRESETS).write_bytes(msgspec.json.encode({"presets": [], "version": 1}))
    (tmp_path / SETTINGS).write_text("quality = 77\n")
    before, content = read(tmp_path), (tmp_path / name).read_bytes()
    Held(2, monkeypatch)
    assert read(tmp_path) == before
    assert (tmp_path / name).read_bytes() == content
    assert {path.name for path in tmp_path.iterdir()} == {MARKS, PRESETS, SETTINGS}


def test_a_file_that_is_held_on_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    held = Held(100, monkeypatch)
    with pytest.raises(PermissionError):
        open_when_free(path)
    assert held.left > 90
    held.left = 1
    assert read_when_free(path, 3) == b"abc"
    with pytest.raises(OSError, match="large"):
        read_when_free(path, 2)


def test_nobody_waits_for_a_file_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.touch()
    held = Held(100, monkeypatch)

    def may_not(_path: Path, _mode: int) -> bool:
        return False

    monkeypatch.setattr(os, "access", may_not)
    with pytest.raises(PermissionError):
        open_when_free(path)
    assert held.left == 99
