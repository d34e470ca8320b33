"""Small JSON files of the application's own; a damaged one is put aside and reported."""

from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from app.storage.aside import put_aside
from app.versions.kept_files import kept_file
from engine.api.limits import MAX_SEED
from engine.api.sentences import NO_WORDS, Sentence, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.regular_file import read_bounded, read_when_free
from engine.untrusted_json import decode_json

Value = TypeVar("Value")

_BEFORE_UPDATE = sentence(
    "A newer version of Safelight left a file that this one cannot read; what was in it before the"
    " update is used."
)


def text_to_path(kind: type, value: Any) -> Any:
    """Convert a JSON text to a path, as the `dec_hook` of documents with paths in them."""
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError


class _Version(msgspec.Struct, frozen=True):
    version: int


_version_decoder = msgspec.json.Decoder(_Version)


class DocumentKind(msgspec.Struct, Generic[Value], frozen=True):
    """A kind of document: its content, its largest size, and how its problems are told.

    A file whose field `version` is above `version` is of a newer Safelight. `damaged` and `newer`
    are sentences for a person.
    """

    decoder: msgspec.json.Decoder[Value]
    most_bytes: int
    damaged: Sentence
    newer: Sentence = NO_WORDS
    version: int | None = None

    def read(self, path: Path) -> tuple[Value | None, ErrorInfo | None]:
        """Return the content and the problem with the file; None for either that is missing.

        A file that cannot be read is put aside, and the problem names its new place. If it is of a
        newer Safelight, the content is that of the copy from before the update, where there is one.
        Never raises.
        """
        try:
            content = read_when_free(path, self.most_bytes)
            if self._is_newer(content):
                return self._before_update(path, self._put_aside(path, "newer", ""))
            return self._decode(content), None
        except (FileNotFoundError, NotADirectoryError):
            return None, None
        except OSError as error:
            return None, self._put_aside(path, "unreadable", str(error))
        except ValueError as error:  # JsonError, and what a decoder's own hook raises
            # Also a file with words that only a newer version knows.
            return self._before_update(path, self._put_aside(path, "damaged", str(error)))

    def _before_update(self, path: Path, problem: ErrorInfo) -> tuple[Value | None, ErrorInfo]:
        """Return the content of a file's copy, if there is one, and the problem with the file."""
        try:
            content = read_bounded(kept_file(path, version("safelight")), self.most_bytes)
            return self._decode(content), msgspec.structs.replace(problem, text=_BEFORE_UPDATE)
        except (OSError, ValueError):
            return None, problem

    def _decode(self, content: bytes) -> Value:
        """Return the content of a file. Raises ValueError if it makes no sense."""
        value = decode_json(content, self.decoder)
        if _is_beyond(msgspec.to_builtins(value, enc_hook=str)):
            raise ValueError("a number without sense")
        return value

    def _is_newer(self, content: bytes) -> bool:
        if self.version is None:
            return False
        return decode_json(content, _version_decoder).version > self.version

    def _put_aside(self, path: Path, why: str, detail: str) -> ErrorInfo:
        aside = put_aside(path, why)
        is_newer = why == "newer"
        return ErrorInfo(
            ErrorCode.SESSION_UNREADABLE,
            self.newer if is_newer else self.damaged,
            sentence("The file was kept as {name}.", name=aside) if aside else "",
            detail,
        )


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
