"""The versions' state: which one starts, whether it has proved itself, and which were left.

    (installed) --activated--> TRIAL, starts 0 --start--> starts 1, 2 --its first picture--> GOOD
                                 ^                  |  its window is up and its engine answers
                                 '---- starts 0 <---'
                                                    '-- a third start is due: left, the one before

One small file that every version reads and changes, also older ones: fields are only ever added,
and those that this version does not know are kept. Standard library only, because the launcher
decides by it which code runs.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from app.versions.names import is_version

if TYPE_CHECKING:
    from pathlib import Path

    from engine.file_lock import FileLock

FORMAT = 1
# Starts of a version on trial that may fail.
MOST_STARTS = 2
TRIAL, GOOD = "trial", "good"
# The reasons for which a version is left.
DID_NOT_START, CANNOT_RUN, GONE_BACK = "did_not_start", "cannot_run", "gone_back"
_FILE, _LOCK = "state.json", "state.lock"
_MOST_BYTES = 1 << 16
_MOST_LEFT = 8
_PATIENCE_S = 10.0


class LeftVersion(NamedTuple):
    """A version that is not used any more, and why: one of the reasons above.

    `detail` is for a report. `told` is set once a person was told; going back needs no telling.
    """

    version: str
    reason: str
    detail: str = ""
    told: bool = False


class VersionsState(NamedTuple):
    """The state of one user's versions.

    `active` is the version that starts in place of an older installed one; empty: the installed
    one starts. `starts` counts the starts of a version on trial that did not succeed yet.
    `previous` is the version before. `unknown` has the fields of newer versions.
    """

    active: str = ""
    stage: str = GOOD
    starts: int = 0
    previous: str = ""
    left: tuple[LeftVersion, ...] = ()
    unknown: Mapping[str, Any] | None = None

    def activated(self, version: str, previous: str) -> "VersionsState":
        """Return the state after a version was installed; it is on trial from its next start."""
        left = tuple(other for other in self.left if other.version != version)
        return self._replace(active=version, stage=TRIAL, starts=0, previous=previous, left=left)

    def counted(self, version: str) -> "VersionsState":
        """Return the state at the start of a version on trial; left if it failed too often."""
        if not self._is_on_trial(version):
            return self
        if self.starts < MOST_STARTS:
            return self._replace(starts=self.starts + 1)
        return self.without(version, DID_NOT_START, f"{self.starts} starts failed")

    def uncounted(self, version: str) -> "VersionsState":
        """Return the state after a start that a person ended, which says nothing."""
        if not self._is_on_trial(version):
            return self
        return self._replace(starts=max(0, self.starts - 1))

    def started(self, version: str) -> "VersionsState":
        """Return the state after a version's window is up and its engine answers."""
        return self._replace(starts=0) if self._is_on_trial(version) else self

    def proved(self, version: str) -> "VersionsState":
        """Return the state after a version made a picture."""
        return self._replace(stage=GOOD, starts=0) if self.active == version else self

    def without(self, version: str, reason: str, detail: str = "") -> "VersionsState":
        """Return the state after a version was left; the previous one is active, and good."""
        if self.active != version:
            return self
        others = (other for other in self.left if other.version != version)
        left = (*others, LeftVersion(version, reason, detail, told=reason == GONE_BACK))
        return self._replace(
            active=self.previous, stage=GOOD, starts=0, previous="", left=left[-_MOST_LEFT:]
        )

    def told(self) -> "VersionsState":
        """Return the state after a person was told of all versions that were left."""
        return self._replace(left=tuple(left._replace(told=True) for left in self.left))

    def _is_on_trial(self, version: str) -> bool:
        return self.active == version and self.stage == TRIAL


# A change that is applied to the state as it is on the disk.
Change = Callable[[VersionsState], VersionsState]


def read_state(folder: str) -> VersionsState:
    """Return the state; that of a fresh installation if there is none, or none that makes sense."""
    try:
        with open(os.path.join(folder, _FILE), "rb") as file:  # noqa: PTH118, PTH123 (fast start)
            content: Any = json.loads(file.read(_MOST_BYTES))
        return _from_json(content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return VersionsState()


def change_state(folder: "Path", change: Change) -> VersionsState:
    """Apply a change to the state, one process at a time, and return the result.

    The result is on the disk. Raises OSError, also if another process keeps the lock for long.
    """
    from engine.durable import replace_file

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = _locked(folder / _LOCK)
    try:
        before = read_state(str(folder))
        after = change(before)
        if after != before:
            replace_file(folder / _FILE, json.dumps(_to_json(after)).encode(), durable=True)
        return after
    finally:
        lock.release()


def _locked(path: "Path") -> "FileLock":
    from engine.file_lock import FileLock

    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return FileLock(path, create=True)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _from_json(content: dict[str, Any]) -> VersionsState:
    """Raise ValueError, TypeError or KeyError for a content that makes no sense."""
    if content.pop("format") != FORMAT:
        raise ValueError("written by a version whose state is another")
    active, previous = str(content.pop("active")), str(content.pop("previous"))
    if not all(name == "" or is_version(name) for name in (active, previous)):
        raise ValueError("no version")
    return VersionsState(
        active=active,
        stage=str(content.pop("stage")),
        starts=int(content.pop("starts")),
        previous=previous,
        left=tuple(_left_from_json(left) for left in content.pop("left")),
        unknown=content or None,
    )


def _left_from_json(left: dict[str, Any]) -> LeftVersion:
    texts = (str(left[name]) for name in ("version", "reason", "detail"))
    return LeftVersion(*texts, told=bool(left["told"]))


def _to_json(state: VersionsState) -> dict[str, Any]:
    return {
        **(state.unknown or {}),
        "format": FORMAT,
        "active": state.active,
        "stage": state.stage,
        "starts": state.starts,
        "previous": state.previous,
        "left": [
            {
                "version": entry.version,
                "reason": entry.reason,
                "detail": entry.detail,
                "told": entry.told,
            }
            for entry in state.left
        ],
    }
