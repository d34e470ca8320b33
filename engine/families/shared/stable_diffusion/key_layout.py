"""The keys of Stable Diffusion checkpoints, in the original layout and under diffusers' names."""

import re
from collections.abc import Mapping

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.families.checkpoint import Component
from engine.families.shared.clip.keys import CLIP_KEYS, PROJECTED_CLIP_KEYS
from engine.families.shared.keys.layout import KeyLayout
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.unet.keys import UNET_KEYS

LABELS: Mapping[Component, Sentence] = {
    Component.TEXT_ENCODER: sentence("text encoder"),
    Component.TEXT_ENCODER_2: sentence("second text encoder (OpenCLIP bigG)"),
    Component.DENOISER: sentence("denoiser (UNet)"),
    Component.VAE: as_it_is("VAE"),
}
_PREFIXES: Mapping[str, Component] = {
    "model.diffusion_model.": Component.DENOISER,
    "diffusion_model.": Component.DENOISER,
    "unet.": Component.DENOISER,
    "first_stage_model.": Component.VAE,
    "vae.": Component.VAE,
    "cond_stage_model.transformer.": Component.TEXT_ENCODER,
    "cond_stage_model.model.": Component.TEXT_ENCODER,
    "conditioner.embedders.0.transformer.": Component.TEXT_ENCODER,
    # The refiner's only text encoder.
    "conditioner.embedders.0.model.": Component.TEXT_ENCODER_2,
    "conditioner.embedders.1.model.": Component.TEXT_ENCODER_2,
    "text_encoders.clip_g.transformer.": Component.TEXT_ENCODER_2,
    "text_encoder_2.": Component.TEXT_ENCODER_2,
    "cond_stage_model.clip_l.transformer.": Component.TEXT_ENCODER,
    "text_encoders.clip_l.transformer.": Component.TEXT_ENCODER,
    "text_encoder.": Component.TEXT_ENCODER,
}
_BARE = (
    (
        Component.DENOISER,
        re.compile(
            r"(input_blocks|middle_block|output_blocks|time_embed|out|label_emb"
            r"|down_blocks|mid_block|up_blocks|conv_in|conv_out|conv_norm_out|time_embedding"
            r"|add_embedding)\."
        ),
    ),
    (
        Component.TEXT_ENCODER,
        re.compile(
            r"(text_model|embeddings|final_layer_norm|encoder\.layers|transformer\.resblocks"
            r"|token_embedding|ln_final)\.|positional_embedding$|text_projection"
        ),
    ),
    (Component.VAE, re.compile(r"(encoder|decoder|quant_conv|post_quant_conv)\.")),
)

# Keys without a prefix outside all networks: the noise schedule, EMA weights and marks of the
# kind of training.
_UNUSED = re.compile(
    r"(model_ema|optimizer_states|callbacks|loops|loss|edm_vpred|denoiser)\."
    r"|(alphas|betas|sqrt_|log_one_minus_|posterior_|lvlb_weights|logvar|scale_factor)"
    r"|(v_pred|ztsnr|edm_mean|edm_std|scaled_fp8|logit_scale|position_ids)$"
)

KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.DENOISER: UNET_KEYS,
        Component.VAE: KL_VAE_KEYS,
        Component.TEXT_ENCODER: CLIP_KEYS,
        Component.TEXT_ENCODER_2: PROJECTED_CLIP_KEYS,
    },
    prefixes=_PREFIXES,
    bare=_BARE,
    unused=_UNUSED,
)
