"""New files and their names, where folders take none."""

import os
from pathlib import Path

import pytest

from engine.durable import replace_file, require_new_files


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
