"""The form and the window's place, in a file that is read at the next start."""

from pathlib import Path
from typing import Any

import msgspec

from app.form.fields import Form
from app.storage.document import DocumentKind, text_to_path
from engine.api.limits import MAX_SEED
from engine.api.texts import encode_json
from engine.api.values import ErrorInfo

VERSION = 1
FILE = "session.json"
# Two prompts of the longest kind take a hundredth of it.
_MOST_BYTES = 16 << 20


class WindowPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A window's place on the desktop without its frame; if maximized, its place before."""

    x: int
    y: int
    width: int
    height: int
    maximized: bool = False


class LastSession(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file. `opened` are checkpoints outside of the models folder."""

    form: Form
    opened: tuple[Path, ...] = ()
    place: WindowPlace | None = None
    version: int = VERSION


_KIND = DocumentKind(
    msgspec.json.Decoder(LastSession, dec_hook=text_to_path),
    _MOST_BYTES,
    damaged="What was in the window the last time cannot be read; it begins anew.",
    newer="What was in the window was left by a newer version of Safelight; this one begins anew.",
    version=VERSION,
)


def encode(last: LastSession) -> bytes:
    """Return a session as the content of its file."""
    return encode_json(last, enc_hook=str)


def read_last_session(folder: Path) -> tuple[LastSession | None, ErrorInfo | None]:
    """Return the last session and the problem with its file; None for either that is missing.

    A file that is damaged, or of a newer Safelight, is put aside. Never raises.
    """
    path = folder / FILE
    last, problem = _KIND.read(path)
    if last is not None and _is_beyond(msgspec.to_builtins(last, enc_hook=str)):
        return None, _KIND.reject(path, "a number without sense")
    return last, problem


def _is_beyond(value: Any) -> bool:
    """Return True if a value holds an integer too large for a message or a control."""
    if isinstance(value, int):
        return not -MAX_SEED <= value <= MAX_SEED
    parts: list[Any] = []
    if isinstance(value, dict):
        parts = list(value.values())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list | tuple):
        parts = list(value)  # pyright: ignore[reportUnknownArgumentType]
    return any(map(_is_beyond, parts))
