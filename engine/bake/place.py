"""The place of a baked checkpoint: checked before anything is read, and taken in one step."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.api.weight_suffixes import SAFETENSORS_SUFFIXES
from engine.bake.writing import no_room, not_writable
from engine.durable import (
    LONG_PATIENCE_S,
    put_in_place,
    rename_folder,
    rename_without_overwrite,
)
from engine.errors import EngineError
from engine.file_paths import is_folder, is_same_place


def require_place(target: Path, base: Path, sources: Iterable[Path], *, replace: bool) -> None:
    """Raise EngineError unless a checkpoint may be written to `target`.

    `sources` are the files that it is made of. A file is replaced only with `replace`, and neither
    a folder nor one of the sources ever is.
    """
    _require_kind(target, base)
    if not is_folder(target.parent):
        raise not_writable(target, sentence("there is no such folder"))
    if os.path.lexists(target):
        if any(is_same_place(target, source) for source in (base, *sources)):
            raise _taken(target, sentence("is what the new model is made of"))
        if is_folder(target) or not replace:
            raise _taken(target, sentence("exists already"))
    if not os.access(target.parent, os.W_OK):
        raise not_writable(target, sentence("you may not write there"))


def require_room(target: Path, size: int) -> None:
    """Raise EngineError(DISK_FULL) unless `size` bytes are free on the disk of `target`."""
    if shutil.disk_usage(target.parent).free < size:
        raise no_room(target, size)


def publish(part: Path, target: Path, *, replace: bool) -> None:
    """Give a whole file or folder its name in one step. Raises EngineError and OSError."""
    try:
        if replace:
            put_in_place(part, target, LONG_PATIENCE_S)
        elif part.is_dir():
            # Fails if there is anything but an empty folder.
            rename_folder(part, target)
        else:
            rename_without_overwrite(part, target, LONG_PATIENCE_S)
    except (FileExistsError, NotADirectoryError):
        raise _taken(target, sentence("exists already")) from None


def _require_kind(target: Path, base: Path) -> None:
    names_file = target.suffix.lower() in SAFETENSORS_SUFFIXES
    if is_folder(base) and names_file:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("{base} is a folder, and so is what is baked from it.", base=base.name),
            sentence("Name it {stem}.", stem=target.stem),
        )
    if not is_folder(base) and not names_file:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("Models are written as .safetensors files."),
            sentence("Name it {target}.safetensors.", target=target.name),
        )


def _taken(target: Path, reason: Sentence) -> EngineError:
    return EngineError(
        ErrorCode.OUTPUT_NOT_WRITABLE,
        sentence("{target} {reason}.", target=target.name, reason=reason),
        sentence("Choose another name."),
    )
