"""Recognising, reading and assembling the files of Flux.1."""

import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from engine.api.prompts import PromptQuestion
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode, PredictionType
from engine.checkpoints.diffusers_configs import VaeFile
from engine.checkpoints.diffusers_folder import DiffusersFolder, ReadIndex
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.checkpoints.sidecars import cards_of
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.errors import EngineError
from engine.families.base import (
    Component,
    ComponentSource,
    DenoiserFacts,
    IdentifiedCheckpoint,
    Parts,
    TextFacts,
    VaeFacts,
)
from engine.families.family import Family
from engine.families.flux.architecture import architecture_of
from engine.families.flux.denoiser import MOST_TOKENS, fill_channels
from engine.families.flux.folder import folder_source
from engine.families.flux.hints import learnt_hints
from engine.families.flux.keys import LABELS
from engine.families.flux.reading import described, read_components, sorted_keys
from engine.families.hints import LearntHints
from engine.families.kind import Kind, LonePart
from engine.families.recognition import Listing
from engine.families.shared.clip.vocabulary import require_words
from engine.families.shared.kl_vae.flux_latents import DOWNSCALE, flux_latent_format
from engine.families.shared.kl_vae.tiny_vaes import read_tiny_vae
from engine.families.shared.stable_diffusion.fitting import transformer_misfit
from engine.families.shared.stable_diffusion.folder_parts import tokenizer_of_folder
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.flux import PATCH, FluxConfig
from engine.graphs.t5 import T5Config
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.vae import VaeConfig
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
# By the channels of a token beside those of the latent (landscape of released variants).
_WITH_PICTURES = {
    64: sentence("Canny or Depth, which takes a map beside the latent"),
}
_PIPELINE = re.compile(r"Flux(Img2Img|Inpaint|Fill|Kontext)?Pipeline")
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


