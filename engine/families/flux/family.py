"""Recognising, reading and assembling the files of Flux.1."""

import re
from pathlib import Path
from typing import ClassVar

from engine.api.prompts import PromptQuestion
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import DiffusersFolder
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.errors import EngineError
from engine.families.checkpoint import (
    Component,
    DenoiserFacts,
    IdentifiedCheckpoint,
    Parts,
    name_of,
)
from engine.families.family import Family
from engine.families.flux.architecture import architecture_of
from engine.families.flux.control_loras import widened_for
from engine.families.flux.denoiser import fill_channels, map_channels
from engine.families.flux.folder import FOLDER_READERS
from engine.families.flux.hints import (
    CANNY,
    CONTROLS,
    DEPTH,
    DEV,
    FILL,
    KONTEXT,
    SCHNELL,
    learnt_hints,
    variant_by_name,
)
from engine.families.flux.keys import KEY_LAYOUT, LABELS
from engine.families.flux.sizes import flux_config
from engine.families.foreign_kind import LonePart
from engine.families.hints import LearntHints
from engine.families.refusals import not_of_variant
from engine.families.shared.clip.sizes import clip_text_config
from engine.families.shared.clip.vocabulary import require_words
from engine.families.shared.flow.denoiser import MOST_TOKENS
from engine.families.shared.flow.family import FlowFamily
from engine.families.shared.flow.fitting import (
    config_in,
    require_fitting_latents,
    require_width,
)
from engine.families.shared.flux.words import block_words
from engine.families.shared.kl_vae.flux_latents import DOWNSCALE, flux_latent_format
from engine.families.shared.kl_vae.sizes import vae_config
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.shared.t5.sizes import t5_config
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.flux import PATCH, FluxConfig
from engine.graphs.t5 import T5Config
from engine.lora.file import LoraFile
from engine.text.counting import TokenCount
from engine.text.t5_counting import count_t5_tokens

# Tensors that Flux.1's transformers have, in the original layout and in diffusers', by listings.
_SIGNS = (
    (
        "double_blocks.0.img_attn.qkv.weight [",
        "single_blocks.0.linear1.weight [",
        "vector_in.in_layer.weight [",
        "txt_in.weight [",
    ),
    (
        "transformer_blocks.0.attn.add_k_proj.weight [",
        "single_transformer_blocks.0.attn.to_q.weight [",
        "time_text_embed.text_embedder.linear_1.weight [",
        "context_embedder.weight [",
    ),
)
# Tensors of networks that have those, too.
_OTHERS = (
    "distilled_guidance_layer.",
    "double_stream_modulation_img.",
    "early_stream_modulations.",
    "individual_token_refiner.",
    "nerf_blocks.",
    "connector.S.",
    "controlnet_",
)
# The variants whose files have the same keys and shapes; names tell them apart.
_DEVS = KONTEXT, DEV
_PIPELINE = re.compile(
    r"Flux(Img2Img|Inpaint|Fill|Kontext|KontextInpaint|Control(Img2Img|Inpaint)?)?Pipeline"
)
_CALLED = re.compile(r"(black-forest-labs/)?flux[ .]?1")
_LONE_PARTS = {
    LonePart.VAE: (Component.VAE,),
    LonePart.TINY_VAE: (Component.VAE,),
    LonePart.CLIP_TEXT_ENCODER: (Component.TEXT_ENCODER,),
    LonePart.T5_TEXT_ENCODER: (Component.TEXT_ENCODER_2,),
}
_SUBFOLDERS = {
    "transformer": Component.DENOISER,
    "text_encoder": Component.TEXT_ENCODER,
    "text_encoder_2": Component.TEXT_ENCODER_2,
    "vae": Component.VAE,
}


