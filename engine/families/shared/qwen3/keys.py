"""The keys of Qwen3's decoders. Canonical are those of transformers' Qwen3Model."""

import re
from collections.abc import Collection
from pathlib import Path

from engine.families.shared.keys.layout import NetworkKeys, Rename

_BEGINS = "model."
_GRAMMAR = re.compile(
    r"embed_tokens\.weight|norm\.weight"
    r"|layers\.\d+\.(self_attn\.((q|k|v|o)_proj|(q|k)_norm)"
    r"|mlp\.(gate|up|down)_proj|(input|post_attention)_layernorm)\.weight"
)


def _renaming(names: Collection[str], path: Path) -> Rename:
    return lambda name: name.removeprefix(_BEGINS)


QWEN3_KEYS = NetworkKeys(
    grammar=_GRAMMAR,
    # What tells the next word, and the tokenizer's own file, which some files hold.
    leftovers=re.compile(r"(model\.)?lm_head\.|logit_scale$|tokenizer_json$"),
    renaming=_renaming,
)
# Of keys without a prefix, in files of an encoder alone.
QWEN3_BEGINNINGS = re.compile(
    r"model\.(embed_tokens|layers|norm)\.|embed_tokens\.|layers\.\d+\.(self_attn|mlp)\."
)
