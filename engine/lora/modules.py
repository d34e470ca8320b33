"""The tensors of a LoRA file for one layer, under canonical names of their parts."""

from collections.abc import Mapping

import msgspec

from backends.base import FileSlice


class LoraModule(msgspec.Struct, frozen=True):
    """The tensors of a file for one layer.

    `layer` is the layer's name as the file spells it, prefix included; `tensors` are by canonical
    part, such as `lora_up.weight`, `alpha` or `hada_w1_a`. `stated_scale` is alpha / rank as an
    adapter's configuration states it, for a layer without an `alpha` of its own.
    """

    layer: str
    tensors: Mapping[str, FileSlice]
    stated_scale: float = 1.0
