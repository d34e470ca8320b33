"""New files and their names, where folders take none and other programs hold what was written."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import durable
from engine.durable import (
    put_in_place,
    rename_folder,
    rename_to_free,
    replace_file,
    require_new_files,
)
from tests.windows_files import Scanner, WindowsFiles


def put(part: Path, final: Path) -> Path:
    put_in_place(part, final)
    return final


def publish(part: Path, final: Path) -> Path:
    return rename_to_free(part, iter([final.name]))


@pytest.mark.parametrize("rename", [put, publish])
def test_a_new_file_that_a_scanner_looks_into_gets_its_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    windows_files: WindowsFiles,
    rename: Callable[[Path, Path], Path],
) -> None:
    # Elsewhere a name that must be free is given by a link, and links wait for nobody.
    monkeypatch.setattr(sys, "platform", "win32")
    part, final = tmp_path / "a.part", tmp_path / "a.png"
    part.write_bytes(b"picture")
    Scanner(part, 3, monkeypatch)
    assert rename(part, final).read_bytes() == b"picture"
    assert len(windows_files.refused) == 3
    assert not part.exists()


def test_a_file_that_a_scanner_looks_into_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows_files: WindowsFiles
) -> None:
    path = tmp_path / "state.json"
    replace_file(path, b"old")
    Scanner(path, 2, monkeypatch)
    replace_file(path, b"new", durable=True)
    assert path.read_bytes() == b"new"
    assert len(windows_files.refused) == 2


def test_a_new_folder_with_a_file_that_a_scanner_looks_into_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows_files: WindowsFiles
) -> None:
    folder, final = tmp_path / ".staging", tmp_path / "pack"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "a.dll").write_bytes(b"library")
    Scanner(folder / "lib" / "a.dll", 4, monkeypatch)
    rename_folder(folder, final)
    assert (final / "lib" / "a.dll").read_bytes() == b"library"
    assert len(windows_files.refused) == 4


def test_a_file_that_stays_open_is_given_up_and_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows_files: WindowsFiles
) -> None:
    path = tmp_path / "state.json"
    replace_file(path, b"old")
    monkeypatch.setattr(durable, "_PATIENCE_S", 0)
    scanner = Scanner(path, 100, monkeypatch)
    with pytest.raises(PermissionError):
        replace_file(path, b"new")
    scanner.close()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_nobody_waits_for_a_folder_in_the_place_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, part = tmp_path / "state.json", tmp_path / "part"
    path.mkdir()
    part.write_bytes(b"new")

    def refuse(self: Path, target: Path) -> Path:
        # What Windows says where Linux says IsADirectoryError.
        if target.is_dir():
            raise PermissionError(13, "Access is denied", str(target))
        return rename(self, target)

    def wait(_seconds: float) -> None:
        raise AssertionError("nobody holds it")

    rename = Path.replace
    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(durable.time, "sleep", wait)
    put_in_place(part, path)
    assert path.read_bytes() == b"new"


def test_a_folder_that_takes_no_new_files_is_told_at_the_first_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def deny(path: Path, _flags: int, _mode: int = 0o777) -> int:
        tried.append(path.name)
        raise PermissionError(13, "Access is denied", str(path))

    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(PermissionError):
        require_new_files(tmp_path / "new")
    with pytest.raises(PermissionError):
        replace_file(tmp_path / "new" / "state.json", b"new")
    assert len(set(tried)) == len(tried) == 2


def test_a_folder_that_takes_new_files_is_made_and_stays_empty(tmp_path: Path) -> None:
    require_new_files(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
