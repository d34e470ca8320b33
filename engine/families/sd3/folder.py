"""Components of a diffusers folder of Stable Diffusion 3, checked against `config.json`."""

from functools import partial

from engine.api.sentences import sentence
from engine.checkpoints.diffusers_configs import Sd3Constants, Sd3File, unusual
from engine.checkpoints.diffusers_folder import FolderPart
from engine.families.checkpoint import Component, ComponentSource
from engine.families.sd3.keys import KEY_LAYOUT
from engine.families.sd3.sizes import sd3_config
from engine.families.shared.keys.shapes import check_claims, require_usual
from engine.families.shared.stable_diffusion.folder_parts import (
    FolderSource,
    clip_text_source,
    vae_source,
)
from engine.families.shared.t5.folder import t5_source

_NORMS = {None: False, "rms_norm": True}


def _transformer_source(part: FolderPart) -> FolderSource:
    path, stated = part.index.path, part.config(Sd3File)
    file = path.parent / "config.json"
    advice = sentence("Choose a model with the usual network of Stable Diffusion 3.")
    require_usual(file, unusual(stated, Sd3Constants), advice)
    if stated.qk_norm not in _NORMS:
        require_usual(file, (f"qk_norm = {stated.qk_norm!r}",), advice)
    named = KEY_LAYOUT.canonical(Component.DENOISER, part.index.tensors, path)
    config = sd3_config(named.weights, path, stated.num_attention_heads)
    check_claims(
        file,
        (
            ("in_channels", stated.in_channels, config.channels),
            ("out_channels", stated.out_channels, config.channels),
            ("num_layers", stated.num_layers, config.blocks),
            ("attention_head_dim", stated.attention_head_dim, config.head_width),
            ("joint_attention_dim", stated.joint_attention_dim, config.context_width),
            ("caption_projection_dim", stated.caption_projection_dim, config.width),
            ("pooled_projection_dim", stated.pooled_projection_dim, config.pooled_width),
            ("pos_embed_max_size", stated.pos_embed_max_size, config.places),
            ("dual_attention_layers", stated.dual_attention_layers, config.dual_blocks),
            ("qk_norm", _NORMS[stated.qk_norm], config.normalised),
        ),
    )
    return FolderSource(ComponentSource(Component.DENOISER, config, named.weights), named.ignored)


FOLDER_READERS = {
    Component.TEXT_ENCODER: partial(clip_text_source, Component.TEXT_ENCODER, keys=KEY_LAYOUT),
    Component.TEXT_ENCODER_2: partial(clip_text_source, Component.TEXT_ENCODER_2, keys=KEY_LAYOUT),
    Component.TEXT_ENCODER_3: partial(t5_source, Component.TEXT_ENCODER_3, keys=KEY_LAYOUT),
    Component.DENOISER: _transformer_source,
    Component.VAE: vae_source,
}
