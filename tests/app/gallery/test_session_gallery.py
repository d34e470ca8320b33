"""The session's gallery is made when it is first asked for, and follows the settings."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.gallery.query import GalleryQuery
from app.gallery.rows import Results
from tests.app.gallery.made import ours, write
from tests.app.sessions import Staged
from tests.app.supervised import PATIENCE_MS


def test_the_gallery_shows_the_folder_of_the_settings(
    staged: Staged, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = staged.session
    # Which would count for more than a setting.
    monkeypatch.delenv("SAFELIGHT_OUTPUT")
    write(staged.paths.output / "old.png", ours(1, "a cat"))
    other = write(tmp_path / "other" / "new.png", ours(2, "a dog")).parent
    index = session.gallery_index
    assert session.gallery_index is index
    shown: list[str] = []

    def take(results: Results) -> None:
        shown[:] = [Path(row.path).name for row in index.rows(results.ids)]

    index.changed.connect(lambda: index.search(GalleryQuery(), take))
    qtbot.waitUntil(lambda: shown == ["old.png"], timeout=PATIENCE_MS)
    session.settings.change(pictures_folder=str(other), sidecars=True)
    qtbot.waitUntil(lambda: shown == ["new.png"], timeout=PATIENCE_MS)
    index.rate([index.id_of(str(other / "new.png")) or 0], 3)
    qtbot.waitUntil(lambda: (other / "new.png.xmp").exists(), timeout=PATIENCE_MS)
