"""One Safelight for each user and state folder: a second start hands its paths to the first.

The lock decides who is first; the socket carries nothing but "open these paths".
"""

import hashlib
import os
import re
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import msgspec
from PySide6.QtCore import QLockFile, QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.storage.aside import put_aside
from engine.file_lock import FileLock
from engine.regular_file import read_bounded
from engine.untrusted_json import JsonError, decode_json

_LOCK = "safelight.lock"
_LENGTH = struct.Struct("<I")
_MAX_BYTES = 1 << 20
_MAX_PATHS = 1000
_MAX_PATH_CHARACTERS = 32_767
_ANSWER = b"ok"
# The first instance may hold the lock but not listen yet, or be busy for a moment.
_PATIENCE_MS = 3000
_IDLE_MS = 2000
_MAX_GUESTS = 8
# Every Unix accepts a socket path of this length.
_MAX_SOCKET_BYTES = 100


class Start(StrEnum):
    """The results of claiming a state folder."""

    # No other instance runs: go on.
    FIRST = "first"
    # Another instance runs and took the paths: exit.
    HANDED_OVER = "handed_over"
    # Another instance holds the lock and does not answer: report it and exit.
    NOT_ANSWERING = "not_answering"


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """The message of a second start: show the window and open these paths."""

    paths: tuple[str, ...]


# Qt's locks have a few short lines, which are written at once.
_MAX_LOCK_BYTES = 4096
_LOCK_NAMES = 2
_LOCK_IS_WRITTEN_S = 2
_DECODER = msgspec.json.Decoder(Opening)


