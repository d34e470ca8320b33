"""Small files of the application's own are written though a bug of ours met one of the writes."""

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.file_writer import FileWriter
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.supervised import PATIENCE_MS


def test_changes_after_a_bug_are_written_all_the_same(qtbot: QtBot, tmp_path: Path) -> None:
    contents, told = ["", "later"], list[ErrorInfo]()

    def content() -> Callable[[], bytes]:
        text = contents.pop(0)

        def encode() -> bytes:
            if not text:
                raise KeyError("missing")
            return text.encode()

        return encode

    writer = FileWriter(tmp_path / "kept", content, sentence("It cannot be kept."))
    writer.failed.connect(told.append)
    writer.changed()
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    assert told[0].code is ErrorCode.INTERNAL
    writer.changed()
    qtbot.waitUntil((tmp_path / "kept").exists, timeout=PATIENCE_MS)
    writer.close()
    assert (tmp_path / "kept").read_text() == "later"
