"""The JSON header of a safetensors file; every claim is checked before use.

A file comes from strangers, so the rules are those of the reference reader, and stricter ones where
that reader has been lax: the tensors must tile the data exactly, without holes or overlaps, and no
key may occur twice.
"""

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Annotated

import msgspec

from backends.base import DType, FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.faults import corrupt, quoted
from engine.checkpoints.limits import MAX_DIMENSION, MAX_NAME_CHARS, MAX_RANK, MAX_TENSORS
from engine.errors import EngineError

LENGTH_BYTES = 8
# Commas and opening brackets bound the memory that the JSON parser can allocate.
MAX_JSON_MARKS = 500_000
MAX_METADATA_ENTRIES = 1000
MAX_METADATA_CHARS = 32_768

METADATA = "__metadata__"
_FORMATS = {dtype.value: (dtype, dtype.itemsize) for dtype in DType if dtype.block is None}


class Header(msgspec.Struct, frozen=True):
    """A checked header: tensors with offsets from the file's start, and the end of the last one."""

    tensors: Mapping[str, FileSlice]
    metadata: Mapping[str, str]
    end: int


_Dimension = Annotated[int, msgspec.Meta(ge=0, lt=MAX_DIMENSION)]
_Offset = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]


class _Entry(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A header's entry for one tensor; offsets count from the end of the header."""

    dtype: str
    shape: Annotated[tuple[_Dimension, ...], msgspec.Meta(max_length=MAX_RANK)]
    data_offsets: tuple[_Offset, _Offset]


_ENTRIES = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENTRY = msgspec.json.Decoder(_Entry)
_TEXTS = msgspec.json.Decoder(dict[str, str])


def parse_header(raw: bytes, path: Path) -> Header:
    """Check the JSON of a header and place its tensors; `path` is recorded, but not opened."""
    entries = _decode(raw, path)
    texts = entries.pop(METADATA, None)
    metadata = _metadata(texts, path)
    if len(entries) > MAX_TENSORS:
        raise corrupt(
            path,
            sentence(
                "it lists {count} tensors, over the limit of {max_tensors}",
                count=len(entries),
                max_tensors=MAX_TENSORS,
            ),
        )
    data_start = LENGTH_BYTES + len(raw)
    spans: list[tuple[int, int, str]] = []
    tensors: dict[str, FileSlice] = {}
    for name, fields in entries.items():
        entry, dtype = _checked_entry(name, fields, path)
        begin, end = entry.data_offsets
        spans.append((begin, end, name))
        tensors[name] = FileSlice(path, data_start + begin, dtype, entry.shape)
    _refuse_duplicates(raw, len(tensors), texts, path)
    cursor = 0
    for begin, end, name in sorted(spans):
        if begin != cursor:
            fault = (
                sentence("overlaps another")
                if begin < cursor
                else sentence("leaves a gap before it")
            )
            raise corrupt(
                path, sentence("tensor {quoted} {fault}", quoted=quoted(name), fault=fault)
            )
        cursor = end
    return Header(tensors, _shown(metadata), data_start + cursor)


def whole_metadata(raw: bytes, path: Path) -> dict[str, str]:
    """Return the metadata of a header, which `parse_header` cuts to what can be shown."""
    return _metadata(_decode(raw, path).get(METADATA), path) or {}


def _decode(raw: bytes, path: Path) -> dict[str, msgspec.Raw]:
    marks = raw.count(b",") + raw.count(b"{") + raw.count(b"[")
    if marks > MAX_JSON_MARKS:
        raise corrupt(path, sentence("its header has far more entries than any model"))
    try:
        raw.decode("utf-8")  # the parser does not look at text that it only passes on
        return _ENTRIES.decode(raw)
    except RecursionError:
        raise corrupt(path, sentence("its header is nested too deeply")) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise corrupt(path, sentence("its header is not valid JSON"), str(error)) from error


def _checked_entry(name: str, fields: msgspec.Raw, path: Path) -> tuple[_Entry, DType]:
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise corrupt(
            path,
            sentence("tensor name {quoted} is too long or not plain text", quoted=quoted(name)),
        )
    try:
        entry = _ENTRY.decode(fields)
    except (msgspec.DecodeError, RecursionError) as error:
        what = sentence("the entry of tensor {name} in its header is wrong", name=quoted(name))
        raise corrupt(path, what, str(error)) from error
    dtype, itemsize = _FORMATS.get(entry.dtype, (None, 0))
    if dtype is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNREADABLE,
            sentence(
                "{path} stores {quoted} in the number format {quoted_2}, which this "
                "version does not know.",
                path=path.name,
                quoted=quoted(name),
                quoted_2=quoted(entry.dtype),
            ),
            sentence("Get the fp16 or fp32 version of the model."),
        )
    begin, end = entry.data_offsets
    # Python integers do not overflow, so a product of large dimensions cannot look like a small
    # one.
    if end - begin != prod(entry.shape) * itemsize:
        raise corrupt(
            path,
            sentence("tensor {quoted} has a size that does not fit its shape", quoted=quoted(name)),
        )
    return entry, dtype


def _metadata(fields: msgspec.Raw | None, path: Path) -> dict[str, str] | None:
    if fields is None:
        return None
    try:
        metadata = _TEXTS.decode(fields)
    except (msgspec.DecodeError, RecursionError) as error:
        raise corrupt(path, sentence("its metadata is not a list of texts"), str(error)) from error
    if len(metadata) > MAX_METADATA_ENTRIES:
        raise corrupt(path, sentence("it has {count} metadata entries", count=len(metadata)))
    return metadata


def _shown(metadata: dict[str, str] | None) -> dict[str, str]:
    """Return the author's free text, cut to a length that can be shown."""
    return {
        name[:MAX_NAME_CHARS]: text[:MAX_METADATA_CHARS] for name, text in (metadata or {}).items()
    }


def _refuse_duplicates(raw: bytes, tensors: int, metadata: msgspec.Raw | None, path: Path) -> None:
    """Refuse equal keys: readers disagree about which of them counts; this parser takes the last.

    Without a backslash every quotation mark opens or closes a string, and the parsed entries
    determine the number of strings: a tensor's name, its dtype and its three keys, and the
    metadata's name. With backslashes a second, slower parser that sees every pair decides. The
    metadata, which often have some, are parsed apart.
    """
    texts = b"" if metadata is None else bytes(metadata)
    strings = 5 * tensors + (metadata is not None)
    is_plain = raw.count(b"\\") == texts.count(b"\\")
    if is_plain and raw.count(b'"') - texts.count(b'"') == 2 * strings:
        raw = texts
    if not raw:
        return
    try:
        json.loads(raw, object_pairs_hook=_unique)
    except _DuplicateKeyError as error:
        raise corrupt(path, sentence("its header lists {error} twice", error=error)) from None
    except ValueError as error:  # the second parser is the stricter one
        raise corrupt(path, sentence("its header is not valid JSON"), str(error)) from error


class _DuplicateKeyError(Exception):
    """A JSON object contains the same key twice."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise _DuplicateKeyError(quoted(twice))
    return fields
