"""The keys of Flux.1's files outside the networks, in each layout."""

import re
from collections.abc import Mapping

from engine.api.sentences import Sentence, as_it_is, sentence
from engine.families.base import Component

LABELS: Mapping[Component, Sentence] = {
    Component.TEXT_ENCODER: sentence("text encoder (CLIP ViT-L)"),
    Component.TEXT_ENCODER_2: sentence("second text encoder (T5-XXL)"),
    Component.DENOISER: sentence("denoiser (transformer)"),
    Component.VAE: as_it_is("VAE"),
}
PREFIXES: Mapping[str, Component] = {
    "model.diffusion_model.": Component.DENOISER,
    "diffusion_model.": Component.DENOISER,
    "vae.": Component.VAE,
    "first_stage_model.": Component.VAE,
    "text_encoders.clip_l.transformer.": Component.TEXT_ENCODER,
    "text_encoders.t5xxl.transformer.": Component.TEXT_ENCODER_2,
    "text_encoder.": Component.TEXT_ENCODER,
    "text_encoder_2.": Component.TEXT_ENCODER_2,
}
BARE = (
    (
        Component.DENOISER,
        re.compile(
            r"(img_in|txt_in|time_in|vector_in|guidance_in|double_blocks|single_blocks|final_layer"
            r"|x_embedder|context_embedder|time_text_embed|(single_)?transformer_blocks|norm_out"
            r"|proj_out)\."
        ),
    ),
    (
        Component.TEXT_ENCODER_2,
        re.compile(r"(shared|encoder\.(block|final_layer_norm|embed_tokens))\."),
    ),
    (
        Component.TEXT_ENCODER,
        re.compile(r"(text_model|embeddings|final_layer_norm|encoder\.layers)\.|text_projection"),
    ),
    (Component.VAE, re.compile(r"(encoder|decoder)\.")),
)
UNUSED = re.compile(r"(scaled_fp8|logit_scale|position_ids)$")
