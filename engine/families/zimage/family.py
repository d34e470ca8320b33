"""Recognising, reading and assembling the files of Z-Image."""

import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from engine.api.prompts import PromptQuestion
from engine.api.sentences import Sentence, sentence
from engine.api.values import PredictionType
from engine.checkpoints.diffusers_configs import VaeFile
from engine.checkpoints.diffusers_folder import DiffusersFolder, ReadIndex
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.checkpoints.sidecars import cards_of
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.base import (
    Component,
    ComponentSource,
    DenoiserFacts,
    IdentifiedCheckpoint,
    Parts,
    VaeFacts,
)
from engine.families.family import Family
from engine.families.hints import LearntHints
from engine.families.kind import Kind, LonePart
from engine.families.recognition import Listing
from engine.families.shared.kl_vae.flux_latents import flux_latent_format
from engine.families.shared.kl_vae.tiny_vaes import read_tiny_vae
from engine.families.shared.stable_diffusion.fitting import transformer_misfit
from engine.families.shared.stable_diffusion.latent_spaces import FLUX
from engine.families.zimage.architecture import architecture_of
from engine.families.zimage.folder import folder_source
from engine.families.zimage.hints import learnt_hints, variant_of
from engine.families.zimage.keys import LABELS
from engine.families.zimage.reading import described, read_components, sorted_keys
from engine.graphs.qwen3 import Qwen3Config
from engine.graphs.tiny_vae import TinyVaeConfig
from engine.graphs.vae import VaeConfig
from engine.graphs.zimage import ZImageConfig
from engine.text.chat_counting import count_chat_tokens
from engine.text.counting import TokenCount

# Tensors that Z-Image's transformers have, in the original layout and in diffusers'.
_SIGNS = ("cap_pad_token [", "x_pad_token [", "noise_refiner.0.attention.")
# Tensors of networks that have those, too: Omni, ControlNets.
_OTHERS = ("siglip_", "control_")
_PIPELINE = re.compile(r"ZImage(Img2Img|Inpaint)?Pipeline")
_CALLED = re.compile(r"(tongyi-mai/)?z[- _]?image", re.IGNORECASE)
_LONE_PARTS = {
    LonePart.VAE: (Component.VAE,),
    LonePart.TINY_VAE: (Component.VAE,),
    LonePart.QWEN3_TEXT_ENCODER: (Component.TEXT_ENCODER,),
}
_SUBFOLDERS = {
    "transformer": Component.DENOISER,
    "text_encoder": Component.TEXT_ENCODER,
    "vae": Component.VAE,
}


class ZImage(Family):
    """The family of Z-Image: Turbo, Base and what was trained from them."""

    name = "zimage"
    title = "Z-Image"
    about = sentence("1024 pixels, English and Chinese prompts; Turbo needs eight steps.")
    labels: ClassVar = LABELS
    subfolders: ClassVar = _SUBFOLDERS

    def recognise(self, listing: Listing) -> str | None:
        """Describe the transformer of a file of this family; None for all other files."""
        text = listing.text
        found = all(sign in text for sign in _SIGNS) and not any(one in text for one in _OTHERS)
        return "a transformer of Z-Image's layers" if found else None

    def rule_out(self, listing: Listing) -> Sentence | None:
        """Return the reason a file cannot be of this family; None where it may be."""
        if self.recognise(listing) is not None:
            return None
        return sentence("it has no transformer of Z-Image")

    def draws_with(self, pipeline: str) -> bool:
        """Tell whether the diffusers pipeline class `pipeline` runs the family's checkpoints."""
        return _PIPELINE.fullmatch(pipeline) is not None

    def is_called(self, base_model: str) -> bool:
        """Tell whether `base_model`, the base model on a checkpoint's card, names this family."""
        return _CALLED.match(base_model) is not None

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
        return count_chat_tokens(text, question)

    def lone_parts(self, listing: Listing, kind: Kind | None) -> tuple[Component, ...]:
        """List the components that a file with a lone VAE or text encoder could supply."""
        return _LONE_PARTS.get(kind.part, ()) if kind and kind.part else ()

    def read_lone_part(self, component: Component, path: Path, read: ReadIndex) -> Parts | None:
        """Read a tiny autoencoder as a VAE; return None for all other files."""
        return read_tiny_vae(path, read, FLUX) if component is Component.VAE else None

    def takes_from(self, giver: Family, component: Component) -> bool:
        """Tell whether a checkpoint of another family may supply a component: Flux.1's VAE."""
        return giver is self or (component is Component.VAE and giver.name == "flux1")

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
            case _:
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
        )

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""
        transformer = _config(parts, Component.DENOISER)
        if isinstance(transformer, ZImageConfig):
            _require_fitting(parts, transformer)
        return IdentifiedCheckpoint(
            path=path,
            family=self.name,
            variant=variant_of(path.stem if path.is_file() else path.name, parts.denoiser.cards),
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


def _require_fitting(parts: Parts, transformer: ZImageConfig) -> None:
    """Require that VAE and text encoder are as wide as the transformer's inputs."""
    vae, text = _config(parts, Component.VAE), _config(parts, Component.TEXT_ENCODER)
    if isinstance(vae, VaeConfig | TinyVaeConfig) and vae.latent_channels != transformer.channels:
        found = sentence("for {channels} latent channels", channels=vae.latent_channels)
        needed = sentence("one for {channels}", channels=transformer.channels)
        raise transformer_misfit(LABELS, Component.VAE, found, needed)
    if isinstance(text, Qwen3Config) and text.width != transformer.context_width:
        found = sentence("{width} wide", width=text.width)
        needed = sentence("one {width} wide", width=transformer.context_width)
        raise transformer_misfit(LABELS, Component.TEXT_ENCODER, found, needed)