class Flux1(FlowFamily):
    """The family of Flux.1: dev, schnell and what was trained from them."""

    name = "flux1"
    title = "Flux.1"
    about = sentence("1024 pixels, follows long prompts closely; large files, and much time.")
    labels: ClassVar = LABELS
    subfolders: ClassVar = _SUBFOLDERS
    variants: ClassVar = {
        DEV: "dev, Krea",
        KONTEXT: "Kontext",
        CANNY: "Canny",
        DEPTH: "Depth",
    }
    pipelines: ClassVar = _PIPELINE
    base_models: ClassVar = _CALLED
    transformer_title: ClassVar = "a transformer of double and single blocks"
    key_layout: ClassVar = KEY_LAYOUT
    latent_space: ClassVar = FLUX
    config_readers: ClassVar = {
        Component.TEXT_ENCODER: clip_text_config,
        Component.TEXT_ENCODER_2: t5_config,
        Component.DENOISER: flux_config,
        Component.VAE: vae_config,
    }
    folder_readers: ClassVar = FOLDER_READERS
    lone_part_uses: ClassVar = _LONE_PARTS
    transformer_signs: ClassVar = _SIGNS
    foreign_signs: ClassVar = _OTHERS
    clip_widths: ClassVar = (768,)

    def variant_of_pipeline(self, pipeline: str) -> str | None:
        """Return the variant of folders with the diffusers pipeline class `pipeline`, if known."""
        return KONTEXT if "Kontext" in pipeline else None

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture."""
        return f"flux-1-{checkpoint.variant}"

    def widened_for(
        self, checkpoint: IdentifiedCheckpoint, lora: LoraFile
    ) -> IdentifiedCheckpoint | None:
        """Return a checkpoint with inputs for a map, which a control-LoRA needs."""
        return widened_for(checkpoint, lora)

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for a transformer with guidance as an input, or without."""
        return learnt_hints(checkpoint)

    def require_tokenizers(self, checkpoint: IdentifiedCheckpoint) -> None:
        """Raise EngineError for a text encoder with its own vocabulary and no tokenizer."""
        require_words(checkpoint)

    def count_tokens(
        self, text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
    ) -> TokenCount:
        """Count the tokens of T5, by which texts are cut."""
        positions = max((length.tokens for length in question.lengths), default=MOST_TOKENS)
        return count_t5_tokens(text, question, embeddings, positions=positions)

    def takes_from(self, giver: Family, component: Component) -> bool:
        """Tell whether a checkpoint of another family may supply a component: a text encoder."""
        is_text = component in (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)
        return is_text or FlowFamily.takes_from(self, giver, component)

    def transformer_words(self, config: object) -> Sentence | None:
        """Describe the transformer; None for the configuration of another component."""
        return block_words(config)

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        transformer = config_in(parts, Component.DENOISER)
        if isinstance(transformer, FluxConfig):
            _require_known_channels(transformer, path)
            _require_fitting(parts, transformer)
        latent = flux_latent_format(config_in(parts, Component.VAE), parts.vae)
        variant = _variant(transformer, path, parts.denoiser)
        return self.assembled(path, parts, variant, latent, architecture_of)


def _variant(transformer: object, path: Path, facts: DenoiserFacts) -> str:
    """Return the variant: what shapes tell, and what is stated or named where they do not.

    Raises EngineError(CHECKPOINT_MISMATCH) where shapes rule out what is stated.
    """
    if not isinstance(transformer, FluxConfig):
        return SCHNELL
    alike = _variants_alike(transformer)
    if facts.variant is None:
        return variant_by_name(name_of(path), facts.cards, alike)
    if facts.variant not in alike:
        reason = sentence("its shapes are {family}'s", family=alike[0])
        raise not_of_variant(path, facts.variant, reason)
    return facts.variant


def _variants_alike(transformer: FluxConfig) -> tuple[str, ...]:
    """Return the variants that have a transformer's shapes."""
    if not transformer.takes_guidance:
        return (SCHNELL,)
    if transformer.in_channels == fill_channels(transformer, DOWNSCALE):
        return (FILL,)
    return CONTROLS if transformer.in_channels == map_channels(transformer) else _DEVS


def _require_known_channels(transformer: FluxConfig, path: Path) -> None:
    """Refuse a variant whose channels beside the latent are not known."""
    known = (
        transformer.out_channels,
        map_channels(transformer),
        fill_channels(transformer, DOWNSCALE),
    )
    if transformer.in_channels in known:
        return
    raise EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence(
            "{path} is Flux.1 with {more} channels more. It is not run yet.",
            path=path.name,
            more=transformer.in_channels - transformer.out_channels,
        ),
        sentence("Choose Flux.1 dev, schnell, Krea or Fill, or what was trained from them."),
    )


def _require_fitting(parts: Parts, transformer: FluxConfig) -> None:
    """Require that VAE and text encoders are as wide as the transformer's inputs."""
    clip, t5 = (config_in(parts, Component[name]) for name in ("TEXT_ENCODER", "TEXT_ENCODER_2"))
    require_fitting_latents(parts, transformer.out_channels // PATCH**2, LABELS)
    for component, width, needed in (
        (
            Component.TEXT_ENCODER,
            clip.width if isinstance(clip, ClipTextConfig) else None,
            transformer.pooled_width,
        ),
        (
            Component.TEXT_ENCODER_2,
            t5.width if isinstance(t5, T5Config) else None,
            transformer.context_width,
        ),
    ):
        require_width(component, LABELS, width, needed)
