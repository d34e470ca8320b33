"""LoRA files as modules: the tensors of each layer, under canonical names of their parts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from backends.base import FileSlice
from engine.checkpoints.index import TensorIndex
from engine.lora.adapter_configs import adapter_configs
from engine.lora.dialects import MAGNITUDES, split_key
from engine.lora.embeddings import BundledEmbedding, bundled_embeddings
from engine.lora.facts import LoraFacts, facts_of
from engine.lora.modules import LoraModule

# A layer's own weight is a change only beside this part: (IA)3's factors.
_FACTORS, _BESIDE = "weight", "on_input"
# Parts that only qualify others: alone they change nothing.
_QUALIFIERS = frozenset(
    {*MAGNITUDES, "alpha", "scalar", "rescale", "constraint", "reshape_weight", "on_input"}
)


@dataclass(frozen=True)
class LoraFile:
    """A file of changes to a network's weights, read without its numbers.

    `keys` are the file's keys of each module's layer. `unread` are keys of no known part, keys that
    name the same part of a layer a second time, and those of layers that nothing changes.
    """

    index: TensorIndex
    modules: tuple[LoraModule, ...]
    keys: Mapping[str, tuple[str, ...]]
    unread: tuple[str, ...]
    embeddings: tuple[BundledEmbedding, ...]

    @property
    def path(self) -> Path:
        """The file's path."""
        return self.index.path

    @property
    def digest(self) -> str:
        """The digest that distinguishes files by content; see `sampled_digest`."""
        return self.index.digest

    @property
    def tensors(self) -> Mapping[str, FileSlice]:
        """The file's tensors by its own keys."""
        return self.index.tensors

    @cached_property
    def facts(self) -> LoraFacts:
        """The facts that metadata and cards state: title, base model, trigger words, hashes."""
        return facts_of(self.index)

    @property
    def total_keys(self) -> int:
        """The number of the file's keys, those of bundled embeddings excluded."""
        return len(self.tensors) - sum(len(embedding.keys) for embedding in self.embeddings)


def read_lora(index: TensorIndex) -> LoraFile:
    """Return the modules of a file of weights; a file without any has none. Takes linear time."""
    bundled = bundled_embeddings(index.tensors)
    taken = {key for embedding in bundled for key in embedding.keys}
    layers: dict[str, dict[str, FileSlice]] = {}
    keys: dict[str, list[str]] = {}
    unread: list[str] = []
    for key, tensor in index.tensors.items():
        if key in taken:
            continue
        split = split_key(key)
        parts = layers.setdefault(split.layer, {}) if split else {}
        if split is None or split.part in parts:
            unread.append(key)
            continue
        parts[split.part] = tensor
        keys.setdefault(split.layer, []).append(key)
    unchanged = [layer for layer, parts in layers.items() if not _changes(parts)]
    for layer in unchanged:
        del layers[layer]
        unread += keys.pop(layer)
    configs = adapter_configs(index)
    return LoraFile(
        index=index,
        modules=tuple(
            LoraModule(layer, parts, configs.scale(layer, _rank(parts)))
            for layer, parts in layers.items()
        ),
        keys={layer: tuple(found) for layer, found in keys.items()},
        unread=tuple(unread),
        embeddings=bundled,
    )


def _rank(parts: Mapping[str, FileSlice]) -> int | None:
    down = parts.get("lora_down.weight") or parts.get("lora_embedding_A")
    return down.shape[0] if down is not None and down.shape else None


def _changes(parts: Collection[str]) -> bool:
    """Return True if these parts change a layer."""
    acting = {part for part in parts if part not in _QUALIFIERS}
    return bool(acting - {_FACTORS}) or (_FACTORS in parts and _BESIDE in parts)
