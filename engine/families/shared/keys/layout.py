"""Names of weights in files to canonical names, by the rules of a family.

Two steps: a prefix says which component a key belongs to; within the component, the keys of its
network are renamed, and every result must be a word of the network's grammar. A key that is not
would change the picture if it were dropped, so it is an error that names it.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from backends.base import DType, FileSlice
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import Component
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.scaling import with_scales
from engine.weights.sources import StoredWeight

Rename = Callable[[str], str]
Tensors = Mapping[str, StoredWeight]

_READABLE = {
    DType.F64,
    DType.F32,
    DType.F16,
    DType.BF16,
    DType.F8_E4M3,
    DType.F8_E5M2,
}


def _unchanged(tensors: Tensors, path: Path) -> Tensors:
    return tensors


def _same_shape(name: str, tensor: StoredWeight) -> StoredWeight:
    return tensor


@dataclass(frozen=True, slots=True)
class NetworkKeys:
    """The keys of a kind of network: canonical ones, and how files' keys become these."""

    # Matches each canonical key whole.
    grammar: re.Pattern[str]
    # Matches the start of keys, as in the file, with which nothing computes.
    leftovers: re.Pattern[str]
    # Given a file's keys without their prefix, the function that renames each of them.
    renaming: Callable[[Collection[str], Path], Rename]
    # Replaces tensors that hold several weights by these, before anything is renamed.
    unpacked: Callable[[Tensors, Path], Tensors] = _unchanged
    # The weight of a canonical name in the shape that the network's graph expects.
    shaped: Callable[[str, StoredWeight], StoredWeight] = _same_shape


@dataclass(frozen=True, slots=True)
class SortedKeys:
    """A file's tensors by component, prefixes removed, and how many belong to none."""

    components: Mapping[Component, Mapping[str, FileSlice]]
    ignored: int


@dataclass(frozen=True, slots=True)
class CanonicalWeights:
    """A component's weights under canonical names, and how many keys were leftovers."""

    weights: Mapping[str, StoredWeight]
    ignored: int


@dataclass(frozen=True)
class KeyLayout:
    """The rules for the keys of a family's single files."""

    # The components in sentences.
    labels: Mapping[Component, str]
    networks: Mapping[Component, NetworkKeys]
    # The component of a key that begins so. A prefix comes before those that it begins with.
    prefixes: Mapping[str, Component]
    # How keys without a prefix begin, in files of a single component.
    bare: tuple[tuple[Component, re.Pattern[str]], ...] = ()
    # Keys without a prefix that belong to no component.
    unused: re.Pattern[str] = re.compile(r"(?!)")

    def sort(
        self,
        tensors: Mapping[str, FileSlice],
        path: Path,
        text: Component = Component.TEXT_ENCODER,
    ) -> SortedKeys:
        """Sort the tensors of a single file by component.

        `text` is the text encoder that keys without a prefix are of: they do not say. Where a
        component has no prefix, all that has none belongs to it, unless it is known to be unused:
        whether the component has such a part is for its grammar to say. Raises
        EngineError(CHECKPOINT_CORRUPT) for a key that is there with two prefixes.
        """
        components: dict[Component, dict[str, FileSlice]] = {}
        ignored = 0
        bare = self._bare_component(tensors, text)
        for key, tensor in tensors.items():
            component, name = self._place(key, text)
            if component is None and not self.unused.match(key):
                component = bare
            if component is None:
                ignored += 1
                continue
            members = components.setdefault(component, {})
            if name in members:
                raise damaged(path, f"it holds {name!r} of the {self.labels[component]} twice")
            members[name] = tensor
        return SortedKeys(components, ignored)

    def canonical(
        self, component: Component, tensors: Mapping[str, FileSlice], path: Path
    ) -> CanonicalWeights:
        """Name and shape a component's tensors, whose prefix is removed, canonically.

        Raises EngineError: CHECKPOINT_UNKNOWN_FAMILY for a key that the network does not have,
        CHECKPOINT_CORRUPT, and CHECKPOINT_UNREADABLE for numbers of another type.
        """
        label, keys = self.labels[component], self.networks[component]
        scaled = with_scales(label, tensors, path)
        found, ignored = keys.unpacked(scaled.tensors, path), scaled.ignored
        rename = keys.renaming(found, path)
        weights: dict[str, StoredWeight] = {}
        for name, tensor in found.items():
            if keys.leftovers.match(name):
                ignored += 1
                continue
            canonical = rename(name)
            if not keys.grammar.fullmatch(canonical):
                raise _unknown_key(label, name, path)
            if canonical in weights:
                raise damaged(path, f"it holds {name!r} of the {label} under two names")
            if tensor.dtype not in _READABLE:
                raise _unreadable_type(label, tensor, path)
            weights[canonical] = keys.shaped(canonical, tensor)
        return CanonicalWeights(weights, ignored)

    def _bare_component(self, tensors: Collection[str], text: Component) -> Component | None:
        """The first component whose names have no prefix here, if any."""
        found = {self._place(key, text)[0] for key in tensors if not self._prefix.match(key)}
        return next((one for one in (Component.DENOISER, *Component) if one in found), None)

    def _place(self, key: str, text: Component) -> tuple[Component | None, str]:
        prefix = self._prefix.match(key)
        if prefix:
            return self.prefixes[prefix[0]], key[prefix.end() :]
        for component, start in self.bare:
            if start.match(key):
                return text if component is Component.TEXT_ENCODER else component, key
        return None, key

    @cached_property
    def _prefix(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.prefixes)) or r"(?!)")


def _unknown_key(label: str, name: str, path: Path) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        f"The {label} of {path.name} has a part this version does not know: {name!r}.",
        "Dropping it would give wrong pictures. Use a version of the model without it.",
    )


def _unreadable_type(label: str, tensor: StoredWeight, path: Path) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        f"The {label} of {path.name} is stored as {tensor.dtype}.",
        "This version reads fp32, fp16, bf16 and fp8; get one of those.",
    )
