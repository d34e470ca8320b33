"""Recognising the CLIP text encoders that a LoRA file changes, by names and widths of layers."""

import re
from collections.abc import Iterator

_WIDTH = re.compile(
    r"(?:encoder_layers_\d+_self_attn_(?:[qkv]_proj|to_[qkv])|encoder_layers_\d+_mlp_fc1"
    r"|resblocks_\d+_mlp_c_fc) \[[\d?]+,(\d+)\]"
)
_SECOND = re.compile(r"\n(?:lora_te2|lycoris_te2|text_encoder_2|clip_g)_")
# The end of a listing's line about a key that is not read.
_UNREAD = " 0d"
_LAYER = re.compile(
    r"encoder_layers_\d+_(?:self_attn|mlp|layer_norm)|resblocks_\d+_|text_projection"
    r"|(?:token|position)_embedding|final_layer_norm|ln_final"
)


def clip_facts(listing: str, known: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
    """Yield each fact about a listing's CLIP encoders, and True where it holds for a family.

    `known` are the widths of the family's own, in order; `engine.lora.listing` makes listings.
    """
    for width in sorted({int(found[1]) for found in _WIDTH.finditer(listing)}):
        yield f"a text encoder {width} wide", width in known
    if _SECOND.search(listing):
        yield "two text encoders", len(known) > 1


def clip_evidence(listing: str, known: tuple[int, ...]) -> str | None:
    """Return the evidence that a listing of CLIP encoders alone is for a family; None without.

    `known` are the widths of the family's encoders, which other families may have, too.
    """
    lines = (line for line in listing.split("\n") if line and not line.endswith(_UNREAD))
    if not all(map(_LAYER.search, lines)):
        return None
    facts = list(clip_facts(listing, known))
    return "; ".join(words for words, _ in facts) if facts and all(f[1] for f in facts) else None
