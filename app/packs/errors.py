"""Failures of packs in words."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.downloads.errors import DownloadCode, DownloadProblem
from app.downloads.source import Source
from engine.api.machine import PackVerdict
from engine.api.reasons import known_reason
from engine.api.sentences import NO_WORDS, Text, sentence
from engine.api.values import ErrorCode
from engine.durable import FULL
from engine.errors import EngineError

# Windows' errors for a file that its application control or a virus scanner blocks.
_BLOCKED = ("WinError 4551", "WinError 225", "WinError 1260")
_UNBLOCK = sentence(
    "Windows, or a virus scanner, keeps one of its files from being used; whoever administers this"
    " computer can allow it."
)


class WheelError(Exception):
    """A wheel that is damaged, or that holds what no wheel may hold."""

    def __init__(self, wheel: str, reason: str) -> None:
        super().__init__(f"{wheel}: {reason}")
        self.wheel, self.reason = wheel, reason


def in_use_elsewhere() -> EngineError:
    """Return the error for a second installation at once."""
    return EngineError(
        ErrorCode.PREPARING,
        sentence("Another Safelight is installing or removing a runtime pack now."),
        sentence("Wait until it has finished, then try again."),
    )


def not_installed(pack: str) -> EngineError:
    """Return the error for a pack that is not there."""
    return EngineError(
        ErrorCode.REQUEST_INVALID, sentence("The runtime pack {pack} is not installed.", pack=pack)
    )


def nothing_before(pack: str) -> EngineError:
    """Return the error for a pack without an earlier version."""
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence("There is no earlier version of the runtime pack {pack} here.", pack=pack),
    )


def no_room(folder: Path, missing: int, detail: str = "") -> EngineError:
    """Return the error for a disk with `missing` bytes too few."""
    return EngineError(
        ErrorCode.DISK_FULL,
        sentence(
            "There is no room for it in {folder}: {value:,} MB more are needed.",
            folder=folder,
            value=-(-missing // 1000000),
        ),
        sentence("Free some space, then try again."),
        detail,
    )


def unavailable(title: str, reason: Text) -> EngineError:
    """Return the error for a pack that does not exist for this machine."""
    return EngineError(
        ErrorCode.NOT_AVAILABLE,
        sentence("{title} cannot be installed here. {reason}", title=title, reason=reason),
    )


def not_downloaded(problem: DownloadProblem) -> EngineError:
    """Return the error for a download that ended without its file."""
    code = {
        DownloadCode.DISK_FULL: ErrorCode.DISK_FULL,
        DownloadCode.NOT_WRITABLE: ErrorCode.OUTPUT_NOT_WRITABLE,
    }.get(problem.code, ErrorCode.NOT_AVAILABLE)
    return EngineError(code, problem.text, problem.advice, problem.detail)


def not_here(wheel: Source, folder: Path) -> EngineError:
    """Return the error for a wheel that a person's folder lacks."""
    name, others = wheel.file_name.partition("-")[0], ""
    with suppress(OSError):
        others = ", ".join(sorted(path.name for path in folder.glob(f"{name}-*.whl")))
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence("{folder} has no {file_name}.", folder=folder, file_name=wheel.file_name),
        sentence("It has {others}, for another version, system or Python.", others=others)
        if others
        else NO_WORDS,
    )


def not_the_file(path: Path, wanted: tuple[Source, ...]) -> EngineError:
    """Return the error for a file that is none of a pack's, or differs from it."""
    if path.name in {wheel.file_name for wheel in wanted}:
        return EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "{path} is damaged, or another file of that name: its hash differs.", path=path.name
            ),
            sentence(
                "Nothing of it is used. Download it again from {address}",
                address=_address(path.name, wanted),
            ),
        )
    names = ", ".join(wheel.file_name for wheel in wanted)
    return EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence("{path} is no part of this runtime pack on this system.", path=path.name),
        sentence("It consists of {names}.", names=names),
    )


def damaged_wheel(error: WheelError) -> EngineError:
    """Return the error for a wheel that cannot be unpacked safely."""
    return EngineError(
        ErrorCode.NOT_AVAILABLE,
        sentence(
            "{wheel} is not installed: {reason}.",
            wheel=error.wheel,
            reason=known_reason(error.reason),
        ),
        sentence("Nothing of it is used."),
    )


def failed_trial(title: str, verdict: PackVerdict, *, stays: bool) -> EngineError:
    """Return the error for a pack that does not work here; `stays`: an earlier version does."""
    kept = sentence("Nothing was changed.")
    if stays:
        kept = sentence("The version before it stays in use.")
    blocked = any(sign in verdict.sentence for sign in _BLOCKED)
    return EngineError(
        ErrorCode.BACKEND_FAILED,
        sentence(
            "{title} does not work here and is not used. {sentence}",
            title=title,
            sentence=known_reason(verdict.sentence),
        ),
        sentence("{unblock} {kept}", unblock=_UNBLOCK, kept=kept) if blocked else kept,
    )


def _address(name: str, wanted: tuple[Source, ...]) -> str:
    return next(wheel.url for wheel in wanted if wheel.file_name == name)


@contextmanager
def store_errors(folder: Path, needed: int = 0) -> Generator[None]:
    """Turn an OSError of writing in the folder of packs into an EngineError.

    `needed` is the bytes that are to be written in all; 0 if few.
    """
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno in FULL:
            raise no_room(folder, _missing(folder, needed), str(error)) from error
        raise EngineError(
            ErrorCode.OUTPUT_NOT_WRITABLE,
            sentence(
                "The folder of runtime packs cannot be written: {value}.",
                value=error.strerror or error,
            ),
            sentence("See that {folder} can be written, then try again.", folder=folder),
            str(error),
        ) from error


def _missing(folder: Path, needed: int) -> int:
    """Return the bytes that a folder lacks for so many that are to be written; 1 at least."""
    free = 0
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
    # Where a quota is used up, the disk itself may have room.
    return max(needed - free if free < needed else needed, 1)
