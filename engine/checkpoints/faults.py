"""The errors that all readers of files raise."""

from collections.abc import Mapping
from pathlib import Path

from backends.base import FileSlice
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

DOWNLOAD_AGAIN = sentence("Download it again.")
_UNITS = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def not_found(path: Path) -> EngineError:
    """Return the error for a path where there is nothing."""
    return EngineError(
        ErrorCode.CHECKPOINT_NOT_FOUND,
        sentence("{path} is not in {parent}.", path=path.name, parent=path.absolute().parent),
        sentence("It may have been moved or renamed; choose it again."),
    )


def unreadable(path: Path, error: OSError) -> EngineError:
    """Return the error for a file that the system does not let us read."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence(
            "{path} cannot be read: {reason}.", path=path.name, reason=error.strerror or error
        ),
        sentence("Check that the disk is connected and that you may read the file."),
    )


def changed(path: Path) -> EngineError:
    """Return the error for a file that became another while it was used."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence("{path} changed while it was read.", path=path.name),
        sentence("If it is still downloading, wait until that has finished."),
    )


def corrupt(path: Path, what: Sentence, detail: str = "") -> EngineError:
    """Return the error for a file whose claims contradict each other or the file."""
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT,
        sentence("{path} is damaged: {what}.", path=path.name, what=what),
        DOWNLOAD_AGAIN,
        detail,
    )


def require_rows(path: Path, tensors: Mapping[str, FileSlice]) -> None:
    """Raise EngineError(CHECKPOINT_UNREADABLE) for kernels with their channels last."""
    name = next((name for name, tensor in tensors.items() if tensor.channels_last), None)
    if name is not None:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNREADABLE,
            sentence(
                "{path} stores {name} in an order of its own, in which only upscalers and "
                "checkpoints are read.",
                path=path.name,
                name=quoted(name),
            ),
            sentence("Get the .safetensors version."),
        )


def quoted(text: str) -> str:
    """Return a name from a file, safe to print and of bounded length."""
    return ascii(text if len(text) <= 80 else text[:77] + "...")


def require_size(path: Path, size: int, end: int) -> None:
    """Raise EngineError(CHECKPOINT_TRUNCATED) for a file of `size` bytes that needs `end`."""
    if size < end:
        raise EngineError(
            ErrorCode.CHECKPOINT_TRUNCATED,
            sentence("{path} is incomplete: the file is {of}.", path=path.name, of=_of(size, end)),
            DOWNLOAD_AGAIN,
        )


def amount(size: int) -> Sentence:
    """Return a number of bytes in the largest unit that it fills."""
    for unit, factor in _UNITS:
        if size >= factor:
            return sentence("{size:.1f} {unit}", size=size / factor, unit=unit)
    return sentence("{size} bytes", size=size)


def _of(part: int, whole: int) -> Sentence:
    """Return "3.1 of 6.9 GB", in the largest unit that distinguishes the two."""
    for unit, factor in _UNITS:
        have, want = part / factor, whole / factor
        if whole >= factor and f"{have:.1f}" != f"{want:.1f}":
            return sentence("{part:.1f} of {whole:.1f} {unit}", part=have, whole=want, unit=unit)
    return sentence("{part} of {whole} bytes", part=part, whole=whole)
