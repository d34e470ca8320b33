"""Commands for downloads: what happens on their thread is told on the window's."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.commands.downloads import DownloadCommands
from app.downloads.entries import Download, DownloadState, Purpose
from app.downloads.kept_list import FILE
from tests.app.downloads.conftest import Sites
from tests.app.downloads.faulty_server import FaultyServer, refuse, stall_after
from tests.app.downloads.fetching import CONTENT, QUICK, source_of
from tests.app.fake_engine import Plan
from tests.app.folders import folders_in
from tests.app.sessions import Staged
from tests.app.supervised import PATIENCE_MS, fake_command
from tests.app.supervised import QUICK as FAST


class Window:
    """A list of downloads with what its signals told, and on which threads."""

    def __init__(self, state: Path, bot: QtBot) -> None:
        self._bot = bot
        self.commands = DownloadCommands(state, terms=QUICK)
        self.told: list[Download] = []
        self.removed: list[str] = []
        self.threads: set[threading.Thread] = set()
        self.commands.changed.connect(self._on_changed)
        self.commands.removed.connect(self.removed.append)

    def _on_changed(self, entry: Download) -> None:
        self.told.append(entry)
        self.threads.add(threading.current_thread())

    def wait_for_removal(self, name: str) -> None:
        """Let events happen until a download is gone."""
        self._bot.waitUntil(lambda: self.removed == [name], timeout=PATIENCE_MS)

    def wait_for(self, name: str, state: DownloadState) -> None:
        """Let events happen until a download has told this state last."""
        self._bot.waitUntil(
            lambda: any(entry.state is state for entry in self.told[-1:] if entry.id == name),
            timeout=PATIENCE_MS,
        )


@pytest.fixture
def window(tmp_path: Path, qtbot: QtBot) -> Iterator[Window]:
    window = Window(tmp_path / "state", qtbot)
    window.commands.start()
    yield window
    window.commands.close()


def test_progress_is_told_on_the_windows_thread(
    window: Window, server: FaultyServer, tmp_path: Path
) -> None:
    files = (source_of(server.url),)
    name = window.commands.add("A pack", Purpose.PACK, files, tmp_path / "files")
    window.wait_for(name, DownloadState.DONE)
    assert window.threads == {threading.main_thread()}
    assert (tmp_path / "files" / "file.bin").read_bytes() == CONTENT
    assert window.commands.entries == (window.told[-1],)


def test_the_buttons_of_a_download_act_on_it(
    window: Window, server: FaultyServer, tmp_path: Path
) -> None:
    server.script = [stall_after(1000), refuse(404)]
    name = window.commands.add("A pack", Purpose.PACK, (source_of(server.url),), tmp_path)
    window.wait_for(name, DownloadState.RUNNING)
    window.commands.pause(name)
    window.wait_for(name, DownloadState.PAUSED)
    window.commands.put_first(name)
    window.commands.resume(name)
    window.wait_for(name, DownloadState.FAILED)
    window.commands.resume(name)
    window.wait_for(name, DownloadState.DONE)
    window.commands.remove(name)
    window.wait_for_removal(name)
    assert window.commands.entries == ()


def test_a_session_tells_of_a_list_that_cannot_be_read(tmp_path: Path, qtbot: QtBot) -> None:
    state = folders_in(tmp_path).state
    state.mkdir()
    (state / FILE).write_bytes(b"{")
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), FAST)
    staged.start()
    told = [notice.message for notice in staged.session.notices.notices]
    staged.end()
    assert [message for message in told if "list of downloads" in message]


def test_a_session_goes_on_with_a_download_and_ends_in_its_middle(
    sites: Sites, tmp_path: Path, qtbot: QtBot
) -> None:
    """The server would hold the connection for a minute."""
    sites.server.otherwise = stall_after(1000)
    window = Window(folders_in(tmp_path).state, qtbot)
    source = source_of("https://files.test/file.bin")
    window.commands.add("A pack", Purpose.PACK, (source,), tmp_path / "files")
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), FAST).start()
    entries = staged.session.downloads
    staged.wait(lambda: [entry.bytes_done for entry in entries.entries] == [1000])
    staged.end()
    assert [entry.state for entry in entries.entries] == [DownloadState.RUNNING]
