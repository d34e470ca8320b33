"""What the window had in it, as a file that is read at the next start."""

from pathlib import Path
from typing import Any

import msgspec

from app.form.fields import Form
from app.storage.aside import put_aside
from engine.api.limits import MAX_SEED
from engine.api.values import ErrorCode, ErrorInfo
from engine.regular_file import read_bounded
from engine.untrusted_json import decode_json

VERSION = 1
FILE = "session.json"
# Two prompts of the longest kind take a hundredth of it.
_MOST_BYTES = 16 << 20


class WindowPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a window is on the desktop, without its frame; where it would be, if maximized."""

    x: int
    y: int
    width: int
    height: int
    maximized: bool = False


class LastSession(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept. `opened` are the checkpoints that were opened where they lie."""

    form: Form
    opened: tuple[Path, ...] = ()
    place: WindowPlace | None = None
    version: int = VERSION


class _Version(msgspec.Struct, frozen=True):
    version: int


def _convert(kind: type, value: Any) -> Any:
    """The paths, which JSON has as texts."""
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError


_DECODER = msgspec.json.Decoder(LastSession, dec_hook=_convert)
_VERSION_DECODER = msgspec.json.Decoder(_Version)


def encode(last: LastSession) -> bytes:
    """It as the file's content. Raises UnicodeEncodeError for text that is not valid."""
    return msgspec.json.encode(last, enc_hook=str)


def read_last_session(folder: Path) -> tuple[LastSession | None, ErrorInfo | None]:
    """The session before, None where there is none; and what was wrong with its file.

    One that is damaged, or of a newer Safelight, is put aside. Never raises.
    """
    path = folder / FILE
    try:
        content = read_bounded(path, _MOST_BYTES)
        if decode_json(content, _VERSION_DECODER).version > VERSION:
            return None, _newer(put_aside(path, "newer"))
        last = decode_json(content, _DECODER)
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except OSError as error:
        return None, _damaged(put_aside(path, "unreadable"), str(error))
    except ValueError as error:
        return None, _damaged(put_aside(path, "damaged"), str(error))
    if _is_beyond(msgspec.to_builtins(last, enc_hook=str)):
        return None, _damaged(put_aside(path, "damaged"), "a number without sense")
    return last, None


def _is_beyond(value: Any) -> bool:
    """Whether a number in it is larger than anything that a message or a control can hold."""
    if isinstance(value, int):
        return not -MAX_SEED <= value <= MAX_SEED
    parts: list[Any] = []
    if isinstance(value, dict):
        parts = list(value.values())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list | tuple):
        parts = list(value)  # pyright: ignore[reportUnknownArgumentType]
    return any(map(_is_beyond, parts))


def _damaged(aside: Path | None, detail: str) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.SESSION_UNREADABLE,
        "What was in the window the last time cannot be read; it begins anew.",
        f"The file was kept as {aside}." if aside else "",
        detail,
    )


def _newer(aside: Path | None) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.SESSION_UNREADABLE,
        "What was in the window was left by a newer version of Safelight; this one begins anew.",
        f"It was kept as {aside}." if aside else "",
    )
