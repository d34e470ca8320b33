"""The keys of Z-Image's files, in the original layout, which ComfyUI has too, and in diffusers'.

Canonical are diffusers' names. Queries, keys and values, which the original layout holds in one
layer, are cut into rows of the file, so that nothing is copied.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.families.checkpoint import Component
from engine.families.shared.flow import keys as flow
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys, Rename
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.rows import rows
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.qwen3.keys import QWEN3_BEGINNINGS, QWEN3_KEYS
from engine.weights.stored import StoredWeight

_BLOCK = (
    r"attention\.(to_[qkv]|to_out\.0|norm_[qk])\.weight|feed_forward\.w[123]\.weight"
    r"|(attention|ffn)_norm[12]\.weight|adaLN_modulation\.0\.(weight|bias)"
)
_GRAMMAR = re.compile(
    r"(all_x_embedder\.2-1|all_final_layer\.2-1\.(linear|adaLN_modulation\.1)"
    r"|t_embedder\.mlp\.[02]|cap_embedder\.1)\.(weight|bias)"
    r"|cap_embedder\.0\.weight|(x|cap)_pad_token"
    rf"|(layers|noise_refiner|context_refiner)\.\d+\.({_BLOCK})"
)
# Names in the original layout, and diffusers'.
MODULES = {"x_embedder.": "all_x_embedder.2-1.", "final_layer.": "all_final_layer.2-1."}
LAYERS = {
    ".attention.out.": ".attention.to_out.0.",
    ".attention.q_norm.": ".attention.norm_q.",
    ".attention.k_norm.": ".attention.norm_k.",
}
_NAMES = MODULES | LAYERS
_NAME = re.compile("|".join(rf"(?:^|(?<=\d)){re.escape(name)}" for name in _NAMES))
_JOINT = ".attention.qkv."
_PADDING = ("x_pad_token", "cap_pad_token")
JOINED = {_JOINT: tuple(f".attention.to_{part}." for part in "qkv")}


def _unpacked(tensors: Mapping[str, StoredWeight], path: Path) -> Mapping[str, StoredWeight]:
    """Cut layers that hold queries, keys and values, which are equally wide."""
    found: dict[str, StoredWeight] = {}
    for name, tensor in tensors.items():
        parts = [(name, tensor)]
        if _JOINT in name:
            names = [name.replace(_JOINT, part) for part in JOINED[_JOINT]]
            width = tensor.shape[0] // len(names) if tensor.shape else 0
            parts = rows(names, name, tensor, width, path)
        for part, weight in parts:
            if part in found:
                raise damaged(path, sentence("it holds {name!r} under two names", name=part))
            found[part] = weight
    return found


def _shaped(name: str, tensor: StoredWeight) -> StoredWeight:
    """Give the tokens that fill up the side of 1 that llama.cpp leaves out of their shape."""
    is_list = name in _PADDING and len(tensor.shape) == 1
    return tensor.reshaped((1, *tensor.shape)) if is_list else tensor


def _renaming(names: Collection[str], path: Path) -> Rename:
    return lambda name: _NAME.sub(lambda match: _NAMES[match[0]], name)


ZIMAGE_KEYS = NetworkKeys(
    grammar=_GRAMMAR,
    # A norm that no released code applies.
    leftovers=re.compile(r"(model_ema|loss|norm_final)\."),
    renaming=_renaming,
    unpacked=_unpacked,
    shaped=_shaped,
)
LABELS: Mapping[Component, Sentence] = {
    Component.TEXT_ENCODER: sentence("text encoder (Qwen3-4B)"),
    **flow.LABELS,
}
_PREFIXES: Mapping[str, Component] = {
    **flow.PREFIXES,
    "text_encoders.qwen3_4b.transformer.": Component.TEXT_ENCODER,
    "text_encoder.": Component.TEXT_ENCODER,
}
_BARE = (
    (
        Component.DENOISER,
        re.compile(
            r"(x_embedder|final_layer|all_x_embedder|all_final_layer|t_embedder|cap_embedder"
            r"|noise_refiner|context_refiner|layers\.\d+\.(attention|feed_forward|adaLN_modulation"
            r"|ffn_norm[12])|layers\.\d+\.attention_norm[12])\.|(x|cap)_pad_token$"
        ),
    ),
    (Component.TEXT_ENCODER, QWEN3_BEGINNINGS),
    (Component.VAE, re.compile(r"(encoder|decoder)\.")),
)
_UNUSED = re.compile(r"(scaled_fp8|logit_scale|position_ids|norm_final\.weight)$")
KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: QWEN3_KEYS,
        Component.DENOISER: ZIMAGE_KEYS,
        Component.VAE: KL_VAE_KEYS,
    },
    prefixes=_PREFIXES,
    bare=_BARE,
    unused=_UNUSED,
)
