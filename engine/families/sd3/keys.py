"""The keys of Stable Diffusion 3's files, in Stability AI's layout, ComfyUI's and diffusers'.

Canonical are diffusers' names. Layers that the original layout holds in one (`qkv`) are cut into
rows of the file. Modulations without a gate are cut in both layouts, since they hold their halves
in opposite order. The text's queries in the last block are left out: nothing reads what they find.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.families.checkpoint import Component
from engine.families.shared.clip.keys import PROJECTED_CLIP_KEYS
from engine.families.shared.flow import keys as flow
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys, Rename
from engine.families.shared.keys.numbering import damaged
from engine.families.shared.keys.rows import rows
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.t5.keys import T5_BEGINNINGS, T5_KEYS
from engine.weights.stored import StoredWeight

_JOINT = (
    r"norm1\.linear|norm1_context\.(linear|scale|shift)"
    r"|attn\.(to_[qkv]|add_[qkv]_proj|to_out\.0|to_add_out)|attn2\.(to_[qkv]|to_out\.0)"
    r"|ff(_context)?\.net\.(0\.proj|2)"
)
_GRAMMAR = re.compile(
    r"pos_embed\.pos_embed|(pos_embed\.proj|context_embedder|proj_out|norm_out\.(scale|shift)"
    r"|time_text_embed\.(timestep|text)_embedder\.linear_[12]"
    rf"|transformer_blocks\.\d+\.({_JOINT}))\.(weight|bias)"
    r"|transformer_blocks\.\d+\.(attn\.norm_(added_)?[qk]|attn2\.norm_[qk])\.weight"
)
# The beginnings of names in the original layout, and diffusers'.
MODULES = {
    "pos_embed": "pos_embed.pos_embed",
    "x_embedder.": "pos_embed.",
    "t_embedder.mlp.0.": "time_text_embed.timestep_embedder.linear_1.",
    "t_embedder.mlp.2.": "time_text_embed.timestep_embedder.linear_2.",
    "y_embedder.mlp.0.": "time_text_embed.text_embedder.linear_1.",
    "y_embedder.mlp.2.": "time_text_embed.text_embedder.linear_2.",
    "joint_blocks.": "transformer_blocks.",
    "final_layer.linear.": "proj_out.",
    "final_layer.adaLN_modulation.1.": "norm_out.linear.",
}
_MODULE = re.compile("^(?:" + "|".join(map(re.escape, MODULES)) + ")")
# The names of layers within blocks.
LAYERS = {
    ".x_block.adaLN_modulation.1.": ".norm1.linear.",
    ".context_block.adaLN_modulation.1.": ".norm1_context.linear.",
    ".x_block.attn.qkv.": ".attn.to_qkv.",
    ".x_block.attn2.qkv.": ".attn2.to_qkv.",
    ".context_block.attn.qkv.": ".attn.add_qkv_proj.",
    ".x_block.attn.ln_q.": ".attn.norm_q.",
    ".x_block.attn.ln_k.": ".attn.norm_k.",
    ".x_block.attn2.ln_q.": ".attn2.norm_q.",
    ".x_block.attn2.ln_k.": ".attn2.norm_k.",
    ".context_block.attn.ln_q.": ".attn.norm_added_q.",
    ".context_block.attn.ln_k.": ".attn.norm_added_k.",
    ".x_block.attn.proj.": ".attn.to_out.0.",
    ".x_block.attn2.proj.": ".attn2.to_out.0.",
    ".context_block.attn.proj.": ".attn.to_add_out.",
    ".x_block.mlp.fc1.": ".ff.net.0.proj.",
    ".x_block.mlp.fc2.": ".ff.net.2.",
    ".context_block.mlp.fc1.": ".ff_context.net.0.proj.",
    ".context_block.mlp.fc2.": ".ff_context.net.2.",
}
_LAYER = re.compile("|".join(map(re.escape, LAYERS)))
_ORIGINAL = "joint_blocks."
# Layers that are cut into rows, each with the names of its parts.
JOINED = {
    ".to_qkv.": (".to_q.", ".to_k.", ".to_v."),
    ".add_qkv_proj.": (".add_q_proj.", ".add_k_proj.", ".add_v_proj."),
}
_JOINED_LAYER = re.compile(r"\.(to_qkv|add_qkv_proj)\.")
_HALVED = re.compile(r"(norm_out|\.norm1_context)\.linear\.(weight|bias)$")
_UNREAD = re.compile(r"\.attn\.(add_q_proj|norm_added_q)\.")


def _unpacked(tensors: Mapping[str, StoredWeight], path: Path) -> Mapping[str, StoredWeight]:
    """Rename tensors of the original layout, and cut those that hold several weights."""
    original = any(name.startswith(_ORIGINAL) for name in tensors)
    named = {(_diffusers_name(name) if original else name): name for name in tensors}
    first = tensors.get(named.get("pos_embed.proj.bias", ""))
    width = first.shape[0] if first is not None and len(first.shape) == 1 else 0
    found: dict[str, StoredWeight] = {}
    for name, stored in named.items():
        for part, weight in _parts(name, tensors[stored], width, path, original=original):
            if part in found:
                raise damaged(path, sentence("it holds {name!r} under two names", name=part))
            found[part] = weight
    last = f"transformer_blocks.{_last_block(found)}."
    return {
        name: weight
        for name, weight in found.items()
        if not (name.startswith(last) and _UNREAD.search(name))
    }


def _diffusers_name(name: str) -> str:
    """Return diffusers' name of a layer in the original layout; joined layers keep one name."""
    renamed = _MODULE.sub(lambda match: MODULES[match[0]], name)
    return _LAYER.sub(lambda match: LAYERS[match[0]], renamed, count=1)


