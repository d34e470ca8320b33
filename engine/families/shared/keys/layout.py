"""Mapping the keys of weights in files to canonical names, by the rules of a family.

The first step sorts keys by component, by prefix. The second step renames the keys of each
component; every result must match the grammar of the component's network. A key that does not match
is an error that names the key, since dropping its weight would change the picture.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from backends.base import DType, FileSlice
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import Component, ComponentSource
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.scaling import with_scales
from engine.weights.int8_rows import Int8Rows
from engine.weights.stored import StoredWeight

Rename = Callable[[str], str]
Tensors = Mapping[str, StoredWeight]

# Names of an IP-Adapter's parts in a UNet that diffusers saved with it.
_IP_ADAPTER = re.compile(r"\.processor\.to_[kv]_ip\.|^encoder_hid_proj\.image_projection_layers\.")
# Of modules in modules, as of a trainer's in a model's.
_MOST_WRAPPERS = 3
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


class NetworkKeys(msgspec.Struct, frozen=True):
    """The canonical keys of a kind of network, and the conversion from the keys in files."""

    # Matches a whole canonical key.
    grammar: re.Pattern[str]
    # Matches the start of a file's key whose tensor the network does not use.
    leftovers: re.Pattern[str]
    # From all keys of the component, without prefix, makes the function that renames one key.
    renaming: Callable[[Collection[str], Path], Rename]
    # Splits tensors that hold several weights, before the keys are renamed.
    unpacked: Callable[[Tensors, Path], Tensors] = _unchanged
    # Reshapes the weight of a canonical name to the shape that the network's graph expects.
    shaped: Callable[[str, StoredWeight], StoredWeight] = _same_shape


class SortedKeys(msgspec.Struct, frozen=True):
    """A file's tensors by component, without prefixes, and the number of tensors outside them."""

    components: Mapping[Component, Mapping[str, FileSlice]]
    ignored: int


class CanonicalWeights(msgspec.Struct, frozen=True):
    """A component's weights under canonical names, and the number of unused keys."""

    weights: Mapping[str, StoredWeight]
    ignored: int


@dataclass(frozen=True)
class KeyLayout:
    """The rules for the keys of a family's single files."""

    # The names of the components in sentences.
    labels: Mapping[Component, Sentence]
    networks: Mapping[Component, NetworkKeys]
    # The component of keys with each prefix; a longer prefix comes before its own beginning.
    prefixes: Mapping[str, Component]
    # The beginnings of keys without a prefix, in files of a single component.
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

        `text` is the text encoder to which keys of a text encoder without a prefix belong. If a
        component's keys have no prefix, all unknown keys without a prefix are sorted to it, except
        unused ones; the component's grammar then accepts or refuses them. A word that begins all
        keys of a file, as of a module that a trainer wrapped, is left out where no key is known
        with it. Raises EngineError(CHECKPOINT_CORRUPT) for a key that occurs with two prefixes.
        """
        tensors = self._unwrapped(tensors)
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
                raise damaged(
                    path,
                    sentence(
                        "it holds {name!r} of the {labels} twice",
                        name=name,
                        labels=self.labels[component],
                    ),
                )
            members[name] = tensor
        return SortedKeys(components, ignored)

    def canonical(
        self, component: Component, tensors: Mapping[str, FileSlice], path: Path
    ) -> CanonicalWeights:
        """Return a component's tensors, given without prefix, under canonical names and shapes.

        Raises EngineError: CHECKPOINT_UNKNOWN_FAMILY for a key outside the network's grammar,
        CHECKPOINT_CORRUPT, and CHECKPOINT_UNREADABLE for an unsupported number type.
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
                raise damaged(
                    path,
                    sentence(
                        "it holds {name!r} of the {label} under two names", name=name, label=label
                    ),
                )
            if not _is_readable(tensor):
                raise _unreadable_type(label, tensor, path)
            weights[canonical] = keys.shaped(canonical, tensor)
        return CanonicalWeights(weights, ignored)

    def sources(
        self,
        keys: SortedKeys,
        wanted: Iterable[Component],
        config_of: Callable[[Component, CanonicalWeights], object],
        path: Path,
    ) -> tuple[dict[Component, ComponentSource], int]:
        """Return those of the wanted components that a file has, and the number of unused tensors.

        Raises EngineError as `canonical` and `config_of` do, which reads the sizes of one.
        """
        found: dict[Component, ComponentSource] = {}
        ignored = keys.ignored
        for component in wanted:
            if component in keys.components:
                named = self.canonical(component, keys.components[component], path)
                config = config_of(component, named)
                found[component] = ComponentSource(component, config, named.weights)
                ignored += named.ignored
        return found, ignored

    def _unwrapped(self, tensors: Mapping[str, FileSlice]) -> Mapping[str, FileSlice]:
        """Return the tensors without the few words that begin all keys and are not known."""
        for _ in range(_MOST_WRAPPERS):
            wrapper = self._wrapper(tensors)
            if not wrapper:
                break
            tensors = _without(wrapper, tensors)
        return tensors

    def _wrapper(self, keys: Collection[str]) -> str:
        """Return the word and the dot that begin all keys; empty where one is known with them."""
        first, dot, _ = next(iter(keys), "").partition(".")
        wrapper = first + dot if dot else ""
        known = any(self._place(key, Component.TEXT_ENCODER)[0] for key in keys)
        return wrapper if not known and all(key.startswith(wrapper) for key in keys) else ""

    def _bare_component(self, tensors: Collection[str], text: Component) -> Component | None:
        """Return the component whose keys have no prefix in this file, the denoiser first."""
        found = {self._place(key, text)[0] for key in tensors if not self._prefix.match(key)}
        return next(
            (component for component in (Component.DENOISER, *Component) if component in found),
            None,
        )

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


def _without(wrapper: str, tensors: Mapping[str, FileSlice]) -> dict[str, FileSlice]:
    return {key.removeprefix(wrapper): tensor for key, tensor in tensors.items()}


def _unknown_key(label: Sentence, name: str, path: Path) -> EngineError:
    if _IP_ADAPTER.search(name):
        return EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "The {label} of {path} was saved with an IP-Adapter in it.",
                label=label,
                path=path.name,
            ),
            sentence("Use the model without it, and its adapter's own file for an image prompt."),
        )
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence(
            "The {label} of {path} has a part this version does not know: {name!r}.",
            label=label,
            path=path.name,
            name=name,
        ),
        sentence("Dropping it would give wrong pictures. Use a version of the model without it."),
    )


def _is_readable(tensor: StoredWeight) -> bool:
    is_number = tensor.dtype in _READABLE or tensor.dtype.block is not None
    return is_number or isinstance(tensor, Int8Rows)


def _unreadable_type(label: Sentence, tensor: StoredWeight, path: Path) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence(
            "The {label} of {path} is stored as {dtype}.",
            label=label,
            path=path.name,
            dtype=tensor.dtype,
        ),
        sentence("This version reads fp32, fp16, bf16 and fp8; get one of those."),
    )
