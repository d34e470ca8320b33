"""Logs that cannot fill the disk: five files of 2 MB each, the newest without a number."""

import faulthandler
import logging
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

_BYTES = 2_000_000
_FILES = 5
_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class RotatingLog:
    """A log file that is renamed to NAME.1 before it exceeds `limit` bytes; `files` files are kept.

    Bytes that cannot be written are dropped without an error.
    """

    def __init__(self, path: Path, *, limit: int = _BYTES, files: int = _FILES) -> None:
        self._path = path
        self._limit = limit
        self._files = files
        self._file: BinaryIO | None = None
        self._size = 0

    def write(self, data: bytes) -> None:
        """Append bytes; they are never split between two files."""
        with suppress(OSError):
            if self._file is None:
                self._open()
            if self._size and self._size + len(data) > self._limit:
                self._rotate()
            if self._file is not None:
                self._size += self._file.write(data)

    def close(self) -> None:
        """Close the file; a later write opens it again."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        self._file = None

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered: a crash report needs the last lines.
        self._file = self._path.open("ab", buffering=0)
        self._size = os.fstat(self._file.fileno()).st_size

    def _rotate(self) -> None:
        self.close()
        for number in range(self._files - 1, 0, -1):
            newer = self._numbered(number - 1)
            if newer.exists():
                newer.replace(self._numbered(number))
        self._open()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}") if number else self._path


class LogLine(msgspec.Struct, frozen=True):
    """A line of the app's log, as JSON."""

    time: str
    level: str
    logger: str
    text: str
    error: str | None = None


class JsonLinesHandler(logging.Handler):
    """Writes each record as one line of JSON."""

    def __init__(self, log: RotatingLog) -> None:
        super().__init__()
        self._log = log
        self._formatter = logging.Formatter()

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record; if its message cannot be formatted, write its parts and the error."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        try:
            text = record.getMessage()
        except (TypeError, ValueError) as error:
            text = f"{record.msg!r}: {error}"
        error = self._formatter.formatException(record.exc_info) if record.exc_info else None
        line = LogLine(f"{stamp}Z", record.levelname, record.name, _encodable(text), error)
        self._log.write(msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        """Close the file with the handler."""
        self._log.close()
        super().close()


def start_logging(logs: Path) -> JsonLinesHandler:
    """Log this process to `logs`: records to app.log, Qt's messages too, crashes to app-faults.log.

    Returns the handler, to be closed and removed from the root logger where the process goes on.
    """
    handler = JsonLinesHandler(RotatingLog(logs / "app.log"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    qInstallMessageHandler(_log_qt_message)
    with suppress(OSError):
        logs.mkdir(parents=True, exist_ok=True)
        # Stays open as long as the process lives: the fault handler writes to it.
        faults = os.open(logs / "app-faults.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        faulthandler.enable(faults)
    return handler


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    # The category is None for messages that have none.
    category = str(context.category or "default")  # pyright: ignore[reportUnknownMemberType]
    logging.getLogger("qt").log(_QT_LEVELS[kind], "%s: %s", category, text)
    if kind is QtMsgType.QtFatalMsg:
        # Qt aborts next; without this nobody would see why.
        print(text, file=sys.stderr)  # noqa: T201


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
