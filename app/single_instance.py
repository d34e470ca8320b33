"""One Safelight for each user and state folder: a second start hands its paths to the first.

The lock decides who is first. A second start leaves a message in the state folder, which only its
user may enter; the first takes it away and so answers. No socket is opened for it.
"""

import os
import re
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from uuid import uuid4

import msgspec
from PySide6.QtCore import QFileSystemWatcher, QLockFile, QObject, Signal

from app.storage.aside import put_aside
from engine.durable import replace_file
from engine.file_lock import FileLock
from engine.regular_file import read_bounded
from engine.untrusted_json import JsonError, decode_json

_LOCK = "safelight.lock"
# The folder of messages, which the first instance watches.
MESSAGES = "openings"
_MAX_BYTES = 1 << 20
_MAX_PATHS = 1000
_MAX_PATH_CHARACTERS = 32_767
# The first instance may hold the lock but not listen yet, or be busy for a moment.
_PATIENCE_S = 3.0
_LOOK_AGAIN_S = 0.02
# A message that is older was left by a start that was killed; nobody waits for its answer.
_STALE_S = 60.0


class Start(StrEnum):
    """The results of claiming a state folder."""

    # No other instance runs: go on.
    FIRST = "first"
    # Another instance runs and took the paths: exit.
    HANDED_OVER = "handed_over"
    # Another instance holds the lock and does not answer: report it and exit.
    NOT_ANSWERING = "not_answering"


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """The message of a second start: show the window and open these paths.

    `token` is the leave to do so that the desktop gave with the start; empty where it gives none.
    """

    paths: tuple[str, ...]
    token: str = ""


# Wayland lets a window come to the front only with the token of a start, which Qt looks for there:
# https://wayland.app/protocols/xdg-activation-v1
_TOKEN = "XDG_ACTIVATION_TOKEN"
_A_TOKEN = re.compile(r"[!-~]{1,256}")
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
        self._state, self._messages = state, state / MESSAGES
        self._lock = QLockFile(str(state / _LOCK))
        # A lock is stale only if its process has ended, whatever its age.
        self._lock.setStaleLockTime(0)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._read_messages)

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
        token = _sane_token(os.environ.get(_TOKEN, ""))
        return self._hand_over(Opening(paths=tuple(filter(_is_sane, absolute)), token=token))

    def release(self) -> None:
        """Let the next start be the first."""
        if watched := self._watcher.directories():
            self._watcher.removePaths(watched)
        self._lock.unlock()

    def _listen(self) -> None:
        # If the folder cannot be made, a second start gets NOT_ANSWERING; nothing else is lost.
        with suppress(OSError):
            _make_private(self._messages)
            self._watcher.addPath(str(self._messages))
            _remove_stale(self._messages)
            self._read_messages()

    def _hand_over(self, opening: Opening) -> Start:
        content = msgspec.json.encode(opening)
        if len(content) > _MAX_BYTES:
            content = msgspec.json.encode(Opening(paths=(), token=opening.token))
        message = self._messages / f"{uuid4().hex}.json"
        _let_come_forward(self._lock.getLockInfo()[0])
        try:
            _make_private(self._messages)
            replace_file(message, content)
        except OSError:
            return Start.NOT_ANSWERING
        end = time.monotonic() + _PATIENCE_S
        while message.exists():
            # The first instance may have ended meanwhile.
            is_first = self._lock.tryLock(0)
            if is_first or time.monotonic() > end:
                message.unlink(missing_ok=True)
                if is_first:
                    self._listen()
                return Start.FIRST if is_first else Start.NOT_ANSWERING
            time.sleep(_LOOK_AGAIN_S)
        return Start.HANDED_OVER

    def _read_messages(self) -> None:
        with suppress(OSError):
            for path in sorted(self._messages.glob("*.json")):
                opening = _read_opening(path)
                # Its start waits for this. What cannot be removed would be read for ever.
                path.unlink()
                if opening is not None:
                    if token := _sane_token(opening.token):
                        os.environ[_TOKEN] = token
                    self.opened.emit(opening.paths)


def _let_come_forward(process: int) -> None:
    """Let the first instance bring its window to the front, which Windows grants to few.

    This process may, as a person has just started it; else the window's button would only blink.
    """
    if sys.platform == "win32":
        import ctypes
        from ctypes import wintypes

        user = ctypes.WinDLL("user32")
        user.AllowSetForegroundWindow.argtypes = (wintypes.DWORD,)
        user.AllowSetForegroundWindow(process)


def _make_private(folder: Path) -> None:
    """Make a folder that only this user may enter. Raises OSError."""
    folder.mkdir(mode=0o700, exist_ok=True)


def _remove_stale(messages: Path) -> None:
    now = time.time()
    for path in messages.iterdir():
        with suppress(OSError):
            if abs(now - path.stat().st_mtime) > _STALE_S:
                path.unlink()


def _read_opening(path: Path) -> Opening | None:
    """Return a message; None if it is damaged or has too many or invalid paths."""
    try:
        opening = decode_json(read_bounded(path, _MAX_BYTES), _DECODER)
    except (JsonError, OSError):
        return None
    valid = len(opening.paths) <= _MAX_PATHS and all(map(_is_sane, opening.paths))
    return opening if valid else None


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


def _is_sane(path: str) -> bool:
    """Return True for an absolute path of allowed length without null characters and surrogates."""
    unspeakable = re.search(r"[\0\ud800-\udfff]", path)
    return not unspeakable and len(path) <= _MAX_PATH_CHARACTERS and Path(path).is_absolute()


def _sane_token(token: str) -> str:
    return token if _A_TOKEN.fullmatch(token) else ""
