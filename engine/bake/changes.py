"""The bytes of a base's files that LoRAs change, and what they become.

A patched weight knows the slices of files that it is read from: each is a row of bytes, whatever
the file calls it, and also where a file has query, key and value in one tensor, or a matrix
transposed. So no key needs to be mapped back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import msgspec
import numpy as np

from backends.base import Array, FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.families.patches import ComponentPatches
from engine.weights.int8_rows import Int8Rows
from engine.weights.patched import Patch, PatchedWeight
from engine.weights.sources import ScaledSlice, Weight, as_source, mapped

Patches = Mapping[Component, ComponentPatches]


class Change(msgspec.Struct, frozen=True):
    """New numbers of a slice of a base's file, in the slice's own type."""

    place: FileSlice
    weight: str
    compute: Callable[[], Array]

    @property
    def start(self) -> int:
        """The first byte in the base's file."""
        return self.place.offset

    @property
    def stop(self) -> int:
        """The byte after the last one."""
        return self.place.offset + self.place.nbytes

    def numbers(self) -> Array:
        """Return the numbers. Raises EngineError(CHECKPOINT_CORRUPT) unless all are finite."""
        with np.errstate(over="ignore", invalid="ignore"):  # they are looked for below
            found = np.ascontiguousarray(self.compute())
        if not np.isfinite(found).all():
            raise EngineError(
                ErrorCode.CHECKPOINT_CORRUPT,
                sentence(
                    "With these LoRAs the weight {weight} has values that are no number, or "
                    "too large for {dtype}.",
                    weight=self.weight,
                    dtype=self.place.dtype.value,
                ),
                sentence("A file is damaged, or a strength is too high."),
            )
        return found


def changes_of(
    checkpoint: IdentifiedCheckpoint, patches: Patches
) -> dict[Path, tuple[Change, ...]]:
    """Return the changes to each file of a checkpoint, in the order of their bytes.

    Raises EngineError(NOT_AVAILABLE) for bytes that are read for several weights.
    """
    changes: dict[Path, list[Change]] = {}
    read: list[tuple[FileSlice, bool]] = []
    for component, source in checkpoint.components.items():
        changed = patches.get(component)
        for name, weight in source.weights.items():
            own = changed.merged.get(name, ()) if changed else ()
            read += ((part, bool(own)) for part in as_source(weight).parts())
            title = f"{name} of the {component.value.replace('_', ' ')}"
            for change in _changes(title, weight, own) if own else ():
                changes.setdefault(change.place.path, []).append(change)
    _require_apart(read)
    return {path: tuple(sorted(found, key=attrgetter("start"))) for path, found in changes.items()}


def _changes(title: str, weight: Weight, patches: Sequence[Patch]) -> Iterator[Change]:
    if isinstance(weight, Int8Rows):
        raise _in_int8(weight.stored.path)
    patched = PatchedWeight(as_source(weight), tuple(patches))
    if isinstance(weight, ScaledSlice):
        yield from _scaled_changes(title, weight, patched)
    else:
        assert isinstance(weight, FileSlice), "a checkpoint as it is identified is in its files"
        yield Change(weight, title, lambda: patched.read_as(weight.dtype))


def _scaled_changes(title: str, weight: ScaledSlice, patched: PatchedWeight) -> Iterator[Change]:
    """Yield the changes of the numbers and of their scale, which grows only where it must."""
    most = float(cast("Any", ml_dtypes.finfo(weight.dtype.numpy)).max)

    @cache
    def scale() -> Array:
        before = mapped(weight.scale)
        reach = float(np.linalg.norm(patched.read().reshape(-1), np.inf)) / most
        if reach <= abs(before.astype(np.float32).item()):
            return before
        # Rounded up, so that no quotient exceeds the type's range.
        nearest = np.asarray(reach, before.dtype)
        enough = nearest.astype(np.float64) >= reach
        return (nearest if enough else _next(nearest)).reshape(before.shape)

    def quotients() -> Array:
        divisor = scale().astype(np.float32).item()
        return np.clip(patched.read() / divisor, -most, most).astype(weight.dtype.numpy)

    yield Change(weight.stored, title, quotients)
    yield Change(weight.scale, title, scale)


def _in_int8(path: Path) -> EngineError:
    return EngineError(
        ErrorCode.NOT_AVAILABLE,
        sentence("{path} is stored as int8, which LoRAs cannot be written into.", path=path.name),
        sentence("Use the same model in 16 bits, or the LoRA beside the model."),
    )


def _next(number: Array) -> Array:
    return np.nextafter(number, np.asarray(np.inf, number.dtype))


def _require_apart(read: Sequence[tuple[FileSlice, bool]]) -> None:
    """Refuse changed bytes that belong to two weights, as PyTorch's files may have them."""
    spans = sorted(((part.path, part.offset, part.nbytes, changed) for part, changed in read))
    path, end, changed = Path(), 0, False
    for own, begin, length, acts in spans:
        if own != path:
            path, end, changed = own, 0, False
        if begin < end and (changed or acts):
            raise EngineError(
                ErrorCode.NOT_AVAILABLE,
                sentence(
                    "{path} has two weights in one place, and a LoRA changes one of them.",
                    path=path.name,
                ),
                sentence("Use another copy of the model, such as a .safetensors file."),
            )
        changed = acts or (changed and begin < end)
        end = max(end, begin + length)
