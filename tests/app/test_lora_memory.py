"""Folders of LoRA files and last uses outlive the session."""

from pathlib import Path

import pytest

from app.library.lora_memory import LoraMemory


def test_folders_are_remembered_and_forgotten(tmp_path: Path) -> None:
    folder, other = tmp_path / "one", tmp_path / "other"
    memory = LoraMemory(tmp_path / "state")
    assert memory.add_folder(folder)
    assert memory.add_folder(other)
    assert not memory.add_folder(folder)
    again = LoraMemory(tmp_path / "state")
    assert again.folders == (str(folder), str(other))
    again.remove_folder(str(folder))
    assert LoraMemory(tmp_path / "state").folders == (str(other),)


def test_the_latest_use_of_a_file_is_remembered(tmp_path: Path) -> None:
    times = iter((5, 9))
    memory = LoraMemory(tmp_path, lambda: next(times))
    memory.note_use(("/a", "/b"))
    memory.note_use(("/a",))
    again = LoraMemory(tmp_path)
    assert [again.used_ns(path) for path in ("/a", "/b", "/c")] == [9, 5, 0]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"folders": 1}', b"\xff"])
def test_a_damaged_file_is_put_aside_and_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "loras.json").write_bytes(content)
    memory = LoraMemory(tmp_path)
    assert memory.folders == ()
    assert memory.problem is not None
    memory.add_folder(tmp_path)
    assert LoraMemory(tmp_path).folders == (str(tmp_path),)
