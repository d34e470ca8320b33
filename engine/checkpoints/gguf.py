"""GGUF files: llama.cpp's format of weights in blocks of small integers, as one index.

The file is read by offsets, never whole. `gguf_header` has the header's grammar, `gguf_names` the
authors' names of text encoders; this module places the tensors.
"""

import os
from math import prod
from pathlib import Path
from typing import BinaryIO

from backends.base import FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.faults import (
    DOWNLOAD_AGAIN,
    amount,
    corrupt,
    quoted,
    require_size,
)
from engine.checkpoints.gguf_header import (
    Damaged,
    Ended,
    GgufHeader,
    UnknownType,
    read_header,
    split_parts,
)
from engine.checkpoints.gguf_names import authors_names
from engine.checkpoints.index import FileState, TensorIndex, sampled_digest
from engine.checkpoints.opening import Recall
from engine.errors import EngineError


def index_of(path: Path, recall: Recall, file: BinaryIO, facts: os.stat_result) -> TensorIndex:
    """Return the tensors of a file open at its beginning, under their authors' names.

    Raises EngineError for an unsound file, for one part of several and for types that are not read;
    OSError.
    """
    try:
        header = read_header(file)
        _require_one_part(path, header)
        tensors = _placed(path, header, facts.st_size)
    except Damaged as error:
        raise corrupt(path, error.what) from error
    except Ended as error:
        raise _ended(path, facts.st_size) from error
    except UnknownType as error:
        raise _not_read(path, error) from error
    state = FileState.of(path, facts, header.raw)
    digest = recall(state) or sampled_digest(file, header.raw, facts.st_size)
    return TensorIndex(path, tensors, header.facts, digest, state)


def _placed(path: Path, header: GgufHeader, size: int) -> dict[str, FileSlice]:
    """Return the slices of all tensors, which must follow one another without gaps or overlaps.

    Raises Damaged, and EngineError for a file of another size than its tensors have.
    """
    alignment = header.alignment
    start = _aligned(header.end, alignment)
    names = authors_names(header.architecture, list(header.tensors))
    found: dict[str, FileSlice] = {}
    cursor = 0
    for own, tensor in sorted(header.tensors.items(), key=lambda entry: entry[1].offset):
        if tensor.offset != _aligned(cursor, alignment):
            fault = (
                sentence("overlaps another")
                if tensor.offset < cursor
                else sentence("does not begin where the one before it ends")
            )
            raise Damaged(sentence("tensor {name} {fault}", name=quoted(own), fault=fault))
        shape = _shape(own, tensor.shape, header)
        block = tensor.dtype.block
        # Of the shape that was quantised: blocks may run across rows of the one that is stated.
        if block is not None and tensor.shape[-1] % block.elements:
            raise Damaged(
                sentence(
                    "the rows of tensor {name} are no whole blocks of {dtype}",
                    name=quoted(own),
                    dtype=tensor.dtype.value,
                )
            )
        if names[own] in found:
            raise Damaged(sentence("it holds {name} under two names", name=quoted(own)))
        found[names[own]] = FileSlice(path, start + tensor.offset, tensor.dtype, shape)
        cursor = tensor.offset + found[names[own]].nbytes
    end = start + cursor
    require_size(path, size, end)
    if size >= _aligned(end, alignment) + alignment:
        raise Damaged(sentence("{amount} follow its last tensor", amount=amount(size - end)))
    return found


def _shape(name: str, stored: tuple[int, ...], header: GgufHeader) -> tuple[int, ...]:
    """Return a tensor's shape: as stored, or as the file states it was before."""
    stated = header.shapes.get(name, stored)
    if prod(stated) != prod(stored):
        raise Damaged(sentence("tensor {name} does not fit its shape", name=quoted(name)))
    return stated


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _require_one_part(path: Path, header: GgufHeader) -> None:
    parts = split_parts(header.facts)
    if parts > 1:
        raise EngineError(
            ErrorCode.CHECKPOINT_UNREADABLE,
            sentence("{path} is one of {parts} parts of a model.", path=path.name, parts=parts),
            sentence("Join them by llama.cpp's program for it, or get the model in one file."),
        )


def _ended(path: Path, size: int) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_TRUNCATED,
        sentence(
            "{path} ends within its header, after {amount}.", path=path.name, amount=amount(size)
        ),
        DOWNLOAD_AGAIN,
    )


def _not_read(path: Path, error: UnknownType) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence(
            "{path} stores {name} in blocks of the type {kind}, which this version does not read.",
            path=path.name,
            name=quoted(error.name),
            kind=error.kind,
        ),
        sentence("Get the version in Q8_0, Q6_K, Q5_K, Q4_K or Q4_0."),
    )
