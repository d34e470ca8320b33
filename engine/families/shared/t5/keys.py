"""The keys of T5 text encoders. Canonical are those of transformers' T5EncoderModel."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from engine.families.shared.keys.layout import NetworkKeys, Rename
from engine.weights.stored import StoredWeight

_SHARED, _OWN = "shared.weight", "encoder.embed_tokens.weight"
_GRAMMAR = re.compile(
    r"shared\.weight|encoder\.final_layer_norm\.weight"
    r"|encoder\.block\.\d+\.layer\.(0\.SelfAttention\.(q|k|v|o)"
    r"|1\.DenseReluDense\.(wi_0|wi_1|wo)|[01]\.layer_norm)\.weight"
    r"|encoder\.block\.0\.layer\.0\.SelfAttention\.relative_attention_bias\.weight"
)


def _renaming(names: Collection[str], path: Path) -> Rename:
    # Files that hold the encoder alone may have its own name of the shared table only.
    return lambda name: _SHARED if name == _OWN else name


def _unpacked(tensors: Mapping[str, StoredWeight], path: Path) -> Mapping[str, StoredWeight]:
    """Leave out the encoder's own name of the table where it is a copy of the shared one."""
    if _SHARED not in tensors:
        return tensors
    return {name: tensor for name, tensor in tensors.items() if name != _OWN}


T5_KEYS = NetworkKeys(
    grammar=_GRAMMAR,
    # The decoder of a whole T5, and the tokenizer's own file, which some files hold.
    leftovers=re.compile(r"decoder\.|lm_head\.|logit_scale$|spiece_model$"),
    renaming=_renaming,
    unpacked=_unpacked,
)
# Of keys without a prefix, in files of an encoder alone.
T5_BEGINNINGS = re.compile(r"(shared|encoder\.(block|final_layer_norm|embed_tokens))\.")
