"""Marks outlive the program in a journal, whatever becomes of its end."""

from pathlib import Path

import pytest

from app.gallery.marks import FILE, MarkStore
from app.gallery.rows import NO_MARKS, Marks
from engine.api.values import ErrorInfo

ONE, TWO, THREE = b"\1" * 16, b"\2" * 16, b"\3" * 16


def store(folder: Path, errors: list[ErrorInfo] | None = None) -> MarkStore:
    return MarkStore(folder, (errors if errors is not None else []).append)


def written(folder: Path) -> bytes:
    """The journal after two pictures were marked."""
    first = store(folder)
    first.set({ONE: Marks(3)})
    first.set({TWO: Marks(0, favourite=True, rejected=True)})
    first.close()
    return (folder / FILE).read_bytes()


def test_marks_are_there_again(tmp_path: Path) -> None:
    written(tmp_path)
    again = store(tmp_path)
    assert (again.of(ONE), again.of(TWO)) == (Marks(3), Marks(0, favourite=True, rejected=True))
    assert again.of(THREE) == again.of(None) == NO_MARKS
    assert again.problem is None
    again.close()


def test_every_torn_end_of_the_journal_keeps_the_marks_before_it(tmp_path: Path) -> None:
    whole = written(tmp_path)
    for size in range(len(whole)):
        (tmp_path / FILE).write_bytes(whole[:size])
        again = store(tmp_path)
        lines = whole[:size].count(b"\n")
        assert again.of(ONE) == (Marks(3) if lines >= 2 else NO_MARKS)
        assert again.of(TWO) == NO_MARKS
        again.set({THREE: Marks(5)})
        again.close()
        last = store(tmp_path)
        assert (last.of(THREE), last.problem) == (Marks(5), None)
        last.close()


@pytest.mark.parametrize(
    "line",
    [
        b'{"identity":"zz","at":1,"rating":5}',
        b'{"identity":"' + b"0" * 32 + b'","at":1,"rating":9}',
        b'{"identity":"' + b"\xc3\xbc" * 32 + b'","at":1}',
        b"[]",
    ],
)
def test_a_line_without_sense_marks_nothing(tmp_path: Path, line: bytes) -> None:
    whole = written(tmp_path)
    (tmp_path / FILE).write_bytes(whole + line + b"\n")
    again = store(tmp_path)
    assert len(again.all()) == 2
    again.close()


def test_a_journal_of_many_changes_is_written_anew(tmp_path: Path) -> None:
    first = store(tmp_path)
    for number in range(3001):
        first.set({ONE: Marks(1 + number % 5)})
    first.close()
    before = (tmp_path / FILE).stat().st_size
    again = store(tmp_path)
    again.close()
    assert (tmp_path / FILE).stat().st_size < before / 100
    last = store(tmp_path)
    assert last.of(ONE) == Marks(1)
    last.close()


def test_marks_that_the_disk_does_not_take_hold_for_the_session(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    errors: list[ErrorInfo] = []
    first = store(folder, errors)
    (folder / FILE).mkdir()
    first.set({ONE: Marks(3)})
    first.close()
    assert first.of(ONE) == Marks(3)
    assert len(errors) == 1


def test_only_what_differs_is_a_change_that_can_be_undone(tmp_path: Path) -> None:
    first = store(tmp_path)
    first.set({ONE: Marks(3)})
    marking = first.set({ONE: Marks(3), TWO: Marks(3)})
    assert marking.before == ((TWO, NO_MARKS),)
    first.set(dict(marking.before))
    assert first.of(TWO) == NO_MARKS
    first.close()
