"""Notes beside int8 weights on how their numbers were made, as ComfyUI reads them.

A layer's note is JSON, in the bytes of `<layer>.comfy_quant` or in the file's metadata under
`_quantization_metadata` (`comfy/utils.py`, `convert_old_quants`). Its format is one of
`comfy/quant_ops.py`, `QUANT_ALGOS`; without a note the integers are those of `int8_tensorwise`.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from backends.base import FileSlice
from engine.api.sentences import Sentence, as_it_is, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.files import is_gguf
from engine.checkpoints.safetensors import read_metadata
from engine.errors import EngineError
from engine.families.shared.keys.numbering import damaged
from engine.weights.int8_rows import is_rotation
from engine.weights.sources import mapped_bytes

_Struct = TypeVar("_Struct", bound=msgspec.Struct)
_NOTE, _WEIGHT = ".comfy_quant", ".weight"
_LONGEST_NOTE = 4096
_METADATA = "_quantization_metadata"
_ROWS = "int8_tensorwise"
_OTHERS = {
    "convrot_w4a4": as_it_is("ConvRot int4 (W4A4)"),
    "asym_w4a8_int8": as_it_is("int4 (W4A8)"),
    "awq_w4a16": as_it_is("int4 (AWQ)"),
}


class _Note(msgspec.Struct):
    """A layer's note; other fields concern the computation, not the numbers."""

    format: str = _ROWS
    convrot: bool = False
    convrot_groupsize: int = 256


class _Notes(msgspec.Struct):
    """The metadata's notes, by the names of layers with all prefixes."""

    layers: dict[str, _Note] = {}


class Int8Notes:
    """The notes of a component whose tensors are given by their names without a prefix."""

    def __init__(self, tensors: Mapping[str, FileSlice], path: Path) -> None:
        self._tensors, self._path = tensors, path

    def rotation(self, label: Sentence, weight: str, columns: int) -> int:
        """Return how many columns of an int8 weight were rotated together; 0 for none.

        Raises EngineError: CHECKPOINT_UNREADABLE for another format than int8 by rows,
        CHECKPOINT_CORRUPT for a note that is none.
        """
        layer = weight.removesuffix(_WEIGHT)
        note = self._beside(layer) or self._in_metadata(layer) or _Note()
        if note.format != _ROWS:
            kind = _OTHERS.get(note.format, as_it_is(note.format[:40]))
            raise unproven_integers(label, kind, self._path)
        if not note.convrot:
            return 0
        if not is_rotation(note.convrot_groupsize, columns):
            raise damaged(
                self._path,
                sentence(
                    "{name!r} says that {count} columns were rotated together",
                    name=weight,
                    count=note.convrot_groupsize,
                ),
            )
        return note.convrot_groupsize

    def _beside(self, layer: str) -> _Note | None:
        found = self._tensors.get(f"{layer}{_NOTE}")
        if found is None:
            return None
        if not 0 < found.nbytes <= _LONGEST_NOTE:
            raise self._no_note(layer)
        return self._decoded(mapped_bytes(found).tobytes(), layer, _Note)

    def _in_metadata(self, layer: str) -> _Note | None:
        exact, ending = self._layers.get(layer), f".{layer}"
        found = (note for name, note in self._layers.items() if name.endswith(ending))
        return exact or next(found, None)

    @cached_property
    def _layers(self) -> Mapping[str, _Note]:
        try:
            text = "" if is_gguf(self._path) else read_metadata(self._path).get(_METADATA, "")
        except (EngineError, OSError):
            # Files of other kinds have no metadata.
            return {}
        return self._decoded(text.encode(), _METADATA, _Notes).layers if text else {}

    def _decoded(self, text: bytes, name: str, kind: type[_Struct]) -> _Struct:
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._no_note(name) from error

    def _no_note(self, name: str) -> EngineError:
        what = sentence("the note on the integers of {name!r} cannot be read", name=name)
        return damaged(self._path, what)


def unproven_integers(label: Sentence, kind: Sentence, path: Path) -> EngineError:
    """Return the refusal of integers of a kind that is not read."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence(
            "The {label} of {path} is stored as {kind}, which no device here was proved to "
            "compute rightly.",
            label=label,
            path=path.name,
            kind=kind,
        ),
        sentence("Get the fp16, bf16, fp8 or int8 version, or a GGUF file."),
    )
