"""Recognising, reading and assembling the files of Stable Diffusion 3 and 3.5."""

import re
from functools import partial
from pathlib import Path
from typing import ClassVar

from engine.api.prompts import PromptQuestion
from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_folder import DiffusersFolder
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.checkpoint import Component, IdentifiedCheckpoint, Parts, name_of
from engine.families.family import Family
from engine.families.foreign_kind import LonePart
from engine.families.hints import LearntHints
from engine.families.sd3.architecture import architecture_of
from engine.families.sd3.folder import FOLDER_READERS
from engine.families.sd3.hints import learnt_hints, variant
from engine.families.sd3.keys import KEY_LAYOUT, LABELS
from engine.families.sd3.sizes import sd3_config
from engine.families.shared.clip.sizes import ClipTextFacts, clip_text_config
from engine.families.shared.clip.vocabulary import require_words
from engine.families.shared.flow.family import FlowFamily
from engine.families.shared.flow.fitting import (
    config_in,
    require_fitting_latents,
    require_width,
)
from engine.families.shared.kl_vae.flux_latents import flux_latent_format
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.stable_diffusion.latent_spaces import SD3
from engine.families.shared.t5.sizes import t5_config
from engine.graphs.clip_text import Activation, ClipTextConfig
from engine.graphs.sd3 import Sd3Config
from engine.graphs.t5 import T5Config
from engine.text.checking import count_clip_tokens
from engine.text.counting import TokenCount
from engine.text.t5_counting import count_t5_tokens

_L, _G, _T5 = Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.TEXT_ENCODER_3
# The widths of CLIP ViT-L and bigG, 768 and 1280, in parts of the pooled text.
_SHARES = 3, 5
_PIPELINE = re.compile(r"StableDiffusion3(Img2Img|Inpaint)?Pipeline")
_CALLED = re.compile(r"(stabilityai/)?(sd|stable[ -]diffusion)[ -]?3")


class StableDiffusion3(FlowFamily):
    """The family of Stable Diffusion 3 medium and 3.5 medium, large and large turbo."""

    name = "sd3"
    title = "SD 3.x"
    full_title = "Stable Diffusion 3 and 3.5"
    about = sentence("1024 pixels, long prompts and negative prompts; large files.")
    labels: ClassVar = LABELS
    subfolders: ClassVar = {
        "transformer": Component.DENOISER,
        "text_encoder": _L,
        "text_encoder_2": _G,
        "text_encoder_3": _T5,
        "vae": Component.VAE,
    }
    pipelines: ClassVar = _PIPELINE
    base_models: ClassVar = _CALLED
    transformer_title: ClassVar = "a transformer of joint blocks"
    key_layout: ClassVar = KEY_LAYOUT
    latent_space: ClassVar = SD3
    config_readers: ClassVar = {
        _L: clip_text_config,
        _G: partial(clip_text_config, facts=ClipTextFacts(activation=Activation.GELU)),
        _T5: t5_config,
        Component.DENOISER: sd3_config,
        Component.VAE: vae_config,
    }
    folder_readers: ClassVar = FOLDER_READERS
    # Zeros stand in for T5.
    optional: ClassVar = (_T5,)
    lone_part_uses: ClassVar = {
        LonePart.VAE: (Component.VAE,),
        LonePart.TINY_VAE: (Component.VAE,),
        LonePart.CLIP_TEXT_ENCODER: (_L, _G),
        LonePart.T5_TEXT_ENCODER: (_T5,),
    }
    clip_widths: ClassVar = (768, 1280)
    transformer_signs: ClassVar = (
        (
            "joint_blocks.0.x_block.attn.qkv.weight [",
            "joint_blocks.0.context_block.attn.qkv.weight [",
            "y_embedder.mlp.0.weight [",
        ),
        (
            "transformer_blocks.0.attn.add_k_proj.weight [",
            "time_text_embed.text_embedder.linear_1.weight [",
            "pos_embed.proj.weight [",
        ),
    )
    foreign_signs: ClassVar = ("single_transformer_blocks.", "controlnet_")

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture."""
        return "stable-diffusion-3-" + checkpoint.variant.removeprefix("3.5-").removesuffix(
            "-turbo"
        )

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for the checkpoint's size, or for turbo by its name."""
        return learnt_hints(checkpoint)

    def require_tokenizers(self, checkpoint: IdentifiedCheckpoint) -> None:
        """Raise EngineError for a text encoder with its own vocabulary and no tokenizer."""
        require_words(checkpoint)

    def count_tokens(
        self, text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
    ) -> TokenCount:
        """Count the tokens of T5, by which texts are cut; of CLIP where there is no T5."""
        positions = question.lengths[-1].tokens if question.lengths else 0
        if not positions:
            return count_clip_tokens(text, question, embeddings)
        return count_t5_tokens(text, question, embeddings, positions=positions)

    def takes_from(self, giver: Family, component: Component) -> bool:
        """Tell whether a checkpoint of another family may supply a component: a text encoder."""
        return component in (_L, _G, _T5) or FlowFamily.takes_from(self, giver, component)

    def suits_file_name(self, component: Component, name: str) -> bool:
        """Tell whether the name of a file with a lone VAE sounds like this family's."""
        return component is not Component.VAE or "sd3" in name.casefold()

    def transformer_words(self, config: object) -> Sentence | None:
        """Describe the transformer; None for the configuration of another component."""
        if not isinstance(config, Sd3Config):
            return None
        return sentence(
            "transformer {width} wide with {blocks} joint blocks",
            width=config.width,
            blocks=config.blocks,
        )

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        transformer = config_in(parts, Component.DENOISER)
        if isinstance(transformer, Sd3Config):
            _require_fitting(parts, transformer)
        names = (*(card.base_model for card in parts.denoiser.cards), name_of(path))
        latent = flux_latent_format(config_in(parts, Component.VAE), parts.vae, SD3)
        found = variant(transformer, names)
        return self.assembled(path, parts, found, latent, architecture_of)


def _require_fitting(parts: Parts, transformer: Sd3Config) -> None:
    """Require that VAE and text encoders are as wide as the transformer's inputs."""
    require_fitting_latents(parts, transformer.channels, LABELS)
    first, second, t5 = (config_in(parts, component) for component in (_L, _G, _T5))
    require_width(
        _T5, LABELS, t5.width if isinstance(t5, T5Config) else None, transformer.context_width
    )
    pooled = transformer.pooled_width
    # Each is told by itself, so that neither is offered in place of the other.
    if isinstance(first, ClipTextConfig) and first.width > pooled // 2:
        require_width(_L, LABELS, first.width, pooled * _SHARES[0] // sum(_SHARES))
    if isinstance(second, ClipTextConfig) and second.projected_width < pooled // 2:
        needed = pooled * _SHARES[1] // sum(_SHARES)
        width = second.projected_width if second.width == needed else second.width
        require_width(_G, LABELS, width, needed)
    if isinstance(first, ClipTextConfig) and isinstance(second, ClipTextConfig):
        rest = pooled - (first.projected_width or first.width)
        require_width(_G, LABELS, second.projected_width, rest)
