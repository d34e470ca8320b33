"""The keys of FLUX.2 klein's files, in the original layout, which ComfyUI has too, and diffusers'.

Canonical are diffusers' names. Queries, keys and values of double blocks, which the original layout
holds in one layer, are cut into rows of the file, so that nothing is copied.
"""

import re
from collections.abc import Mapping

from engine.api.sentences import Sentence, sentence
from engine.families.checkpoint import Component
from engine.families.shared.flow import keys as flow
from engine.families.shared.flux.keys import JOINED_ATTENTION, FluxNames, as_they_are
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.qwen3.keys import QWEN3_BEGINNINGS, QWEN3_KEYS

_DOUBLE = (
    r"attn\.(to_[qkv]|add_[qkv]_proj|to_out\.0|to_add_out|norm_(added_)?[qk])"
    r"|ff(_context)?\.linear_(in|out)"
)
_GRAMMAR = re.compile(
    r"(x_embedder|context_embedder|proj_out|norm_out\.(scale|shift)"
    r"|time_guidance_embed\.timestep_embedder\.linear_[12]"
    r"|(double_stream_modulation_(img|txt)|single_stream_modulation)\.linear"
    rf"|transformer_blocks\.\d+\.({_DOUBLE})"
    r"|single_transformer_blocks\.\d+\.attn\.(to_qkv_mlp_proj|to_out|norm_[qk]))\.weight"
)
# Names in the original layout, and diffusers'.
MODULES = {
    "img_in.": "x_embedder.",
    "txt_in.": "context_embedder.",
    "time_in.in_layer.": "time_guidance_embed.timestep_embedder.linear_1.",
    "time_in.out_layer.": "time_guidance_embed.timestep_embedder.linear_2.",
    "double_stream_modulation_img.lin.": "double_stream_modulation_img.linear.",
    "double_stream_modulation_txt.lin.": "double_stream_modulation_txt.linear.",
    "single_stream_modulation.lin.": "single_stream_modulation.linear.",
    "double_blocks.": "transformer_blocks.",
    "single_blocks.": "single_transformer_blocks.",
    "final_layer.linear.": "proj_out.",
    "final_layer.adaLN_modulation.1.": "norm_out.",
}
LAYERS = {
    ".img_attn.qkv.": ".attn.to_qkv.",
    ".txt_attn.qkv.": ".attn.add_qkv_proj.",
    ".img_attn.norm.query_norm.scale": ".attn.norm_q.weight",
    ".img_attn.norm.key_norm.scale": ".attn.norm_k.weight",
    ".txt_attn.norm.query_norm.scale": ".attn.norm_added_q.weight",
    ".txt_attn.norm.key_norm.scale": ".attn.norm_added_k.weight",
    ".img_attn.proj.": ".attn.to_out.0.",
    ".txt_attn.proj.": ".attn.to_add_out.",
    ".img_mlp.0.": ".ff.linear_in.",
    ".img_mlp.2.": ".ff.linear_out.",
    ".txt_mlp.0.": ".ff_context.linear_in.",
    ".txt_mlp.2.": ".ff_context.linear_out.",
    ".norm.query_norm.scale": ".attn.norm_q.weight",
    ".norm.key_norm.scale": ".attn.norm_k.weight",
    ".linear1.": ".attn.to_qkv_mlp_proj.",
    ".linear2.": ".attn.to_out.",
}
FLUX2_KEYS = NetworkKeys(
    grammar=_GRAMMAR,
    leftovers=re.compile(r"(model_ema|loss)\."),
    renaming=as_they_are,
    unpacked=FluxNames(MODULES, LAYERS, JOINED_ATTENTION, measure="weight").unpacked,
)
LABELS: Mapping[Component, Sentence] = {
    Component.TEXT_ENCODER: sentence("text encoder (Qwen3)"),
    **flow.LABELS,
}
_PREFIXES: Mapping[str, Component] = {
    **flow.PREFIXES,
    "text_encoders.qwen3_4b.transformer.": Component.TEXT_ENCODER,
    "text_encoders.qwen3_8b.transformer.": Component.TEXT_ENCODER,
    "text_encoder.": Component.TEXT_ENCODER,
}
_BARE = (
    (
        Component.DENOISER,
        re.compile(
            r"(img_in|txt_in|time_in|double_stream_modulation_(img|txt)|single_stream_modulation"
            r"|double_blocks|single_blocks|final_layer|x_embedder|context_embedder"
            r"|time_guidance_embed|(single_)?transformer_blocks|norm_out|proj_out)\."
        ),
    ),
    (Component.TEXT_ENCODER, QWEN3_BEGINNINGS),
    (Component.VAE, re.compile(r"(encoder|decoder|bn|quant_conv|post_quant_conv)\.")),
)
KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: QWEN3_KEYS,
        Component.DENOISER: FLUX2_KEYS,
        Component.VAE: KL_VAE_KEYS,
    },
    prefixes=_PREFIXES,
    bare=_BARE,
    unused=re.compile(r"(scaled_fp8|logit_scale|position_ids)$"),
)