class Flux1(Family):
    """The family of Flux.1: dev, schnell and what was trained from them."""

    name = "flux1"
    title = "Flux.1"
    about = sentence("1024 pixels, follows long prompts closely; large files, and much time.")
    labels: ClassVar = LABELS
    subfolders: ClassVar = _SUBFOLDERS

    def recognise(self, listing: Listing) -> str | None:
        """Describe the transformer of a file of this family; None for all other files."""
        text = listing.text
        if any(sign in text for sign in _OTHERS):
            return None
        found = any(all(sign in text for sign in signs) for signs in _SIGNS)
        return "a transformer of double and single blocks" if found else None

    def rule_out(self, listing: Listing) -> Sentence | None:
        """Return the reason a file cannot be of this family; None where it may be."""
        if self.recognise(listing) is not None:
            return None
        return sentence("it has no transformer of Flux.1")

    def draws_with(self, pipeline: str) -> bool:
        """Tell whether the diffusers pipeline class `pipeline` runs the family's checkpoints."""
        return _PIPELINE.fullmatch(pipeline) is not None

    def is_called(self, base_model: str) -> bool:
        """Tell whether `base_model`, the base model on a checkpoint's card, names this family."""
        return _CALLED.match(base_model) is not None

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture."""
        return f"flux-1-{checkpoint.variant}"

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
        positions = max((one.tokens for one in question.lengths), default=MOST_TOKENS)
        return count_t5_tokens(text, question, embeddings, positions=positions)

    def lone_parts(self, listing: Listing, kind: Kind | None) -> tuple[Component, ...]:
        """List the components that a file with a lone VAE or text encoder could supply."""
        return _LONE_PARTS.get(kind.part, ()) if kind and kind.part else ()

    def read_lone_part(self, component: Component, path: Path, read: ReadIndex) -> Parts | None:
        """Read a tiny autoencoder as a VAE; return None for all other files."""
        return read_tiny_vae(path, read, FLUX) if component is Component.VAE else None

    def takes_from(self, giver: Family, component: Component) -> bool:
        """Tell whether a checkpoint of another family may supply a component: a text encoder."""
        return giver is self or component in (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2)

    def name_suits(self, component: Component, name: str) -> bool:
        """Tell whether the name of a file with a lone component sounds like this family's."""
        return "sd3" not in name.casefold() if component is Component.VAE else True

    def with_part(self, parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
        """Return `parts` with a component of `other` and the facts of `other` about it."""
        whole = super().with_part(parts, component, other, path)
        match component:
            case Component.DENOISER:
                return replace(whole, denoiser=other.denoiser)
            case Component.VAE:
                return replace(whole, vae=other.vae)
            case Component.TEXT_ENCODER:
                return replace(whole, text=other.text)
            case Component.TEXT_ENCODER_2:
                return whole

    def components_of(self, index: TensorIndex) -> tuple[Component, ...]:
        """List the components in a single file, by its keys."""
        return tuple(sorted_keys(index).components)

    def read_file(self, index: TensorIndex, wanted: frozenset[Component]) -> Parts:
        """Read the wanted components of a file, in any of its layouts."""
        sources, ignored = read_components(index, wanted)
        cards = cards_of(index) if Component.DENOISER in sources else ()
        facts = replace(_denoiser_facts(sources.get(Component.DENOISER)), cards=cards)
        return Parts(sources, index.digest, described(sources), ignored, facts)

    def read_folder(self, folder: DiffusersFolder) -> Parts:
        """Read every component of a diffusers folder."""
        parts = {_SUBFOLDERS[name]: part for name, part in folder.parts.items()}
        found = [folder_source(one, parts[one]) for one in LABELS if one in parts]
        sources = {one.source.component: one.source for one in found}
        vae = parts[Component.VAE].config(VaeFile) if Component.VAE in parts else None
        return Parts(
            sources,
            combined_digest(*(part.index.digest for part in parts.values())),
            described(sources),
            sum(one.ignored for one in found),
            _denoiser_facts(sources.get(Component.DENOISER)),
            VaeFacts(vae.scaling_factor, vae.shift_factor) if vae else VaeFacts(),
            TextFacts(tokenizer_of_folder(folder, "tokenizer")),
        )

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        transformer = _config(parts, Component.DENOISER)
        if isinstance(transformer, FluxConfig):
            _require_text_to_picture(transformer, path)
            _require_fitting(parts, transformer)
        return IdentifiedCheckpoint(
            path=path,
            family=self.name,
            variant=_variant(transformer),
            latent=flux_latent_format(_config(parts, Component.VAE), parts.vae),
            default_size=1024,
            missing=tuple(one for one in LABELS if one not in parts.sources),
            evidence=(*parts.evidence, *self._conclusion(parts)),
            parts=parts,
            make_architecture=architecture_of,
        )

    def _conclusion(self, parts: Parts) -> tuple[Sentence, ...]:
        if Component.DENOISER not in parts.sources:
            return ()
        return (sentence("{family}, {why}", family=self.title, why=parts.denoiser.words),)


def _denoiser_facts(source: ComponentSource | None) -> DenoiserFacts:
    if source is None:
        return DenoiserFacts()
    reason = sentence("all of its family are trained so")
    return DenoiserFacts(prediction=PredictionType.FLOW, reason=reason)


def _config(parts: Parts, component: Component) -> object:
    source = parts.sources.get(component)
    return source.config if source else None


def _variant(transformer: object) -> str:
    if not isinstance(transformer, FluxConfig) or not transformer.takes_guidance:
        return "schnell"
    is_fill = transformer.in_channels == fill_channels(transformer, DOWNSCALE)
    return "fill" if is_fill else "dev"


def _require_text_to_picture(transformer: FluxConfig, path: Path) -> None:
    """Refuse a variant whose channels beside the latent are not known, or are not run yet."""
    more = transformer.in_channels - transformer.out_channels
    if transformer.in_channels in (transformer.out_channels, fill_channels(transformer, DOWNSCALE)):
        return
    kind = _WITH_PICTURES.get(more, sentence("a variant with {more} channels more", more=more))
    raise EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence("{path} is Flux.1 {kind}. It is not run yet.", path=path.name, kind=kind),
        sentence("Choose Flux.1 dev, schnell, Krea or Fill, or what was trained from them."),
    )


def _require_fitting(parts: Parts, transformer: FluxConfig) -> None:
    """Require that VAE and text encoders are as wide as the transformer's inputs."""
    vae, clip = _config(parts, Component.VAE), _config(parts, Component.TEXT_ENCODER)
    t5 = _config(parts, Component.TEXT_ENCODER_2)
    channels = transformer.out_channels // PATCH**2
    if isinstance(vae, VaeConfig | TinyVaeConfig) and vae.latent_channels != channels:
        found = sentence("for {channels} latent channels", channels=vae.latent_channels)
        raise transformer_misfit(
            LABELS, Component.VAE, found, sentence("one for {channels}", channels=channels)
        )
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
        if width not in (None, needed):
            found = sentence("{width} wide", width=width)
            raise transformer_misfit(
                LABELS, component, found, sentence("one {width} wide", width=needed)
            )
