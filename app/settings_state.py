"""The settings as the window has them: changed at once, and kept in their file soon after.

The file is also a person's: what is changed in it by hand acts at once, too, and what a person
wrote around the values stays.
"""

import logging
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QCoreApplication, QFileSystemWatcher, QObject, QTimer, Signal

from app.background import Background
from app.settings.reading import FILE, Fault, Reading, read_settings
from app.settings.values import Settings, converted, stated
from app.settings.writing import write_settings
from app.storage.aside import put_aside
from app.storage.full_disk import make_room
from app.versions.kept_files import kept_file
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL, replace_file

# Changes within this time are written together: a slider makes many.
_SOON_MS = 300
# Editors write a file in several steps.
_SETTLE_MS = 150
# Some empty it first, or move it away: nothing is then in it for a moment.
_SETTLE_EMPTY_MS = 1500
# A disk that did not take changes is asked again after this time.
_AGAIN_MS = 5000

translate = QCoreApplication.translate
_log = logging.getLogger(__name__)


class SettingsState(QObject):
    """The settings `now` and `at_start`, their file at `path`, and the `problem` with it then."""

    # frozenset[str]: the names of the settings that have other values.
    changed = Signal(object)
    # ErrorInfo: the file cannot be used or written; each problem is told once.
    failed = Signal(object)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        """Read the file in `folder`, which need not exist; a damaged one is put aside."""
        super().__init__(parent)
        self.path = folder / FILE
        reading = read_settings(self.path)
        self.problem = _put_aside(self.path, reading)
        if reading.fault is not None:
            # A copy from before an update may have taken its place.
            reading = read_settings(self.path)
        # Some settings are used as they were at the start until the next one.
        self.now = self.at_start = reading.settings
        self._told = self.problem
        # Names of settings: those whose values wait for the disk, and those on their way to it.
        self._unwritten: frozenset[str] = frozenset()
        self._writing: frozenset[str] = frozenset()
        self._closed = False
        # True if the file had nothing in it when it was last read.
        self._was_empty = False
        # One thread, so that the latest values are written last.
        self._background = Background(1, self)
        self._background.failed.connect(self.failed)
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._write_soon)
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self.look_again)
        self._watcher = QFileSystemWatcher(self)
        for signal in (self._watcher.fileChanged, self._watcher.directoryChanged):
            signal.connect(self._on_disk_changed)
        self._watch()

    @property
    def is_idle(self) -> bool:
        """True if nothing waits to be written or is being written."""
        return not (self._unwritten or self._writing)

    def change(self, **values: Any) -> None:
        """Give settings other values. Raises msgspec.ValidationError for one out of bounds."""
        plain = {name: msgspec.to_builtins(value) for name, value in values.items()}
        wanted = {name: converted(name, value) for name, value in plain.items()}
        before = self.now
        self._take(msgspec.structs.replace(before, **wanted))
        names = _differences(before, self.now)
        if names and not self._closed:
            self._unwritten |= names
            self._soon.start(_SOON_MS)

    def look_again(self) -> None:
        """Read the file again, which may have been changed by hand."""
        if self.is_idle and not self._closed:
            self._background.run(lambda: read_settings(self.path), self._on_read)

    def close(self) -> None:
        """Write what has not been written yet. Blocks for the disk."""
        self._closed = True
        self._soon.stop()
        self._background.close()
        if not self.is_idle:
            _write(self.path, self.now, self._unwritten | self._writing)

    def _take(self, settings: Settings) -> None:
        names = _differences(self.now, settings)
        self.now = settings
        if names:
            self.changed.emit(names)

    def _write_soon(self) -> None:
        if self._writing:
            self._soon.start(_SOON_MS)
            return
        names, settings = self._unwritten, self.now
        self._writing, self._unwritten = names, frozenset()
        self._background.run(
            lambda: _write(self.path, settings, names), self._on_written, otherwise=self._on_fault
        )

    def _on_fault(self) -> None:
        # The next change takes them along.
        self._unwritten |= self._writing
        self._writing = frozenset()

    def _on_written(self, problem: ErrorInfo | None) -> None:
        names, self._writing = self._writing, frozenset()
        self._tell(problem)
        self._watch()
        if problem is None:
            self.look_again()
            return
        # Otherwise the file, which has the old values, would undo what a person just set.
        self._unwritten |= names
        if not (self._soon.isActive() or self._closed):
            self._soon.start(_AGAIN_MS)

    def _on_disk_changed(self, _path: str) -> None:
        self._settled.start()

    def _on_read(self, reading: Reading) -> None:
        self._watch()
        if not self.is_idle:
            return
        was_empty, self._was_empty = self._was_empty, reading.is_empty
        if reading.is_empty and not was_empty:
            QTimer.singleShot(_SETTLE_EMPTY_MS, self, self.look_again)
            return
        if reading.fault is None:
            self._take(reading.settings)
        self._tell(_mistake(self.path, reading))

    def _tell(self, problem: ErrorInfo | None) -> None:
        if problem is not None and problem != self._told:
            self.failed.emit(problem)
        self._told = problem

    def _watch(self) -> None:
        wanted = {str(path) for path in (self.path.parent, self.path) if path.exists()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if missing := sorted(wanted - watched):
            self._watcher.addPaths(missing)


def _differences(settings: Settings, other: Settings) -> frozenset[str]:
    return frozenset(name for name in stated() if getattr(settings, name) != getattr(other, name))


def _write(path: Path, settings: Settings, names: frozenset[str]) -> ErrorInfo | None:
    """Write these settings into the file, which may have been changed since it was read."""
    reading = read_settings(path)
    if reading.fault is Fault.UNREADABLE:
        # What a person wrote in it would be lost with it; another program may leave it soon.
        return _unwritable(path, OSError(reading.detail))
    if reading.fault is not None:
        put_aside(path, reading.fault)
    try:
        write_settings(path, reading, settings, names)
    except (OSError, ValueError) as error:
        _log.warning("the settings cannot be kept: %s", error)
        return _unwritable(path, error, len(reading.text or ""))
    return None


def _put_aside(path: Path, reading: Reading) -> ErrorInfo | None:
    """Put a file aside that cannot be used, and return the problem; None if there is none."""
    if reading.fault is None:
        return _mistake(path, reading)
    aside = put_aside(path, reading.fault)
    message = (
        translate("SettingsState", "The settings were left by a newer version of Safelight.")
        if reading.fault is Fault.NEWER
        else translate("SettingsState", "The file of the settings cannot be read.")
    )
    hint = translate("SettingsState", "Every setting is as usual.")
    if _bring_back(path):
        hint = translate("SettingsState", "The settings from before the update are used.")
    if aside is not None:
        kept = translate("SettingsState", "The file was kept as {path}.").format(path=aside)
        hint = f"{hint} {kept}"
    return ErrorInfo(ErrorCode.SETTINGS_UNREADABLE, message, hint, reading.detail)


def _bring_back(path: Path) -> bool:
    """Put the copy that this version left before an update in place; return False without one."""
    copy = kept_file(path, version("safelight"))
    if read_settings(copy).text is None:
        return False
    try:
        replace_file(path, copy.read_bytes(), durable=True)
    except OSError:
        return False
    return True


def _mistake(path: Path, reading: Reading) -> ErrorInfo | None:
    """Return the problem with a file that a person writes at this moment; None if it is good."""
    if reading.fault is not None:
        return ErrorInfo(
            ErrorCode.SETTINGS_UNREADABLE,
            translate("SettingsState", "There is a mistake in {path}: {detail}.").format(
                path=path, detail=reading.detail.rstrip(".")
            ),
            translate("SettingsState", "The settings stay as they were until it is mended."),
        )
    if not reading.refused:
        return None
    return ErrorInfo(
        ErrorCode.SETTINGS_UNREADABLE,
        translate(
            "SettingsState", "These settings have values that make no sense: {names}."
        ).format(names=", ".join(reading.refused)),
        translate("SettingsState", "They are as usual. The file is {path}.").format(path=path),
    )


def _unwritable(path: Path, error: OSError | ValueError, size: int = 0) -> ErrorInfo:
    is_full = isinstance(error, OSError) and error.errno in FULL
    return ErrorInfo(
        ErrorCode.DISK_FULL if is_full else ErrorCode.OUTPUT_NOT_WRITABLE,
        translate("SettingsState", "The settings cannot be kept for the next start."),
        make_room(path.parent, size)
        if is_full
        else translate("SettingsState", "See that {path} can be written.").format(path=path),
        str(error),
    )
