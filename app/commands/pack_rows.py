"""Packs as the window draws them: facts, the stage of an installation, possible actions."""

from enum import StrEnum

import msgspec
from PySide6.QtCore import QCoreApplication, QLocale

from engine.api.values import ErrorInfo

translate = QCoreApplication.translate
# From here on a gain is told without decimals.
_ROUND = 4.95


class PackStage(StrEnum):
    """The stages of a pack, from its offer to its installation."""

    AVAILABLE = "available"
    # Another pack is being installed.
    WAITING = "waiting"
    DOWNLOADING = "downloading"
    PAUSED = "paused"
    VERIFYING = "verifying"
    UNPACKING = "unpacking"
    TRYING = "trying"
    # Its trial was passed; the engine starts with it when it has no pictures to make.
    READY = "ready"
    INSTALLED = "installed"


class PackAction(StrEnum):
    """The actions of a pack's buttons, in the order of the buttons."""

    INSTALL = "install"
    USE_NOW = "use_now"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    UPGRADE = "upgrade"
    REPAIR = "repair"
    GO_BACK = "go_back"
    REMOVE = "remove"


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a download; `bytes_per_second` is 0 while no speed is known."""

    done_bytes: int = 0
    total_bytes: int = 0
    bytes_per_second: float = 0.0


class Terms(msgspec.Struct, frozen=True):
    """The licence of a pack's packages, and the address of its text."""

    name: str
    url: str
    is_proprietary: bool = False


class PackRow(msgspec.Struct, frozen=True, kw_only=True):
    """A pack with all that the window says of it.

    `reason` is why it does not suit this machine, empty if it does. `gain` is what it was measured
    to bring, in words, `gain_source` where that is from; both are empty where nothing was measured.
    `needs` is what the machine must have. `installed` is the version that is installed, `previous`
    the one to go back to, each empty without one. `is_used` is True if pictures are made with it
    now, `times_as_fast` the measured gain over the plain processor in the trials of this machine.
    `remark` is why an installed pack is not used, where that is known; `problem` is the failure of
    the last attempt.
    """

    id: str
    version: str
    title: str
    summary: str
    licences: tuple[Terms, ...]
    hosts: tuple[str, ...]
    download_bytes: int
    disk_bytes: int
    reason: str = ""
    gain: str = ""
    gain_source: str = ""
    needs: str = ""
    stage: PackStage = PackStage.AVAILABLE
    progress: Progress = Progress()
    installed: str = ""
    previous: str = ""
    is_used: bool = False
    remark: str = ""
    problem: ErrorInfo | None = None
    times_as_fast: float | None = None

    @property
    def is_proprietary(self) -> bool:
        """True if a person is to see a licence before the download."""
        return any(terms.is_proprietary for terms in self.licences)


def standing(row: PackRow) -> str:
    """Return a sentence or two on the use of an installed pack."""
    used, installed = (
        translate("packs", "{title} is in use."),
        translate("packs", "{title} is installed."),
    )
    parts = [(used if row.is_used else installed).format(title=row.title)]
    if row.times_as_fast is not None and row.times_as_fast > 1:
        text = translate("packs", "It is about {n} times as fast as the plain processor here.")
        digits = 1 if row.times_as_fast < _ROUND else 0
        parts.append(text.format(n=QLocale().toString(row.times_as_fast, "f", digits)))
    elif row.remark:
        text = translate("packs", "It cannot be used: {reason}.")
        parts.append(text.format(reason=row.remark.rstrip(".")))
    elif not row.is_used and row.times_as_fast is not None:
        parts.append(translate("packs", "It is not faster than the plain processor here."))
    return " ".join(parts)


def actions_of(row: PackRow) -> tuple[PackAction, ...]:
    """Return what can be done with a pack at its present stage, in the order of `PackAction`."""
    match row.stage:
        case PackStage.AVAILABLE:
            # Also for a card that was not recognised.
            return (PackAction.INSTALL,) if row.download_bytes else ()
        case PackStage.DOWNLOADING:
            return PackAction.PAUSE, PackAction.CANCEL
        case PackStage.PAUSED:
            return PackAction.RESUME, PackAction.CANCEL
        case PackStage.READY:
            return (PackAction.USE_NOW, *_kept(row))
        case PackStage.INSTALLED:
            return _kept(row)
        case _:
            return (PackAction.CANCEL,)


def _kept(row: PackRow) -> tuple[PackAction, ...]:
    """Return what can be done with an installed pack."""
    upgrade = (PackAction.UPGRADE,) if row.version != row.installed else ()
    back = (PackAction.GO_BACK,) if row.previous else ()
    return (*upgrade, PackAction.REPAIR, *back, PackAction.REMOVE)
