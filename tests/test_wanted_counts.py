"""Counts of wanted keys: kept in a file, bounded, the latest first to stay."""

import json
from pathlib import Path

from engine.wanted_counts import WantedCounts


def test_a_key_is_counted_also_by_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "wanted.json"
    assert [WantedCounts(path).add(key) for key in ("one", "one", "two", "one")] == [0, 1, 0, 2]


def test_the_key_that_was_wanted_longest_ago_is_forgotten_first(tmp_path: Path) -> None:
    path = tmp_path / "wanted.json"
    path.write_text(json.dumps({str(number): 1 for number in range(512)}))
    counts = WantedCounts(path)
    assert [counts.add("0"), counts.add("new"), counts.add("0")] == [1, 0, 2]
    assert [counts.add("2"), counts.add("1")] == [1, 0]
    assert len(json.loads(path.read_text())) == 512


def test_a_damaged_file_counts_nothing_and_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "wanted.json"
    for content in ('["one"]', '{"one": "1"}', "{", '{"one": -1}' * 2):
        path.write_text(content)
        assert [WantedCounts(path).add("one") for _ in range(2)] == [0, 1]
    folder = tmp_path / "file"
    folder.touch()
    assert WantedCounts(folder / "wanted.json").add("one") == 0
