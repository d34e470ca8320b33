"""The keys of Flux.1's files, in each layout."""

import re
from collections.abc import Mapping

from engine.api.sentences import Sentence, sentence
from engine.families.checkpoint import Component
from engine.families.shared.clip.keys import CLIP_KEYS
from engine.families.shared.flow import keys as flow
from engine.families.shared.flux.keys import FLUX_KEYS
from engine.families.shared.keys.layout import KeyLayout
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.t5.keys import T5_BEGINNINGS, T5_KEYS

LABELS: Mapping[Component, Sentence] = {
    Component.TEXT_ENCODER: sentence("text encoder (CLIP ViT-L)"),
    Component.TEXT_ENCODER_2: sentence("second text encoder (T5-XXL)"),
    **flow.LABELS,
}
KEY_LAYOUT = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: CLIP_KEYS,
        Component.TEXT_ENCODER_2: T5_KEYS,
        Component.DENOISER: FLUX_KEYS,
        Component.VAE: KL_VAE_KEYS,
    },
    prefixes={
        **flow.PREFIXES,
        "text_encoders.clip_l.transformer.": Component.TEXT_ENCODER,
        "text_encoders.t5xxl.transformer.": Component.TEXT_ENCODER_2,
        "text_encoder.": Component.TEXT_ENCODER,
        "text_encoder_2.": Component.TEXT_ENCODER_2,
    },
    bare=(
        (
            Component.DENOISER,
            re.compile(
                r"(img_in|txt_in|time_in|vector_in|guidance_in|double_blocks|single_blocks|final_layer"
                r"|x_embedder|context_embedder|time_text_embed|(single_)?transformer_blocks|norm_out"
                r"|proj_out)\."
            ),
        ),
        (Component.TEXT_ENCODER_2, T5_BEGINNINGS),
        (
            Component.TEXT_ENCODER,
            re.compile(
                r"(text_model|embeddings|final_layer_norm|encoder\.layers)\.|text_projection"
            ),
        ),
        (Component.VAE, re.compile(r"(encoder|decoder)\.")),
    ),
    unused=re.compile(r"(scaled_fp8|logit_scale|position_ids)$"),
)
