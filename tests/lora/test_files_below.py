"""LoRA files below folders, with what lies beside them."""

import os
import sys
from pathlib import Path

import pytest

from engine.lora.files_below import ListedFile, list_below, list_one


def listed(*folders: Path) -> list[ListedFile]:
    return [file for folder in list_below(folders) for file in folder.files]


def put(path: Path, content: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_files_of_all_subfolders_are_listed_by_their_paths_below_the_folder(tmp_path: Path) -> None:
    for name in ("b.safetensors", "styles/ink.SAFETENSORS", "a.pt", "notes.txt", ".git/c.pt"):
        put(tmp_path / name)
    put(tmp_path / "old" / "pytorch_lora_weights.bin")
    names = ["a", "b", "old/pytorch_lora_weights", "styles/ink"]
    assert [file.name for file in listed(tmp_path)] == names


def test_a_missing_folder_is_left_out_and_one_that_is_named_twice_is_listed_once(
    tmp_path: Path,
) -> None:
    put(tmp_path / "below" / "a.safetensors")
    folders = [
        folder.path for folder in list_below([tmp_path / "no", tmp_path, tmp_path / "below"])
    ]
    assert folders == [str(tmp_path), str(tmp_path / "below")]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    put(tmp_path / "a.safetensors")
    (tmp_path / "again").symlink_to(tmp_path)
    assert len(listed(tmp_path)) == 1


def test_the_preview_that_tools_save_comes_before_other_pictures(tmp_path: Path) -> None:
    file = put(tmp_path / "Ink.v2.safetensors")
    assert listed(tmp_path)[0].preview == ""
    for name in ("ink.v2.jpg", "Ink.v2.png", "Ink.v2.preview.png"):
        picture = put(tmp_path / name)
        os.utime(picture, ns=(1, 7))
        entry = list_one(file)
        assert entry is not None
        assert (entry.preview, entry.preview_modified_ns) == (str(picture), 7)


def test_a_change_of_a_file_or_of_a_card_beside_it_shows(tmp_path: Path) -> None:
    file = put(tmp_path / "a.safetensors")
    seen = [list_one(file)]
    put(tmp_path / "a.civitai.info")
    seen.append(list_one(file))
    put(tmp_path / "a.civitai.info", "longer")
    seen.append(list_one(file))
    put(file, "longer")
    seen.append(list_one(file))
    states = {
        (entry.stamp.size, tuple(card.size for card in entry.cards)) for entry in seen if entry
    }
    assert len(states) == 4


def test_files_whose_names_differ_in_case_alone_are_both_listed(tmp_path: Path) -> None:
    put(tmp_path / "a.safetensors")
    put(tmp_path / "A.safetensors")
    names = {file.name for file in listed(tmp_path)}
    assert names == {path.stem for path in tmp_path.iterdir()}


def test_one_file_is_none_where_there_is_no_file(tmp_path: Path) -> None:
    assert list_one(tmp_path / "a.safetensors") is None
    assert list_one(tmp_path / "no" / "a.safetensors") is None
