"""Downloads are seen, paused, resumed and removed in their list."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from app.downloads.entries import Download, DownloadState, Purpose
from app.downloads.source import Source
from tests.app.downloads.faulty_server import FaultyServer, running, stall_after
from tests.ui.conftest import Desk
from tests.ui.test_accessibility import unnamed
from ui.dialogs.downloads_dialog import DownloadsDialog
from ui.panels.download_row import DownloadRow

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
CONTENT = bytes(range(250)) * 800


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A server that stops after half of the file, once."""
    with running(FaultyServer(CONTENT, [stall_after(len(CONTENT) // 2)])) as made:
        yield made


@pytest.fixture
def dialog(desk: Desk, server: FaultyServer, tmp_path: Path) -> DownloadsDialog:
    """The list while half of the only download is here."""
    desk.start()
    source = Source(server.url, (), "file.bin", len(CONTENT), sha256(CONTENT).hexdigest())
    desk.session.downloads.add("A file", Purpose.MODEL, (source,), tmp_path / "files")
    shown = desk.window.windows.show_downloads()
    desk.wait(lambda: only(desk).bytes_done == len(CONTENT) // 2)
    return shown


def only(desk: Desk) -> Download:
    (entry,) = desk.session.downloads.entries
    return entry


def row_of(dialog: DownloadsDialog) -> DownloadRow:
    (row,) = dialog.by_name.values()
    return row


def test_a_row_tells_what_comes_from_where_and_how_much_is_here(
    desk: Desk, dialog: DownloadsDialog
) -> None:
    row = row_of(dialog)
    desk.wait(lambda: row.bar.value() == 500)
    assert row.title.text() == "A file"
    assert row.hosts.text() == "From 127.0.0.1"
    assert "100 kB of 200 kB" in row.state.text()
    assert not dialog.nothing.isVisible()
    assert unnamed(dialog) == []


def test_a_paused_download_goes_on_where_it_was(
    desk: Desk, dialog: DownloadsDialog, server: FaultyServer, tmp_path: Path
) -> None:
    row = row_of(dialog)
    row.pause.click()
    desk.wait(row.resume.isVisible)
    assert row.state.text().startswith("Paused")
    row.resume.click()
    desk.wait(lambda: only(desk).state is DownloadState.DONE)
    assert (tmp_path / "files" / "file.bin").read_bytes() == CONTENT
    assert server.ranges[-1] == f"bytes={len(CONTENT) // 2}-"
    desk.wait(lambda: row.state.text() == "Here · 200 kB")


def test_a_removed_download_leaves_the_list_and_the_disk(
    desk: Desk, dialog: DownloadsDialog, tmp_path: Path
) -> None:
    row_of(dialog).remove.click()
    desk.wait(lambda: not dialog.by_name)
    assert dialog.nothing.isVisible()
    desk.wait(lambda: not list((tmp_path / "files").glob("*.part")))


def test_a_failed_download_says_why(desk: Desk, tmp_path: Path) -> None:
    desk.start()
    source = Source("http://127.0.0.1:1/file.bin", (), "file.bin", 9, "0" * 64)
    desk.session.downloads.add("A file", Purpose.MODEL, (source,), tmp_path / "files")
    dialog = desk.window.windows.show_downloads()
    desk.wait(lambda: only(desk).state is DownloadState.FAILED)
    desk.wait(row_of(dialog).resume.isVisible)
    assert "no connection" in row_of(dialog).state.text()
