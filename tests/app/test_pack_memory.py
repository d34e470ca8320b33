"""The answer to the offer and the begun installations outlive the window."""

from pathlib import Path

from app.commands.pack_memory import PackMemory


def test_an_answer_is_kept(tmp_path: Path) -> None:
    assert not PackMemory(tmp_path).is_answered
    PackMemory(tmp_path).answer()
    assert PackMemory(tmp_path).is_answered


def test_an_installation_that_ended_the_computer_twice_waits_for_a_person(tmp_path: Path) -> None:
    for _ in range(2):
        memory = PackMemory(tmp_path)
        assert memory.may_go_on("a")
        memory.begin("a")
    assert not PackMemory(tmp_path).may_go_on("a")
    assert PackMemory(tmp_path).may_go_on("b")
    PackMemory(tmp_path).end("a")
    assert PackMemory(tmp_path).may_go_on("a")


def test_a_damaged_file_is_put_aside_and_told(tmp_path: Path) -> None:
    (tmp_path / "packs.json").write_text("{")
    memory = PackMemory(tmp_path)
    assert memory.problem is not None
    assert not memory.is_answered
