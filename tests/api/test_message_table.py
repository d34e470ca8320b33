"""docs/messages.md tells the messages as they are."""

from pathlib import Path

import pytest

from tests.api import message_table
from tests.api.strategies import COMMANDS, EVENTS


def test_the_page_is_up_to_date() -> None:
    text = message_table.PAGE.read_text(encoding="utf-8")
    assert message_table.page(text) == text, "run `python -m tests.api.message_table`"


def test_every_message_has_its_row() -> None:
    rows = message_table.table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [k.__name__ for k in (*COMMANDS, *EVENTS)]
    assert len({row.count("|") for row in rows}) == 1
    (progress,) = [row for row in rows if "`JobProgress`" in row]
    assert "`job: str, done: int, total: int or None`" in progress


def test_writing_changes_the_table_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{message_table.BEGIN}\na row of before\n{message_table.END}\nafter\n")
    monkeypatch.setattr(message_table, "PAGE", page)
    message_table.main()
    text = page.read_text()
    assert message_table.table() in text
    assert "a row of before" not in text
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
