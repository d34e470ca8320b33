"""PEFT's configuration of an adapter: alpha and the ranks, which such files do not hold as tensors.

Diffusers writes it into the metadata of a file, under the names of the pipeline's parts
(`loaders/lora_base.py`, `LORA_ADAPTER_METADATA_KEY`); PEFT into a file next to the adapter.
Diffusers and PEFT apply alpha, other tools do not: `LoraRules.adapter_alpha`.
"""

import math
from collections.abc import Mapping
from typing import cast

import msgspec

from engine.checkpoints.index import TensorIndex
from engine.lora.dialects import PEFT_PREFIX
from engine.lora.metadata_texts import metadata_text
from engine.untrusted_json import JsonError, decode_any, read_json

_KEY = "lora_adapter_metadata"
_ADAPTER, _CONFIG = "adapter_model", "adapter_config.json"
_MOST_BYTES = 4 << 20
# The most characters of the metadata's text; it lists each layer by name.
_LONGEST = 4_000_000


class AdapterConfigs(msgspec.Struct, frozen=True):
    """The fields of a file's configurations: of a pipeline's parts, with prefixes, or of one."""

    fields: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])

    def scale(self, layer: str, rank: int | None) -> float:
        """Return alpha / rank of a layer as a file spells it; 1 where nothing is stated.

        With `use_rslora` it is alpha / sqrt(rank) (Kalajdzievski 2023).
        """
        if not self.fields or not rank:
            return 1.0
        name = layer.removeprefix(PEFT_PREFIX)
        prefix, dot, inner = name.partition(".")
        if not (dot and f"{prefix}.lora_alpha" in self.fields):
            prefix, inner = "", name
        alpha = self._alpha(prefix, inner)
        if alpha is None:
            return 1.0
        return alpha / (math.sqrt(rank) if self._of(prefix, "use_rslora") is True else rank)

    def _of(self, prefix: str, name: str) -> object:
        return self.fields.get(f"{prefix}.{name}" if prefix else name)

    def _alpha(self, prefix: str, layer: str) -> float | None:
        """Return alpha of a layer: of the longest end of its name that has one of its own."""
        own = _entries(self._of(prefix, "alpha_pattern"))
        end = layer
        while end and own:
            if (alpha := _number(own.get(end))) is not None:
                return alpha
            end = end.partition(".")[2]
        return _number(self._of(prefix, "lora_alpha"))


def adapter_configs(index: TensorIndex) -> AdapterConfigs:
    """Return the configurations that a file's metadata or the file next to it state."""
    text = metadata_text(index, _KEY)
    try:
        if text:
            return _configs(decode_any(text[:_LONGEST]))
        if index.path.stem == _ADAPTER:
            decoder = msgspec.json.Decoder(dict[str, object])
            return _configs(read_json(index.path.with_name(_CONFIG), decoder, _MOST_BYTES))
    except (OSError, JsonError):
        return AdapterConfigs()
    return AdapterConfigs()


def _configs(fields: object) -> AdapterConfigs:
    return AdapterConfigs(_entries(fields))


def _entries(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
