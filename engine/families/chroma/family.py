"""Recognising, reading and assembling the files of Chroma."""

import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from engine.api.prompts import PromptQuestion
from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_folder import DiffusersFolder
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.checkpoint import Component, IdentifiedCheckpoint, Parts
from engine.families.chroma.architecture import architecture_of
from engine.families.chroma.folder import FOLDER_READERS
from engine.families.chroma.hints import is_flash, learnt_hints
from engine.families.chroma.keys import KEY_LAYOUT, LABELS
from engine.families.chroma.sizes import chroma_config
from engine.families.foreign_kind import LonePart
from engine.families.hints import LearntHints
from engine.families.shared.flow.denoiser import MOST_TOKENS
from engine.families.shared.flow.family import FlowFamily
from engine.families.shared.flow.fitting import (
    config_in,
    require_fitting_latents,
    require_width,
)
from engine.families.shared.flux.words import block_words
from engine.families.shared.kl_vae.flux_latents import flux_latent_format
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.shared.t5.sizes import t5_config
from engine.graphs.chroma import ChromaConfig
from engine.graphs.flux import PATCH
from engine.graphs.t5 import T5Config
from engine.text.counting import TokenCount
from engine.text.t5_counting import count_lone_t5_tokens

_PIPELINE = re.compile(r"Chroma(Img2Img|Inpaint)?Pipeline")
_CALLED = re.compile(r"(lodestones/)?chroma")
_APPROXIMATOR = "distilled_guidance_layer.in_proj.weight ["


class Chroma(FlowFamily):
    """The family of Chroma: Chroma1-HD, Base and Flash."""

    name = "chroma"
    title = "Chroma"
    about = sentence("1024 pixels, any style, long prompts and negative prompts; large files.")
    labels: ClassVar = LABELS
    pipelines: ClassVar = _PIPELINE
    base_models: ClassVar = _CALLED
    transformer_title: ClassVar = "blocks that an approximator modulates"
    key_layout: ClassVar = KEY_LAYOUT
    latent_space: ClassVar = FLUX
    config_readers: ClassVar = {
        Component.TEXT_ENCODER: t5_config,
        Component.DENOISER: chroma_config,
        Component.VAE: vae_config,
    }
    folder_readers: ClassVar = FOLDER_READERS
    lone_part_uses: ClassVar = {
        LonePart.VAE: (Component.VAE,),
        LonePart.TINY_VAE: (Component.VAE,),
        LonePart.T5_TEXT_ENCODER: (Component.TEXT_ENCODER,),
    }
    transformer_signs: ClassVar = (
        (_APPROXIMATOR, "double_blocks.0.img_attn.qkv.weight [", "single_blocks.0.linear1."),
        (
            _APPROXIMATOR,
            "transformer_blocks.0.attn.add_k_proj.weight [",
            "single_transformer_blocks.0.attn.to_q.weight [",
        ),
    )
    # Chroma Radiance, which has no latents.
    foreign_signs: ClassVar = ("nerf_blocks.",)

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture."""
        return "chroma"

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for HD, or for Flash by its name."""
        return learnt_hints(checkpoint)

    def count_tokens(
        self, text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
    ) -> TokenCount:
        """Count the tokens of T5, which knows no embeddings."""
        return count_lone_t5_tokens(text, question, positions=MOST_TOKENS)

    def transformer_words(self, config: object) -> Sentence | None:
        """Describe the transformer; None for the configuration of another component."""
        return block_words(config)

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        transformer = config_in(parts, Component.DENOISER)
        if isinstance(transformer, ChromaConfig):
            channels = transformer.out_channels // PATCH**2
            require_fitting_latents(parts, channels, LABELS)
            text, t5 = Component.TEXT_ENCODER, config_in(parts, Component.TEXT_ENCODER)
            width = t5.width if isinstance(t5, T5Config) else None
            require_width(text, LABELS, width, transformer.context_width)
        latent = flux_latent_format(config_in(parts, Component.VAE), parts.vae)
        made = self.assembled(path, parts, "base", latent, architecture_of)
        return replace(made, variant="flash") if is_flash(made) else made
