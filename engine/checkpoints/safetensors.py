"""Safetensors files: an 8-byte length, a JSON header, and the tensors' bytes.

This module has the rules about the file, `header` those about the JSON. A file of another kind is
named in the error: a web page, a pickle, half a download.
"""

import os
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.faults import DOWNLOAD_AGAIN, amount, corrupt, require_size
from engine.checkpoints.header import LENGTH_BYTES, parse_header, whole_metadata
from engine.checkpoints.index import FileState, TensorIndex, sampled_digest
from engine.checkpoints.opening import Recall, nothing_known, read_steadily
from engine.errors import EngineError

MAX_HEADER_BYTES = 16 * 1024 * 1024


class _Magic(msgspec.Struct, frozen=True):
    """The first bytes of another kind of file, and the message for the user who picked it."""

    start: bytes
    what: Sentence
    hint: Sentence


_WEB_PAGE_HINT = sentence(
    "The download needs a login or an API key; get the file through the browser."
)
_CONVERT_HINT = sentence(
    "Files of this kind are programs, and Safelight does not run them. Get the .safetensors"
    " version, or save the model as one in the program that wrote this file."
)
_UNPACK_HINT = sentence("Unpack it, and choose the model that is in it.")
_OTHER_FILES = (
    _Magic(b"<!doctype", sentence("a web page saved under this name"), _WEB_PAGE_HINT),
    _Magic(b"<html", sentence("a web page saved under this name"), _WEB_PAGE_HINT),
    _Magic(b"<?xml", sentence("an XML reply from a server saved under this name"), _WEB_PAGE_HINT),
    _Magic(
        b"version https://git-lfs",
        sentence("a Git LFS pointer, not the file itself"),
        sentence("Run git lfs pull."),
    ),
    *(
        _Magic(start, sentence("a pickle, but no checkpoint of PyTorch's"), _CONVERT_HINT)
        for start in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
    ),
    _Magic(b"gguf", sentence("a GGUF file"), sentence("Get the .safetensors version.")),
    _Magic(b"\x89png", sentence("a picture"), sentence("Choose a model.")),
    _Magic(b"\xff\xd8\xff", sentence("a picture"), sentence("Choose a model.")),
    # Its models and LoRAs are databases that end in .ckpt.
    _Magic(
        b"sqlite format 3\x00",
        sentence("a {name} model", name="Draw Things"),
        sentence("Get the .safetensors version."),
    ),
    _Magic(b"7z\xbc\xaf\x27\x1c", sentence("a packed archive (7z)"), _UNPACK_HINT),
    _Magic(b"rar!\x1a\x07", sentence("a packed archive (RAR)"), _UNPACK_HINT),
    _Magic(b"\x1f\x8b", sentence("a packed archive (gzip)"), _UNPACK_HINT),
    _Magic(b"\xfd7zxz\x00", sentence("a packed archive (xz)"), _UNPACK_HINT),
    _Magic(
        b"{",
        sentence("a JSON file"),
        sentence("Choose the model itself, or the folder that holds it."),
    ),
)


def read_index(path: Path, recall: Recall = nothing_known) -> TensorIndex:
    """Return the tensors of a safetensors file. Raises EngineError if it is unsound."""
    return read_steadily(path, partial(index_of, path, recall))


def index_of(path: Path, recall: Recall, file: BinaryIO, facts: os.stat_result) -> TensorIndex:
    """Return the tensors of a file open at its beginning. Raises EngineError and OSError."""
    raw = _header_bytes(file, path, facts.st_size)
    header = parse_header(raw, path)
    _check_size(path, facts.st_size, header.end)
    state = FileState.of(path, facts, raw)
    digest = recall(state) or sampled_digest(file, raw, facts.st_size)
    return TensorIndex(path, header.tensors, header.metadata, digest, state)


def read_metadata(path: Path) -> dict[str, str]:
    """Return the metadata of a safetensors file in full. Raises EngineError and OSError."""
    with path.open("rb") as file:
        return whole_metadata(_header_bytes(file, path, path.stat().st_size), path)


def _header_bytes(file: BinaryIO, path: Path, size: int) -> bytes:
    start = file.read(64)
    if not start:
        raise EngineError(
            ErrorCode.CHECKPOINT_NOT_SAFETENSORS,
            sentence("{path} is empty.", path=path.name),
            DOWNLOAD_AGAIN,
        )
    length = int.from_bytes(start[:LENGTH_BYTES], "little")
    begins_like_one = start[LENGTH_BYTES : LENGTH_BYTES + 1] == b"{"
    if not begins_like_one or length < 2:
        raise _not_safetensors(path, start)
    if length > MAX_HEADER_BYTES:
        raise corrupt(
            path,
            sentence("its header claims {length} bytes, over the limit of 16 MB", length=length),
        )
    if length > size - LENGTH_BYTES:
        raise EngineError(
            ErrorCode.CHECKPOINT_TRUNCATED,
            sentence(
                "{path} ends within its header, after {amount}.",
                path=path.name,
                amount=amount(size),
            ),
            DOWNLOAD_AGAIN,
        )
    file.seek(LENGTH_BYTES)
    raw = file.read(length)
    if len(raw) != length:
        raise corrupt(path, sentence("it became shorter while it was read"))
    return raw


def _check_size(path: Path, size: int, end: int) -> None:
    require_size(path, size, end)
    if size > end:
        raise corrupt(path, sentence("{amount} follow its last tensor", amount=amount(size - end)))


def _not_safetensors(path: Path, start: bytes) -> EngineError:
    beginning = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for magic in _OTHER_FILES:
        if beginning.startswith(magic.start):
            return EngineError(
                ErrorCode.CHECKPOINT_NOT_SAFETENSORS,
                sentence("{path} is {what}.", path=path.name, what=magic.what),
                magic.hint,
            )
    kind = sentence("safetensors file")
    if path.suffix.lower() == ".ckpt":
        kind = sentence("PyTorch checkpoint")
    return EngineError(
        ErrorCode.CHECKPOINT_NOT_SAFETENSORS,
        sentence("{path} is not a {kind}.", path=path.name, kind=kind),
        sentence("Choose another model, or download it again."),
    )
