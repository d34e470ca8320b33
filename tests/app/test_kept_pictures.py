"""Pictures that were kept elsewhere come into their folder, and over no other file."""

import os
from pathlib import Path

import pytest

from app.library.kept_pictures import move_picture


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "kept" / "00001-5-a-house.png"
    path.parent.mkdir()
    path.write_bytes(b"a picture")
    os.utime(path, ns=(10**18, 10**18))
    return path


def test_a_picture_is_moved_with_its_name_and_time(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    moved = move_picture(kept, folder)
    assert list(folder.iterdir()) == [moved]
    assert moved.name == "00001-5-a-house.png"
    assert moved.read_bytes() == b"a picture"
    assert moved.stat().st_mtime_ns == 10**18
    assert not kept.exists()


def test_another_file_of_its_name_stays(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    other = folder / kept.name
    other.write_bytes(b"another")
    (folder / "00001-5-a-house-2.png").write_bytes(b"a third")
    assert move_picture(kept, folder).name == "00001-5-a-house-3.png"
    assert other.read_bytes() == b"another"


def test_where_it_cannot_be_written_it_stays(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.library.copied_files.sync_file", full)
    with pytest.raises(OSError, match="No space"):
        move_picture(kept, folder)
    assert kept.read_bytes() == b"a picture"
    assert list(folder.iterdir()) == []
