"""Textual inversion embeddings that are bundled in a LoRA file.

Kohya's and OneTrainer's trainers save them as `bundle_emb.<name>.<key of the embedding's file>`
(A1111 `extensions-builtin/Lora/networks.py`, `load_network`; OneTrainer
`modules/modelSaver/stableDiffusionXL/StableDiffusionXLLoRASaver.py`). OneTrainer's names are the
words of the prompt, which may hold dots.
"""

import re
from collections.abc import Mapping

import msgspec

from backends.base import FileSlice

_PREFIX = "bundle_emb."
# The keys of embeddings' files that end a bundled one's; other keys begin after the first dot.
_KNOWN = re.compile(
    r"(?P<name>.+)\.(?P<inner>string_to_param\.\*|emb_params|(?:clip_[lgh]|t5)(?:_out)?)"
)


class BundledEmbedding(msgspec.Struct, frozen=True):
    """An embedding's name, and its tensors by the keys that its own file would have.

    Such a key is `string_to_param.*`, or `clip_l` and `clip_g`; `keys` are those of the LoRA file.
    """

    name: str
    tensors: Mapping[str, FileSlice]
    keys: tuple[str, ...] = msgspec.field(default=())


def bundled_embeddings(tensors: Mapping[str, FileSlice]) -> tuple[BundledEmbedding, ...]:
    """Return the bundled embeddings of a file, in its order."""
    found: dict[str, dict[str, FileSlice]] = {}
    keys: dict[str, list[str]] = {}
    for key, tensor in tensors.items():
        if not key.startswith(_PREFIX):
            continue
        rest = key.removeprefix(_PREFIX)
        known = _KNOWN.fullmatch(rest)
        name, _, inner = rest.partition(".")
        if known:
            name, inner = known["name"], known["inner"]
        if not (name and inner):
            continue
        found.setdefault(name, {})[inner] = tensor
        keys.setdefault(name, []).append(key)
    return tuple(BundledEmbedding(name, parts, tuple(keys[name])) for name, parts in found.items())
