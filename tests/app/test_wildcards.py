"""The lists of words in the folder: read, written, moved to the trash and back."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.background import Background
from app.library.trash import Trashed
from app.library.wildcards import Lack, WildcardStore, is_list_name, read_lists
from tests.app.supervised import PATIENCE_MS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[WildcardStore]:
    background = Background(1)
    yield WildcardStore(tmp_path / "words", background)
    background.close()


def test_a_list_is_written_read_and_deleted(store: WildcardStore, qtbot: QtBot) -> None:
    store.write("animals/cats", "tabby\n\n# not this\nblack\n")
    qtbot.waitUntil(lambda: store.names == ("animals/cats",), timeout=PATIENCE_MS)
    cats = store.find("animals/cats")
    assert cats is not None
    assert cats.entries == ("tabby", "black")
    trashed: list[Trashed] = []
    store.trashed.connect(trashed.append)
    store.delete("animals/cats")
    qtbot.waitUntil(lambda: store.names == () and bool(trashed), timeout=PATIENCE_MS)
    store.put_back(trashed[0])
    qtbot.waitUntil(lambda: store.names == ("animals/cats",), timeout=PATIENCE_MS)


def test_a_list_is_written_though_the_window_closes_at_once(tmp_path: Path, qapp: object) -> None:
    background, release = Background(1), threading.Event()
    store = WildcardStore(tmp_path / "words", background)
    background.run(lambda: release.wait(PATIENCE_MS / 1000), lambda _: None)
    store.write("sky", "blue \ud800")
    threading.Timer(0.05, release.set).start()
    background.close()
    (found,) = read_lists(tmp_path / "words")
    assert found.entries == ("blue ?",)


def test_a_list_that_cannot_be_written_is_told(store: WildcardStore, qtbot: QtBot) -> None:
    store.folder.write_text("a file in the place of the folder")
    with qtbot.waitSignal(store.failed, timeout=PATIENCE_MS):
        store.write("animal", "cat")


def test_odd_files_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00caf\xe9\r\nb")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "other.csv").write_text("x")
    os.mkfifo(tmp_path / "pipe.txt")
    assert [wildcard_list.name for wildcard_list in read_lists(tmp_path)] == ["bad"]
    assert read_lists(tmp_path / "none") == ()


@pytest.mark.parametrize("name", ["animal", "animals/cats", "Élan 2-b"])
def test_names_that_a_prompt_can_write(name: str) -> None:
    assert is_list_name(name)


@pytest.mark.parametrize("name", ["", " a", "a__b", "../a", "/a", "a//b", "a:b", "a*", "_a", "a."])
def test_names_that_no_prompt_or_file_can_have(name: str) -> None:
    assert not is_list_name(name)


def test_a_list_that_was_not_read_whole_says_so(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("café".encode("cp1252"))
    (tmp_path / "long.txt").write_bytes(b"blue\n" * 1_000_000)
    (tmp_path / "plain.txt").write_text("café")
    assert [(one.name, one.lack) for one in read_lists(tmp_path)] == [
        ("latin", Lack.NOT_UTF_8),
        ("long", Lack.TOO_LONG),
        ("plain", None),
    ]
