"""A network's weights by name, with one digest that identifies them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from backends.base import DType, FileSlice
from backends.forms import BlockForm
from engine.checkpoints.index import Stamp, combined_digest
from engine.weights.lost_files import lost_files_named
from engine.weights.packing import bound_bytes
from engine.weights.patched import Patch, PatchedWeight, fits
from engine.weights.rounding import Role
from engine.weights.sources import Description, WeightSource, as_sources, stored_type


class WeightSet(Mapping[str, WeightSource]):
    """Weights by canonical name, with one digest.

    `content` is the digest of the files' content from the checkpoint's identification, which may
    only sample large files. `base` is the set without patches; None if the set has none. `role` is
    the part of a model that they are.
    """

    def __init__(
        self,
        content: str,
        weights: Mapping[str, FileSlice | WeightSource],
        base: "WeightSet | None" = None,
        role: Role = Role.OTHER,
    ) -> None:
        self.content, self.role = content, role
        self._sources = as_sources(weights)
        self._base = base
        self._bound: dict[tuple[DType, BlockForm | None], int] = {}

    @property
    def base(self) -> "WeightSet":
        """The set without patches; itself if it has none."""
        return self._base or self

    @property
    def elements(self) -> int:
        """The number of elements of all weights."""
        return sum(source.elements for source in self._sources.values())

    def bound_bytes(self, element: DType, form: BlockForm | None) -> int:
        """Return the bytes of all weights as they are bound in a graph of `element` type."""
        key = element, form
        if key not in self._bound:
            sources = self._sources.values()
            self._bound[key] = sum(bound_bytes(source, element, form) for source in sources)
        return self._bound[key]

    @cached_property
    def stored_type(self) -> DType:
        """The element type that most bytes of the weights are stored in; float32 without any."""
        return stored_type(self._sources.values())

    def __getitem__(self, name: str) -> WeightSource:
        return self._sources[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def patched(self, content: str, patches: Mapping[str, Sequence[Patch]]) -> "WeightSet":
        """Return the set with some weights patched, by their names.

        `content` is the digest of the content of the patches' files. Raises ValueError for a weight
        that is not in the set, or that a patch does not fit.
        """
        sources = dict(self._sources)
        for name, added in patches.items():
            if name not in sources or not all(
                fits(weight, sources[name].shape) for weight in added
            ):
                raise ValueError(f"the patches do not fit a weight {name}")
            if added:
                sources[name] = PatchedWeight(sources[name], tuple(added))
        return WeightSet(combined_digest(self.content, content), sources, self.base, self.role)

    def digest(self) -> str:
        """Return the digest of the weights in the present state of their files.

        It covers the content's digest, the size and times of each file, and `_described`. No weight
        is read: a change within a file changes its times. Raises EngineError for a file that is
        gone or cut short.
        """
        with lost_files_named(self._sources.values()):
            stamps = [Stamp.of(path.stat()) for path in self._described[1]]
        digest = hashlib.sha256(msgspec.json.encode([self.content, stamps]))
        digest.update(self._described[0])
        return digest.hexdigest()

    @cached_property
    def _described(self) -> tuple[bytes, tuple[Path, ...]]:
        """A digest of each weight's place, type, shape, scale and patches, and the files in order.

        The digest has the number of a file instead of its path, so that moving files changes
        nothing.
        """
        order: dict[Path, int] = {}

        def place(part: FileSlice) -> Description:
            number = order.setdefault(part.path, len(order))
            last = ["channels last"] * part.channels_last
            return [number, part.offset, part.dtype.value, list(part.shape), *last]

        described = [[name, self._sources[name].describe(place)] for name in sorted(self._sources)]
        return hashlib.sha256(msgspec.json.encode(described)).digest(), tuple(order)
