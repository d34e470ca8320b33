"""Layers of a checkpoint by all names that LoRA files spell, and the fit of a file to them.

A family makes the `LayerTable` of a checkpoint; this module knows no family.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import msgspec

from engine.lora.file import LoraFile
from engine.lora.modules import LoraModule
from engine.lora.patches import is_known
from engine.lora.widths import widths

Rows = tuple[int, int]
# Parts with one number for each output of a layer.
_BIASES = ("diff_b", "b_norm", "lora_up.bias")


class Target(msgspec.Struct, frozen=True):
    """The weight that a module changes.

    `component` is the value of the family's `Component`; `layer` is the weight's canonical name
    without `.weight`, and `shape` the whole weight's. Where the weight holds several layers, `rows`
    are the rows of the weight that the module changes; where the module holds several layers,
    `part` are the rows of the module's change that belong to the weight. None: all rows. A
    `transposed` weight is stored as [inputs, outputs], under the layer's own name; `shape` is still
    [outputs, inputs]. The rows of a table, `is_table`, are looked up instead of multiplied.
    """

    component: str
    layer: str
    shape: tuple[int, ...]
    rows: Rows | None = None
    part: Rows | None = None
    transposed: bool = False
    is_table: bool = False

    def name(self, part: str) -> str:
        """Return the canonical name of the layer's "weight" or "bias"."""
        return self.layer if self.transposed and part == "weight" else f"{self.layer}.{part}"


class FittedModule(msgspec.Struct, frozen=True):
    """A module and a weight that it changes; a fused module occurs once for each of its weights.

    `shape` is that of the layer which the module changes as one: of the target's rows, or of all
    the fused module's weights together.
    """

    target: Target
    module: LoraModule
    shape: tuple[int, ...]


@dataclass(frozen=True)
class LayerTable:
    """The layers of a checkpoint under every name that LoRA files have for them.

    `layers` has the targets of each component by layer name, without prefix, in which `_` stands
    for each dot; `prefixes` has the components whose layers a prefix, also with `_`, may begin, in
    the order in which they are searched.
    """

    prefixes: Mapping[str, tuple[str, ...]]
    layers: Mapping[str, Mapping[str, tuple[Target, ...]]]

    def find(self, layer: str) -> tuple[Target, ...]:
        """Return the targets of a layer as a file spells it; empty for an unknown layer."""
        name = spelled(layer)
        for prefix in self._by_length:
            if not name.startswith(prefix):
                continue
            for component in self.prefixes[prefix]:
                found = self.layers.get(component, {}).get(name[len(prefix) :])
                if found:
                    return found
        return ()

    @cached_property
    def _by_length(self) -> tuple[str, ...]:
        return tuple(sorted(self.prefixes, key=len, reverse=True))


@dataclass(frozen=True)
class FittedLora:
    """The modules of a file that fit a checkpoint, and the keys that are not applied.

    `unused` are the keys of layers that the checkpoint lacks or has in another size, of unknown
    parts and types of change, and of a second name for a layer that another key names already, in
    the file's order.
    """

    file: LoraFile
    modules: tuple[FittedModule, ...]
    unused: tuple[str, ...]

    @property
    def applied(self) -> int:
        """The number of the file's keys that are applied."""
        return self.file.total_keys - len(self.unused)


def spelled(layer: str) -> str:
    """Return a layer's name as the table spells it, from any dialect's.

    Diffusers' first LoRA files name a layer by the attention's processor.
    """
    return layer.replace(".", "_").replace("_processor_to_", "_to_")


def fit(file: LoraFile, table: LayerTable) -> FittedLora:
    """Match the modules of a file with the layers of a checkpoint, each layer at most once.

    Where a file names a layer in two dialects, the name that comes first counts; where it has a
    joined layer and its parts, the joined one: SimpleTuner writes parts that change nothing beside
    it. A module whose sizes are other than the layer's does not fit: a UNet for inpainting has more
    input channels.
    """
    places = {module.layer: table.find(module.layer) for module in file.modules}
    fitted: dict[str, list[FittedModule]] = {}
    changed = _Changed()
    for module in sorted(file.modules, key=lambda module: len(places[module.layer]) < 2):
        targets = places[module.layer]
        if not targets or not is_known(module) or any(map(changed.overlaps, targets)):
            continue
        shape = _shape(targets)
        if not _has_size(module, shape):
            continue
        for target in targets:
            changed.add(target)
        fitted[module.layer] = [FittedModule(target, module, shape) for target in targets]
    applied = {key for layer in fitted for key in file.keys[layer]}
    bundled = {key for embedding in file.embeddings for key in embedding.keys}
    unused = (key for key in file.tensors if key not in applied and key not in bundled)
    in_order = (
        layer_module for module in file.modules for layer_module in fitted.get(module.layer, ())
    )
    return FittedLora(file, tuple(in_order), tuple(unused))


def _shape(targets: Sequence[Target]) -> tuple[int, ...]:
    """Return the shape of the layer that a module with these targets changes."""
    start, stop = _rows(targets[0])
    parts = [target.part[1] for target in targets if target.part is not None]
    return (max(parts, default=stop - start), *targets[0].shape[1:])


def _has_size(module: LoraModule, shape: tuple[int, ...]) -> bool:
    """Return False if a module shows another number of inputs or outputs than its layer has."""
    out, into = widths(module)
    biases = [module.tensors[part].elements for part in _BIASES if part in module.tensors]
    if any(side != shape[0] for side in (*biases, *([] if out is None else [out]))):
        return False
    # Some types flatten a convolution's kernel into the inputs.
    return into is None or len(shape) < 2 or into in (shape[1], prod(shape[1:]))


class _Changed:
    """The rows of weights that are changed already."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], list[Rows]] = {}

    def overlaps(self, target: Target) -> bool:
        start, stop = _rows(target)
        taken = self._rows.get((target.component, target.layer), ())
        return any(start < end and begin < stop for begin, end in taken)

    def add(self, target: Target) -> None:
        self._rows.setdefault((target.component, target.layer), []).append(_rows(target))


def _rows(target: Target) -> Rows:
    return target.rows or (0, target.shape[0] if target.shape else 1)
