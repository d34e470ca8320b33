"""Recognising, reading and assembling the files of FLUX.2 klein."""

import re
from pathlib import Path
from typing import ClassVar

from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_folder import DiffusersFolder
from engine.families.checkpoint import Component, IdentifiedCheckpoint, Parts, name_of
from engine.families.flux2.architecture import AFTER, architecture_of
from engine.families.flux2.folder import FOLDER_READERS
from engine.families.flux2.hints import BASE, DISTILLED, learnt_hints, variant_of
from engine.families.flux2.keys import KEY_LAYOUT, LABELS
from engine.families.flux2.sizes import flux2_config
from engine.families.foreign_kind import LonePart
from engine.families.hints import LearntHints
from engine.families.latents import LatentFormat
from engine.families.shared.flow.fitting import config_in, require_fitting_latents
from engine.families.shared.flux.words import block_words
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.qwen3.family import Qwen3Family
from engine.families.shared.qwen3.fitting import require_fitting_qwen3
from engine.families.shared.qwen3.sizes import qwen3_config
from engine.families.shared.stable_diffusion.fitting import transformer_misfit
from engine.families.shared.stable_diffusion.latent_spaces import FLUX2
from engine.graphs.flux2 import Flux2Config
from engine.graphs.qwen3 import Qwen3Config
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.vae import VaeConfig
from engine.text.chat_rows import WITHOUT_THOUGHTS

_DOWNSCALE = 16
_PIPELINE = re.compile(r"Flux2Klein(Inpaint)?Pipeline")
_CALLED = re.compile(r"(black-forest-labs/)?flux[ .]?2[- _]klein")


class Flux2Klein(Qwen3Family):
    """The family of FLUX.2 klein: the distilled models, base and what was trained from them."""

    name = "flux2"
    title = "FLUX.2 klein"
    about = sentence("1024 pixels in four steps, and changes pictures by what the prompt says.")
    labels: ClassVar = LABELS
    variants: ClassVar = {DISTILLED: "klein", BASE: "klein base"}
    pipelines: ClassVar = _PIPELINE
    base_models: ClassVar = _CALLED
    transformer_title: ClassVar = "a transformer of FLUX.2 klein's blocks"
    key_layout: ClassVar = KEY_LAYOUT
    latent_space: ClassVar = FLUX2
    template: ClassVar = WITHOUT_THOUGHTS
    config_readers: ClassVar = {
        Component.TEXT_ENCODER: qwen3_config,
        Component.DENOISER: flux2_config,
        Component.VAE: vae_config,
    }
    folder_readers: ClassVar = FOLDER_READERS
    lone_part_uses: ClassVar = {
        LonePart.FLUX2_VAE: (Component.VAE,),
        LonePart.TINY_VAE: (Component.VAE,),
        LonePart.QWEN3_TEXT_ENCODER: (Component.TEXT_ENCODER,),
    }
    # Tensors of the original layout and of diffusers'.
    transformer_signs: ClassVar = (
        ("double_stream_modulation_img.lin.weight [", "single_blocks.0.linear1.weight ["),
        (
            "double_stream_modulation_img.linear.weight [",
            "single_transformer_blocks.0.attn.to_qkv_mlp_proj.weight [",
        ),
    )
    # FLUX.2 dev has the same blocks, another encoder, and guidance as an input.
    foreign_signs: ClassVar = ("guidance_in.", "guidance_embedder.", "controlnet_", "control_")

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture."""
        return f"flux-2-{checkpoint.variant}"

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for the distilled model or for base."""
        return learnt_hints(checkpoint)

    def transformer_words(self, config: object) -> Sentence | None:
        """Describe the transformer; None for the configuration of another component."""
        return block_words(config)

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        transformer = config_in(parts, Component.DENOISER)
        if isinstance(transformer, Flux2Config):
            require_fitting_latents(parts, transformer.in_channels, LABELS)
            _require_fitting_text(parts, transformer)
        latent = _latent_format(config_in(parts, Component.VAE))
        facts = parts.denoiser
        variant = facts.variant or variant_of(name_of(path), facts.cards)
        return self.assembled(path, parts, variant, latent, architecture_of)


def _latent_format(vae: object) -> LatentFormat:
    """Return the latents of a VAE, which normalises them itself."""
    channels = len(FLUX2.preview.weights)
    if not isinstance(vae, VaeConfig | TinyVaeConfig):
        return LatentFormat(channels, _DOWNSCALE, 1.0, preview=FLUX2.preview, space=FLUX2.name)
    preview, name = (FLUX2.preview, FLUX2.name) if vae.latent_channels == channels else (None, "")
    return LatentFormat(vae.latent_channels, vae.downscale, 1.0, preview=preview, space=name)


def _require_fitting_text(parts: Parts, transformer: Flux2Config) -> None:
    """Require that an encoder has the layers that are read, as wide as the transformer's context.

    Raises EngineError(CHECKPOINT_MISMATCH).
    """
    require_fitting_qwen3(parts, LABELS, transformer.context_width // len(AFTER))
    qwen3 = config_in(parts, Component.TEXT_ENCODER)
    if isinstance(qwen3, Qwen3Config) and qwen3.layers <= AFTER[-1]:
        found = sentence("of {layers} layers", layers=qwen3.layers)
        least = sentence("one of more than {layers}", layers=AFTER[-1])
        raise transformer_misfit(LABELS, Component.TEXT_ENCODER, found, least)
