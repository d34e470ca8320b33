"""The texts of a picture file of unknown origin: PNG, JPEG or WebP, whatever its suffix."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from engine.api import ErrorCode
from engine.api.sentences import Sentence, sentence
from engine.errors import EngineError
from engine.file_paths import why_no_file
from engine.metadata.jpeg import jpeg_texts
from engine.metadata.picture_kinds import HEAD_BYTES, PictureKind, kind_of_head
from engine.metadata.png import png_texts
from engine.metadata.texts import MAX_TEXT_BYTES, MAX_TEXTS, TextChunk
from engine.metadata.webp import webp_texts
from engine.regular_file import open_regular

_READERS: dict[PictureKind | None, Callable[[BinaryIO], Iterator[TextChunk]]] = {
    PictureKind.PNG: png_texts,
    PictureKind.JPEG: jpeg_texts,
    PictureKind.WEBP: webp_texts,
}


def read_text_chunks(path: Path) -> tuple[TextChunk, ...]:
    """Return the intact texts of a PNG, JPEG or WebP file, in order.

    Texts that are damaged, malformed or beyond the bounds are left out; a truncated file gives the
    texts before its end. Pixels are never decoded. Raises INPUT_IMAGE_UNREADABLE if the file cannot
    be read or has another format.
    """
    try:
        if problem := why_no_file(path):
            raise _unreadable(path, problem)
        with open_regular(path) as file:
            return tuple(_bounded(_texts(path, file)))
    # A path with a null character raises ValueError.
    except (OSError, ValueError) as error:
        raise _unreadable(path, sentence("it cannot be opened"), str(error)) from error


def _texts(path: Path, file: BinaryIO) -> Iterator[TextChunk]:
    head = file.read(HEAD_BYTES)
    if not head:
        raise _unreadable(path, sentence("it is empty"))
    read = _READERS.get(kind_of_head(head))
    if read is None:
        raise _unreadable(path, sentence("it is no PNG, JPEG or WebP file"))
    return read(file)


def _bounded(texts: Iterator[TextChunk]) -> Iterator[TextChunk]:
    budget = MAX_TEXT_BYTES
    for chunk in islice(texts, MAX_TEXTS):
        budget -= len(chunk.text)
        if budget < 0:
            return
        yield chunk


def _unreadable(path: Path, reason: Sentence, detail: str = "") -> EngineError:
    return EngineError(
        ErrorCode.INPUT_IMAGE_UNREADABLE,
        sentence("The picture {path} cannot be read: {reason}.", path=path, reason=reason),
        sentence("Choose a PNG, JPEG or WebP file."),
        detail,
    )
