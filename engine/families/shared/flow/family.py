"""A family of files with a transformer, a VAE and text encoders, trained on straight paths."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from engine.api.conventions import Convention
from engine.api.sentences import Sentence, sentence
from engine.checkpoints.diffusers_configs import VaeFile
from engine.checkpoints.diffusers_folder import DiffusersFolder, FolderPart, ReadIndex
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.checkpoints.sidecars import cards_of
from engine.families.architecture import Architecture
from engine.families.checkpoint import (
    Component,
    ComponentSource,
    DenoiserFacts,
    IdentifiedCheckpoint,
    Parts,
    TextFacts,
    VaeFacts,
)
from engine.families.family import Family
from engine.families.foreign_kind import ForeignKind, LonePart
from engine.families.latents import LatentFormat
from engine.families.listing import Listing
from engine.families.shared.clip.lora_signs import clip_evidence
from engine.families.shared.flow.fitting import FLOW_FACTS
from engine.families.shared.keys.layout import CanonicalWeights, KeyLayout
from engine.families.shared.kl_vae.tiny_vaes import read_tiny_vae
from engine.families.shared.stable_diffusion import evidence
from engine.families.shared.stable_diffusion.folder_parts import FolderSource, tokenizer_of_folder
from engine.families.shared.stable_diffusion.latent_spaces import LatentSpace
from engine.graphs.qwen3 import Qwen3Config
from engine.graphs.t5 import T5Config
from engine.text.whole_rows import whole_texts
from engine.weights.stored import StoredWeight


class FlowFamily(Family):
    """A `Family` whose components are told apart by one `key_layout`."""

    subfolders: ClassVar = {
        "transformer": Component.DENOISER,
        "text_encoder": Component.TEXT_ENCODER,
        "vae": Component.VAE,
    }
    # For each component, the function that reads its configuration off the shapes of its weights,
    # and the one that reads its part of a folder and checks `config.json`. Both raise EngineError.
    config_readers: ClassVar[
        Mapping[Component, Callable[[Mapping[str, StoredWeight], Path], object]]
    ]
    folder_readers: ClassVar[Mapping[Component, Callable[[FolderPart], FolderSource]]]
    # The components without which pictures can be made.
    optional: ClassVar[Sequence[Component]] = ()
    # The diffusers pipeline classes that run the checkpoints, and the beginnings of the names of
    # base models on their cards.
    pipelines: ClassVar[re.Pattern[str]]
    base_models: ClassVar[re.Pattern[str]]
    # The transformer, as evidence names it: "a transformer of ...".
    transformer_title: ClassVar[str]
    key_layout: ClassVar[KeyLayout]
    # The space of the latents, which other families may share, and then VAEs, too.
    latent_space: ClassVar[LatentSpace]
    # The components that a file with a lone network supplies, by the kind of network.
    lone_part_uses: ClassVar[Mapping[LonePart, tuple[Component, ...]]]
    # The names of tensors by which `recognise` knows the transformer: all of one of these groups,
    # one for each layout. A file with any of `foreign_signs` is of another family.
    transformer_signs: ClassVar[Sequence[Sequence[str]]]
    foreign_signs: ClassVar[Sequence[str]] = ()
    # The widths of its CLIP encoders, in order: LoRAs of these alone fit several families.
    clip_widths: ClassVar[tuple[int, ...]] = ()

    @abstractmethod
    def transformer_words(self, config: object) -> Sentence | None:
        """Describe the transformer; None for the configuration of another component."""

    def prompt_rules(self, convention: Convention) -> Convention:
        """Return a convention for text encoders that take whole texts."""
        return whole_texts(convention)

    def variant_of_pipeline(self, pipeline: str) -> str | None:
        """Return the variant of folders with the diffusers pipeline class `pipeline`, if known."""
        return None

    def runs_pipeline(self, pipeline: str) -> bool:
        """Tell whether the diffusers pipeline class `pipeline` runs the family's checkpoints."""
        return self.pipelines.fullmatch(pipeline) is not None

    def matches_base_model(self, base_model: str) -> bool:
        """Tell whether `base_model`, the base model on a checkpoint's card, names this family."""
        return self.base_models.match(base_model) is not None

    def lora_evidence(self, listing: str) -> str | None:
        """Return the evidence that a LoRA of text encoders alone is for this family, or None."""
        return clip_evidence(listing, self.clip_widths)

    def recognise(self, listing: Listing) -> str | None:
        """Describe the transformer of a file of this family; None for all other files."""
        return self.transformer_title if self._has_signs(listing) else None

    def _has_signs(self, listing: Listing) -> bool:
        text = listing.text
        if any(sign in text for sign in self.foreign_signs):
            return False
        return any(all(sign in text for sign in signs) for signs in self.transformer_signs)

    def rule_out(self, listing: Listing) -> Sentence | None:
        """Return the reason a file cannot be of this family; None where it may be."""
        if self.recognise(listing) is not None:
            return None
        return sentence("it has no transformer of {family}", family=self.title)

    def lone_parts(self, listing: Listing, kind: ForeignKind | None) -> tuple[Component, ...]:
        """List the components that a file with a lone VAE or text encoder could supply."""
        return self.lone_part_uses.get(kind.part, ()) if kind and kind.part else ()

    def read_lone_part(self, component: Component, path: Path, read: ReadIndex) -> Parts | None:
        """Read a tiny autoencoder as a VAE; return None for all other files."""
        return read_tiny_vae(path, read, self.latent_space) if component is Component.VAE else None

    def takes_from(self, giver: Family, component: Component) -> bool:
        """Tell whether a checkpoint of another family may supply a component: a VAE."""
        shares = isinstance(giver, FlowFamily) and giver.latent_space is self.latent_space
        return giver is self or (shares and component is Component.VAE)

    def suits_file_name(self, component: Component, name: str) -> bool:
        """Tell whether the name of a file with a lone component sounds like this family's."""
        return "sd3" not in name.casefold() if component is Component.VAE else True

    def with_part(self, parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
        """Return `parts` with a component of `other` and the facts of `other` about it."""
        whole = Family.with_part(self, parts, component, other, path)
        match component:
            case Component.DENOISER:
                return msgspec.structs.replace(whole, denoiser=other.denoiser)
            case Component.VAE:
                return msgspec.structs.replace(whole, vae=other.vae)
            case Component.TEXT_ENCODER:
                return msgspec.structs.replace(whole, text=other.text)
            case _:
                return whole

    def components_of(self, index: TensorIndex) -> tuple[Component, ...]:
        """List the components in a single file, by its keys."""
        return tuple(self.key_layout.sort(index.tensors, index.path).components)

    def read_file(self, index: TensorIndex, wanted: frozenset[Component]) -> Parts:
        """Read the wanted components of a file, in any of its layouts."""
        path = index.path

        def config_of(component: Component, named: CanonicalWeights) -> object:
            return self.config_readers[component](named.weights, path)

        keys = self.key_layout.sort(index.tensors, path, self._lone_text(wanted))
        in_order = (component for component in self.labels if component in wanted)
        sources, ignored = self.key_layout.sources(keys, in_order, config_of, path)
        cards = cards_of(index) if Component.DENOISER in sources else ()
        facts = msgspec.structs.replace(_facts(sources), cards=cards)
        return Parts(sources, index.digest, self.described(sources), ignored, facts)

    def _lone_text(self, wanted: frozenset[Component]) -> Component:
        """Return the encoder to which keys of CLIP without a prefix belong: the one that is wanted.

        The first, unless another with the same keys is wanted alone.
        """
        networks, first = self.key_layout.networks, Component.TEXT_ENCODER
        alike = [component for component in wanted if networks.get(component) is networks[first]]
        return alike[0] if len(alike) == 1 else first

    def read_folder(self, folder: DiffusersFolder) -> Parts:
        """Read every component of a diffusers folder."""
        parts = {self.subfolders[name]: part for name, part in folder.parts.items()}
        found = [
            self.folder_readers[component](parts[component])
            for component in self.labels
            if component in parts
        ]
        sources = {part.source.component: part.source for part in found}
        vae = parts[Component.VAE].config(VaeFile) if Component.VAE in parts else None
        return Parts(
            sources,
            combined_digest(*(part.index.digest for part in parts.values())),
            self.described(sources),
            sum(part.ignored for part in found),
            msgspec.structs.replace(
                _facts(sources), variant=self.variant_of_pipeline(folder.pipeline)
            ),
            VaeFacts(vae.scaling_factor, vae.shift_factor) if vae else VaeFacts(),
            TextFacts(tokenizer_of_folder(folder, "tokenizer")),
        )

    def described(self, sources: Mapping[Component, ComponentSource]) -> tuple[Sentence, ...]:
        """Return a description of each component, from its configuration."""
        found: list[Sentence] = []
        for component, source in sources.items():
            words = self.transformer_words(source.config) or _encoder_words(source.config)
            found += [words] if words else evidence.described({component: source})
        return tuple(found)

    def assembled(
        self,
        path: Path,
        parts: Parts,
        variant: str,
        latent: LatentFormat,
        make_architecture: Callable[[IdentifiedCheckpoint], Architecture],
    ) -> IdentifiedCheckpoint:
        """Return the checkpoint of parts that fit together."""
        needed = (component for component in self.labels if component not in self.optional)
        return IdentifiedCheckpoint(
            path=path,
            family=self.name,
            variant=variant,
            latent=latent,
            default_size=1024,
            missing=tuple(component for component in needed if component not in parts.sources),
            evidence=(*parts.evidence, *self._conclusion(parts)),
            parts=parts,
            make_architecture=make_architecture,
        )

    def _conclusion(self, parts: Parts) -> tuple[Sentence, ...]:
        """Return the family and the prediction, for parts with a transformer."""
        if Component.DENOISER not in parts.sources:
            return ()
        return (sentence("{family}, {why}", family=self.title, why=parts.denoiser.words),)


def _facts(sources: Mapping[Component, ComponentSource]) -> DenoiserFacts:
    return FLOW_FACTS if Component.DENOISER in sources else DenoiserFacts()


def _encoder_words(config: object) -> Sentence | None:
    """Describe a text encoder that only such families have; None for other components."""
    if isinstance(config, T5Config):
        return sentence(
            "T5 text encoder, {layers} layers {width} wide",
            layers=config.layers,
            width=config.width,
        )
    if isinstance(config, Qwen3Config):
        return sentence(
            "Qwen3 text encoder, {layers} layers {width} wide",
            layers=config.layers,
            width=config.width,
        )
    return None
