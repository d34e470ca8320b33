"""Recognising, reading and assembling the files of Z-Image."""

import re
from pathlib import Path
from typing import ClassVar

from engine.api.prompts import PromptQuestion
from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_folder import DiffusersFolder, FolderPart
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.base import Component, DenoiserFacts, IdentifiedCheckpoint, Parts
from engine.families.hints import LearntHints
from engine.families.kind import LonePart
from engine.families.shared.flow.family import FlowFamily
from engine.families.shared.flow.fitting import (
    config_in,
    require_fitting_latents,
    require_width,
)
from engine.families.shared.keys.layout import CanonicalWeights
from engine.families.shared.kl_vae.flux_latents import flux_latent_format
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.qwen3.sizes import qwen3_config
from engine.families.shared.stable_diffusion.folder_parts import FolderSource
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.zimage.architecture import architecture_of
from engine.families.zimage.folder import folder_source
from engine.families.zimage.hints import BASE, TURBO, learnt_hints, variant_of
from engine.families.zimage.keys import KEY_LAYOUT, LABELS
from engine.families.zimage.sizes import zimage_config
from engine.graphs.qwen3 import Qwen3Config
from engine.graphs.zimage import ZImageConfig
from engine.text.chat_counting import count_chat_tokens
from engine.text.chat_rows import THINKING
from engine.text.counting import TokenCount

_NORM_GROUPS = 32
_PIPELINE = re.compile(r"ZImage(Img2Img|Inpaint)?Pipeline")
_CALLED = re.compile(r"(tongyi-mai/)?z[- _]?image", re.IGNORECASE)
_SUBFOLDERS = {
    "transformer": Component.DENOISER,
    "text_encoder": Component.TEXT_ENCODER,
    "vae": Component.VAE,
}


class ZImage(FlowFamily):
    """The family of Z-Image: Turbo, Base and what was trained from them."""

    name = "zimage"
    title = "Z-Image"
    about = sentence("1024 pixels, English and Chinese prompts; Turbo needs eight steps.")
    labels: ClassVar = LABELS
    subfolders: ClassVar = _SUBFOLDERS
    variants: ClassVar = {TURBO: "Turbo", BASE: "Base"}
    pipelines: ClassVar = _PIPELINE
    base_models: ClassVar = _CALLED
    transformer: ClassVar = "a transformer of Z-Image's layers"
    key_layout: ClassVar = KEY_LAYOUT
    space: ClassVar = FLUX
    supplied: ClassVar = {
        LonePart.VAE: (Component.VAE,),
        LonePart.TINY_VAE: (Component.VAE,),
        LonePart.QWEN3_TEXT_ENCODER: (Component.TEXT_ENCODER,),
    }
    # Tensors of the original layout and of diffusers'.
    signs: ClassVar = (("cap_pad_token [", "x_pad_token [", "noise_refiner.0.attention."),)
    # Omni and ControlNets have those, too.
    others: ClassVar = ("siglip_", "control_")

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture."""
        return f"z-image-{checkpoint.variant}"

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for Turbo or for Base."""
        return learnt_hints(checkpoint)

    def require_tokenizers(self, checkpoint: IdentifiedCheckpoint) -> None:
        """Do nothing: all text encoders have Qwen's vocabulary."""

    def count_tokens(
        self, text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
    ) -> TokenCount:
        """Count the tokens of Qwen3."""
        return count_chat_tokens(text, question, THINKING)

    def config_of(self, component: Component, named: CanonicalWeights, path: Path) -> object:
        """Return the sizes of a component of a single file. Raises EngineError."""
        match component:
            case Component.DENOISER:
                return zimage_config(named.weights, path)
            case Component.VAE:
                return vae_config(named.weights, _NORM_GROUPS, path)
            case _:
                return qwen3_config(named.weights, path)

    def folder_source(self, component: Component, part: FolderPart) -> FolderSource:
        """Read a component of a folder, and check its configuration. Raises EngineError."""
        return folder_source(component, part)

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
            text, qwen3 = Component.TEXT_ENCODER, config_in(parts, Component.TEXT_ENCODER)
            width = qwen3.width if isinstance(qwen3, Qwen3Config) else None
            require_width(text, LABELS, width, transformer.context_width)
        return IdentifiedCheckpoint(
            path=path,
            family=self.name,
            variant=_variant(path, parts.denoiser),
            latent=flux_latent_format(config_in(parts, Component.VAE), parts.vae),
            default_size=1024,
            missing=tuple(one for one in LABELS if one not in parts.sources),
            evidence=(*parts.evidence, *self.conclusion(parts)),
            parts=parts,
            make_architecture=architecture_of,
        )


def _variant(path: Path, facts: DenoiserFacts) -> str:
    """Return the variant that the user states, else the one that names tell."""
    return facts.variant or variant_of(path.stem if path.is_file() else path.name, facts.cards)
