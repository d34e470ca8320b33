"""The rules that all caches on disk share: their entries, those that stay, those that go first."""

import os
from pathlib import Path

import pytest

from engine.cache_folder import UNFINISHED, CacheFolder, delete, unfinished

_MARKER = "marker"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, name: str, size: int, age: float) -> Path:
    """An entry that is a folder, used so many seconds after the beginning of time."""
    entry = folder / name
    (entry / "deep").mkdir(parents=True)
    (entry / "deep" / "content").write_bytes(bytes(size))
    (entry / _MARKER).touch()
    os.utime(entry / _MARKER, (1e9 + age, 1e9 + age))
    return entry


def names(cache: CacheFolder) -> list[str]:
    return [entry.name for entry in cache.entries()]


def test_only_complete_entries_are_listed(folder: Path) -> None:
    cache = CacheFolder(folder, 100, marker=_MARKER)
    write(folder, "second", 20, age=2)
    write(folder, "first", 10, age=1)
    write(folder, "half" + UNFINISHED, 10, age=1)
    (folder / "strange").mkdir()
    (folder / "file").touch()
    first, second = cache.entries()
    assert (first.name, first.bytes, first.last_used) == ("first", 10, 1e9 + 1)
    assert (second.name, second.path) == ("second", folder / "second")
    assert CacheFolder(folder / "nothing", 100).entries() == []


def test_the_least_recently_used_entries_make_room(folder: Path) -> None:
    for age, name in enumerate(("d", "b", "a", "c")):
        write(folder, name, 10, age)
    cache = CacheFolder(folder, 45, marker=_MARKER)
    cache.make_room(5)
    assert names(cache) == ["a", "b", "c", "d"]
    cache.make_room(16)
    assert names(cache) == ["a", "c"]
    cache.make_room(1000)
    assert names(cache) == []


def test_holding_an_entry_counts_as_use(folder: Path) -> None:
    for age, name in enumerate(("a", "b")):
        write(folder, name, 10, age)
    cache = CacheFolder(folder, 20, marker=_MARKER)
    lock = cache.hold("a")
    assert lock is not None
    lock.release()
    cache.make_room(10)
    assert names(cache) == ["a"]


def test_a_held_entry_stays_and_the_next_one_is_removed(folder: Path) -> None:
    for age, name in enumerate(("a", "b", "c")):
        write(folder, name, 10, age)
    cache = CacheFolder(folder, 30, marker=_MARKER)
    locks = [cache.hold("a"), CacheFolder(folder, 30, marker=_MARKER).hold("a")]
    os.utime(folder / "a" / _MARKER, (1e9, 1e9))
    cache.make_room(10)
    assert names(cache) == ["a", "c"]
    cache.remove()
    cache.remove(["a"])
    assert names(cache) == ["a"]
    for lock in locks:
        assert lock is not None
        lock.release()
    cache.remove()
    assert names(cache) == []
    assert list(folder.iterdir()) == []
    assert cache.hold("a") is None


def test_an_entry_may_be_a_file(folder: Path) -> None:
    cache = CacheFolder(folder, 100, suffix=".bin")
    for name in ("one.bin", "two.bin", "other.txt"):
        (folder / name).write_bytes(bytes(10))
    assert names(cache) == ["one", "two"]
    lock = cache.hold("one")
    cache.remove()
    assert names(cache) == ["one"]
    assert lock is not None
    lock.release()
    cache.remove(["one", "../two"])
    assert [path.name for path in folder.iterdir()] == ["other.txt"]


def test_abandoned_files_are_removed(folder: Path) -> None:
    cache = CacheFolder(folder, 100, marker=_MARKER)
    write(folder, "whole", 10, age=0)
    for name in ("old.part", "new.part", "old without marker", "new without marker"):
        (folder / name).mkdir()
        if name.startswith("old"):
            os.utime(folder / name, (1e9, 1e9))
    os.utime(folder / "whole", (1e9, 1e9))
    cache.make_room(0)
    left = {path.name for path in folder.iterdir()}
    assert left == {"whole", "new.part", "new without marker"}


def test_unfinished_names_are_unique(folder: Path) -> None:
    first, second = unfinished(folder / "entry"), unfinished(folder / "entry")
    assert first != second
    assert first.parent == folder
    assert first.suffix == UNFINISHED
    delete(first)  # is not there
    first.mkdir()
    (first / "file").touch()
    second.touch()
    delete(first)
    delete(second)
    assert list(folder.iterdir()) == []