def _parts(
    name: str, tensor: StoredWeight, width: int, path: Path, *, original: bool
) -> Iterator[tuple[str, StoredWeight]]:
    """Yield the weights that a tensor holds, each with its name."""
    joined = _JOINED_LAYER.search(name) if original else None
    if joined is not None:
        names = [name.replace(joined[0], part) for part in JOINED[joined[0]]]
        yield from rows(names, name, tensor, width, path)
    elif _HALVED.search(name) and tensor.shape and tensor.shape[0] == 2 * width:
        halves = ("shift", "scale") if original else ("scale", "shift")
        names = [name.replace(".linear.", f".{half}.") for half in halves]
        yield from rows(names, name, tensor, width, path)
    else:
        yield name, tensor


def _last_block(names: Collection[str]) -> str:
    """Return the number of the block after which the text does not go on; empty if there is none.

    The modulation of its text has no gates.
    """
    ending = ".norm1_context.shift.weight"
    return next((name.split(".")[1] for name in names if name.endswith(ending)), "")


def _as_they_are(names: Collection[str], path: Path) -> Rename:
    return str


def _shaped(name: str, tensor: StoredWeight) -> StoredWeight:
    """Give the table of places the side of 1 that llama.cpp leaves out of its shape."""
    is_trimmed = name == "pos_embed.pos_embed" and len(tensor.shape) == 2
    return tensor.reshaped((1, *tensor.shape)) if is_trimmed else tensor


SD3_KEYS = NetworkKeys(
    grammar=_GRAMMAR,
    leftovers=re.compile(r"(model_ema|loss)\."),
    renaming=_as_they_are,
    unpacked=_unpacked,
    shaped=_shaped,
)
LABELS: Mapping[Component, Sentence] = {
    Component.TEXT_ENCODER: sentence("text encoder (CLIP ViT-L)"),
    Component.TEXT_ENCODER_2: sentence("second text encoder (OpenCLIP bigG)"),
    Component.TEXT_ENCODER_3: sentence("third text encoder (T5-XXL)"),
    **flow.LABELS,
}
KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: PROJECTED_CLIP_KEYS,
        Component.TEXT_ENCODER_2: PROJECTED_CLIP_KEYS,
        Component.TEXT_ENCODER_3: T5_KEYS,
        Component.DENOISER: SD3_KEYS,
        Component.VAE: KL_VAE_KEYS,
    },
    prefixes={
        **flow.PREFIXES,
        "text_encoders.clip_l.transformer.": Component.TEXT_ENCODER,
        "text_encoders.clip_g.transformer.": Component.TEXT_ENCODER_2,
        "text_encoders.t5xxl.transformer.": Component.TEXT_ENCODER_3,
        "text_encoder.": Component.TEXT_ENCODER,
        "text_encoder_2.": Component.TEXT_ENCODER_2,
        "text_encoder_3.": Component.TEXT_ENCODER_3,
    },
    bare=(
        (
            Component.DENOISER,
            re.compile(
                r"pos_embed$|(x_embedder|t_embedder|y_embedder|context_embedder|joint_blocks"
                r"|final_layer|pos_embed|time_text_embed|transformer_blocks|norm_out|proj_out)\."
            ),
        ),
        (Component.TEXT_ENCODER_3, T5_BEGINNINGS),
        (
            Component.TEXT_ENCODER,
            re.compile(
                r"(text_model|embeddings|final_layer_norm|encoder\.layers|transformer\.resblocks"
                r"|token_embedding|ln_final)\.|text_projection|positional_embedding"
            ),
        ),
        (Component.VAE, re.compile(r"(encoder|decoder)\.")),
    ),
    unused=re.compile(r"(.*\.)?(scaled_fp8|logit_scale|position_ids)$"),
)
