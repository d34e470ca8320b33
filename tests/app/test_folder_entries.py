"""The entries of a folder: order, kinds, and what is left out."""

from pathlib import Path

import pytest

from app.library.folder_entries import list_entries


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "listed"
    made.mkdir()
    return made


def names(folder: Path, *patterns: str) -> list[str]:
    return [entry.name for entry in list_entries(folder, patterns)]


def test_folders_come_first_and_numbers_are_in_order(folder: Path) -> None:
    for name in ("b10.png", "B2.png", "a.png", "1.png"):
        (folder / name).write_bytes(b"1234")
    for name in ("z", "Y9", "y10"):
        (folder / name).mkdir()
    assert names(folder, "*.png") == ["Y9", "y10", "z", "1.png", "a.png", "B2.png", "b10.png"]
    assert [entry.size for entry in list_entries(folder, ["*.png"])] == [0, 0, 0, 4, 4, 4, 4]


def test_files_fit_a_pattern_in_any_case_and_without_one_there_are_none(folder: Path) -> None:
    for name in ("a.PNG", "b.jpg", "c.txt", ".hidden.png"):
        (folder / name).touch()
    (folder / "d").mkdir()
    assert names(folder, "*.png", "*.jpg") == ["d", "a.PNG", "b.jpg"]
    assert names(folder, "*") == ["d", "a.PNG", "b.jpg", "c.txt"]
    assert names(folder) == ["d"]


def test_links_are_followed_and_broken_ones_are_left_out(folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder / "link").symlink_to(folder / "folder")
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    assert names(folder, "*.png") == ["folder", "link"]


def test_a_folder_that_is_gone_raises(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list_entries(folder / "gone", ["*"])
