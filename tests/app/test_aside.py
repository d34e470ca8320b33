"""Files that cannot be read are kept, each under a name of its own."""

from pathlib import Path

from app.storage.aside import copy_aside, put_aside


def test_files_put_aside_within_a_second_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    for content in ("first", "second"):
        path.write_text(content)
        assert put_aside(path, "damaged") is not None
    path.write_text("third")
    assert copy_aside(path, "damaged") is not None
    kept = sorted(aside.read_text() for aside in tmp_path.glob("queue.jsonl.*"))
    assert kept == ["first", "second", "third"]