class SingleInstance(QObject):
    """Claims a state folder for this process, until `release`."""

    # tuple[str, ...]: absolute paths that a second start was given, maybe none. Show the window.
    opened = Signal(object)

    def __init__(self, state: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._name = _socket_name(state)
        self._lock = QLockFile(str(state / _LOCK))
        # A lock is stale only if its process has ended, whatever its age.
        self._lock.setStaleLockTime(0)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        self._guests = 0

    @property
    def socket_name(self) -> str:
        """The name of the socket that a second start connects to."""
        return self._name

    @property
    def socket_file(self) -> str:
        """The path of the socket, empty while it is not open."""
        return self._server.fullServerName()

    def claim(self, paths: Sequence[str] = ()) -> Start:
        """Become the first instance, or have the first open `paths`. Blocks for at most about 3 s.

        Returns FIRST if the state folder cannot be written: a broken folder must not keep the app
        from opening.
        """
        try:
            self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return Start.FIRST
        _clear_the_way(self._state / _LOCK)
        if self._lock.tryLock(0):
            self._listen()
            return Start.FIRST
        if self._lock.error() is not QLockFile.LockError.LockFailedError:
            return Start.FIRST
        absolute = (os.path.abspath(path) for path in paths)  # noqa: PTH100 (resolves no links)
        return self._hand_over(Opening(paths=tuple(filter(_is_sane, absolute))))

    def release(self) -> None:
        """Let the next start be the first."""
        self._server.close()
        self._lock.unlock()

    def _listen(self) -> None:
        # UserAccessOption replaces the socket that a killed instance left. If listening fails, a
        # second start gets NOT_ANSWERING; nothing else is lost.
        self._server.listen(self._name)

    def _hand_over(self, opening: Opening) -> Start:
        message = msgspec.json.encode(opening)
        if len(message) > _MAX_BYTES:
            message = msgspec.json.encode(Opening(paths=()))
        socket = QLocalSocket()
        for _ in range(_PATIENCE_MS // 100):
            socket.connectToServer(self._name)
            if socket.waitForConnected(100):
                break
            # The first instance may have ended meanwhile, or not listen yet.
            if self._lock.tryLock(100):
                self._listen()
                return Start.FIRST
        else:
            return Start.NOT_ANSWERING
        socket.write(_LENGTH.pack(len(message)) + message)
        while socket.bytesAvailable() < len(_ANSWER):
            if not socket.waitForReadyRead(_PATIENCE_MS):
                return Start.NOT_ANSWERING
        return Start.HANDED_OVER if socket.read(2).data() == _ANSWER else Start.NOT_ANSWERING

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:  # pyright: ignore[reportUnnecessaryComparison]
            if self._guests >= _MAX_GUESTS:
                socket.abort()
                socket.deleteLater()
                continue
            self._guests += 1
            guest = _Guest(socket, self)
            guest.received.connect(self.opened)
            guest.destroyed.connect(self._on_guest_gone)

    def _on_guest_gone(self) -> None:
        self._guests -= 1


class _Guest(QObject):
    """A connection from a second start, for one message and one answer."""

    received = Signal(object)

    def __init__(self, socket: QLocalSocket, parent: QObject) -> None:
        super().__init__(parent)
        self._socket = socket
        socket.setParent(self)
        socket.setReadBufferSize(_LENGTH.size + _MAX_BYTES)
        self._buffer = b""
        socket.readyRead.connect(self._read)
        socket.disconnected.connect(self.deleteLater)
        QTimer.singleShot(_IDLE_MS, self, self._leave)
        self._read()

    def _read(self) -> None:
        self._buffer += bytes(self._socket.readAll().data())
        if len(self._buffer) < _LENGTH.size:
            return
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length > _MAX_BYTES:
            self._leave()
            return
        message = self._buffer[_LENGTH.size :]
        if len(message) < length:
            return
        opening = _valid_opening(message)
        self._buffer = b""
        self._socket.readyRead.disconnect(self._read)
        if opening is not None and len(message) == length:
            self._socket.write(_ANSWER)
            self._socket.flush()
            self.received.emit(opening.paths)
        self._socket.disconnectFromServer()

    def _leave(self) -> None:
        self._socket.abort()
        self.deleteLater()


def _clear_the_way(lock: Path) -> None:
    """Remove a damaged lock file, as a power cut leaves it, which Qt would respect for ever.

    A pipe of that name, which Qt would wait for, is moved aside.
    """
    try:
        content = read_bounded(lock, _MAX_LOCK_BYTES)
        # A clock that was set back makes a file of the future, which is not being written either.
        is_new = abs(time.time() - lock.stat().st_mtime) < _LOCK_IS_WRITTEN_S
    except (FileNotFoundError, PermissionError):
        return
    except OSError:
        put_aside(lock, "damaged")
        return
    # Complete lines: the process id, the program's name, the machine's name, and more.
    process, *rest = content.split(b"\n")
    if is_new or (process.isdigit() and len(rest) > _LOCK_NAMES and not rest[-1]):
        return
    with suppress(OSError):  # held
        held = FileLock(lock)
        if sys.platform == "win32":
            held.release()
        lock.unlink()
        held.release()


def _valid_opening(message: bytes) -> Opening | None:
    """Return the decoded message; None if it is damaged or has too many or invalid paths."""
    try:
        opening = decode_json(message, _DECODER)
    except JsonError:
        return None
    valid = len(opening.paths) <= _MAX_PATHS and all(map(_is_sane, opening.paths))
    return opening if valid else None


def _is_sane(path: str) -> bool:
    """Return True for an absolute path of allowed length without null characters and surrogates."""
    unspeakable = re.search(r"[\0\ud800-\udfff]", path)
    return not unspeakable and len(path) <= _MAX_PATH_CHARACTERS and Path(path).is_absolute()


def _socket_name(state: Path) -> str:
    """Return the socket name, unique to this user and state folder."""
    user = os.environ.get("USERNAME", "") if sys.platform == "win32" else str(os.getuid())
    whose = f"{user}\0{os.path.realpath(state)}".encode("utf-8", "surrogateescape")
    name = "safelight-" + hashlib.sha256(whose).hexdigest()[:16]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    # Inside XDG_RUNTIME_DIR if no other user has access to it, else in the temporary folder.
    inside = str(Path(runtime or "") / name)
    short = len(os.fsencode(inside)) < _MAX_SOCKET_BYTES
    private = sys.platform == "linux" and runtime and _is_private(Path(runtime))
    return inside if private and short else name


def _is_private(folder: Path) -> bool:
    try:
        status = folder.stat()
    except OSError:
        return False
    return sys.platform != "win32" and status.st_uid == os.getuid() and not status.st_mode & 0o077
