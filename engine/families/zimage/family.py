"""Recognising, reading and assembling the files of Z-Image."""

import re
from pathlib import Path
from typing import ClassVar

from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_folder import DiffusersFolder
from engine.families.checkpoint import Component, IdentifiedCheckpoint, Parts, name_of
from engine.families.foreign_kind import LonePart
from engine.families.hints import LearntHints
from engine.families.shared.flow.fitting import config_in, require_fitting_latents
from engine.families.shared.kl_vae.flux_latents import flux_latent_format
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.qwen3.family import Qwen3Family
from engine.families.shared.qwen3.fitting import require_fitting_qwen3
from engine.families.shared.qwen3.sizes import qwen3_config
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.zimage.architecture import architecture_of
from engine.families.zimage.folder import FOLDER_READERS
from engine.families.zimage.hints import BASE, TURBO, learnt_hints, variant_of
from engine.families.zimage.keys import KEY_LAYOUT, LABELS
from engine.families.zimage.sizes import zimage_config
from engine.graphs.zimage import ZImageConfig
from engine.text.chat_rows import THINKING

_PIPELINE = re.compile(r"ZImage(Img2Img|Inpaint)?Pipeline")
_CALLED = re.compile(r"(tongyi-mai/)?z[- _]?image", re.IGNORECASE)


class ZImage(Qwen3Family):
    """The family of Z-Image: Turbo, Base and what was trained from them."""

    name = "zimage"
    title = "Z-Image"
    about = sentence("1024 pixels, English and Chinese prompts; Turbo needs eight steps.")
    labels: ClassVar = LABELS
    variants: ClassVar = {TURBO: "Turbo", BASE: "Base"}
    pipelines: ClassVar = _PIPELINE
    base_models: ClassVar = _CALLED
    transformer_title: ClassVar = "a transformer of Z-Image's layers"
    key_layout: ClassVar = KEY_LAYOUT
    latent_space: ClassVar = FLUX
    template: ClassVar = THINKING
    config_readers: ClassVar = {
        Component.TEXT_ENCODER: qwen3_config,
        Component.DENOISER: zimage_config,
        Component.VAE: vae_config,
    }
    folder_readers: ClassVar = FOLDER_READERS
    lone_part_uses: ClassVar = {
        LonePart.VAE: (Component.VAE,),
        LonePart.TINY_VAE: (Component.VAE,),
        LonePart.QWEN3_TEXT_ENCODER: (Component.TEXT_ENCODER,),
    }
    # Tensors of the original layout and of diffusers'.
    transformer_signs: ClassVar = (
        ("cap_pad_token [", "x_pad_token [", "noise_refiner.0.attention."),
    )
    # Omni and ControlNets have those, too.
    foreign_signs: ClassVar = ("siglip_", "control_")

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture."""
        return f"z-image-{checkpoint.variant}"

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for Turbo or for Base."""
        return learnt_hints(checkpoint)

    def transformer_words(self, config: object) -> Sentence | None:
        """Describe the transformer; None for the configuration of another component."""
        if not isinstance(config, ZImageConfig):
            return None
        return sentence(
            "transformer {width} wide with {layers} layers",
            width=config.width,
            layers=config.layers,
        )

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        transformer = config_in(parts, Component.DENOISER)
        if isinstance(transformer, ZImageConfig):
            require_fitting_latents(parts, transformer.channels, LABELS)
            require_fitting_qwen3(parts, LABELS, transformer.context_width)
        latent = flux_latent_format(config_in(parts, Component.VAE), parts.vae)
        facts = parts.denoiser
        variant = facts.variant or variant_of(name_of(path), facts.cards)
        return self.assembled(path, parts, variant, latent, architecture_of)
