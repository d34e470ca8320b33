"""A family that exists only under tests: a transformer, with a text encoder of its own.

Its latents have 16 channels. Nothing outside this folder knows it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from backends.base import FileSlice
from engine.api.sentences import Sentence, as_it_is
from engine.checkpoints.diffusers_folder import DiffusersFolder, FolderPart
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.families.architecture import Architecture
from engine.families.checkpoint import (
    Component,
    ComponentSource,
    IdentifiedCheckpoint,
    Parts,
)
from engine.families.family import Family
from engine.families.foreign_kind import ForeignKind
from engine.families.latents import LatentFormat
from engine.families.listing import Listing
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys

MARK = "block0.mixing.to_qkv.weight"
CHANNELS = 16


@dataclass(frozen=True, slots=True)
class PebbleConfig:
    """The numbered blocks of a network."""

    blocks: int


def _network(words: str, prefix: str) -> NetworkKeys:
    """Keys of blocks, each of a few named layers; files have `prefix` before the number."""
    return NetworkKeys(
        grammar=re.compile(rf"(blocks\.\d+\.({words})|in|out|decoder\.conv_in)\.(weight|bias)"),
        leftovers=re.compile(r"ema\."),
        renaming=lambda names, path: lambda name: re.sub(rf"^{prefix}", "blocks.", name),
    )


KEYS = KeyLayout(
    labels={
        Component.TEXT_ENCODER: as_it_is("reader of the text"),
        Component.DENOISER: as_it_is("denoiser (transformer)"),
        Component.VAE: as_it_is("VAE"),
    },
    networks={
        Component.TEXT_ENCODER: _network(r"mixing|feed", "layer"),
        Component.DENOISER: _network(r"mixing\.to_qkv|mixing\.to_out|feed", "block"),
        Component.VAE: _network("conv", "stage"),
    },
    prefixes={
        "pebble_text.": Component.TEXT_ENCODER,
        "pebble.": Component.DENOISER,
        "pebble_vae.": Component.VAE,
    },
)


class PebbleFamily(Family):
    """The recognition of the family's files."""

    name = "pebble"
    title = "Pebble"
    labels: ClassVar[Mapping[Component, Sentence]] = KEYS.labels
    subfolders: ClassVar[Mapping[str, Component]] = {
        "transformer": Component.DENOISER,
        "text_encoder": Component.TEXT_ENCODER,
        "vae": Component.VAE,
    }

    def recognise(self, listing: Listing) -> str | None:
        """A transformer with fused projections under a name of its own."""
        found = any(name.endswith(MARK) for name in listing.tensors)
        return "a transformer of mixing blocks" if found else None

    def rule_out(self, listing: Listing) -> Sentence | None:
        """All that is not recognised."""
        return None if self.recognise(listing) else as_it_is("it has no mixing blocks")

    def runs_pipeline(self, pipeline: str) -> bool:
        """The family's own pipeline."""
        return pipeline == "PebblePipeline"

    def components_of(self, index: TensorIndex) -> tuple[Component, ...]:
        """By prefixes."""
        return tuple(KEYS.sort(index.tensors, index.path).components)

    def read_file(self, index: TensorIndex, wanted: frozenset[Component]) -> Parts:
        """Components by prefixes."""
        found = KEYS.sort(index.tensors, index.path)
        sources = {
            component: _source(component, index, tensors)
            for component, tensors in found.components.items()
            if component in wanted
        }
        return _parts(sources, index.digest)

    def read_folder(self, folder: DiffusersFolder) -> Parts:
        """Components by subfolders."""
        parts: dict[Component, FolderPart] = {
            self.subfolders[name]: part for name, part in folder.parts.items()
        }
        sources = {
            component: _source(component, part.index, part.index.tensors)
            for component, part in parts.items()
        }
        return _parts(sources, combined_digest(*(part.index.digest for part in parts.values())))

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Whatever its parts are, they fit."""
        return IdentifiedCheckpoint(
            path=path,
            family=self.name,
            variant="base",
            latent=LatentFormat(CHANNELS, 8, 1.0),
            default_size=64,
            missing=tuple(label for label in self.labels if label not in parts.sources),
            evidence=(*parts.evidence, as_it_is(self.title)),
            parts=parts,
            make_architecture=_not_run,
        )

    def lone_parts(self, listing: Listing, kind: ForeignKind | None) -> tuple[Component, ...]:
        """Readers of text, which no rule for other files knows."""
        is_reader = any(name.startswith("pebble_text.") for name in listing.tensors)
        return (Component.TEXT_ENCODER,) if is_reader else ()


def _not_run(checkpoint: IdentifiedCheckpoint) -> Architecture:
    raise TypeError(f"{checkpoint.path.name} is only found, not run")


def _source(
    component: Component, index: TensorIndex, tensors: Mapping[str, FileSlice]
) -> ComponentSource:
    weights = KEYS.canonical(component, tensors, index.path).weights
    numbers = {name.split(".")[1] for name in weights if name.startswith("blocks.")}
    return ComponentSource(component, PebbleConfig(len(numbers)), weights)


def _parts(sources: Mapping[Component, ComponentSource], digest: str) -> Parts:
    evidence = tuple(
        as_it_is(f"{KEYS.labels[component]} of {source.config}")
        for component, source in sources.items()
    )
    return Parts(sources, digest, evidence)


FAMILY = PebbleFamily()
