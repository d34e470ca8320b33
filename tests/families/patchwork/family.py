"""The recognition of Patchwork's files, and the architecture of its checkpoints."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from engine.api.features import Features, GuidanceKind, TextLength
from engine.api.prompts import PromptQuestion
from engine.api.sentences import Sentence, as_it_is
from engine.api.values import PredictionType, SamplerName, ScheduleName
from engine.checkpoints.diffusers_folder import DiffusersFolder, ReadIndex
from engine.checkpoints.index import TensorIndex
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.architecture import Architecture
from engine.families.checkpoint import (
    Component,
    ComponentSource,
    DenoiserFacts,
    IdentifiedCheckpoint,
    Parts,
)
from engine.families.family import Family
from engine.families.hints import CheckpointHints, LearntHints
from engine.families.latents import LatentFormat
from engine.families.listing import Listing
from engine.families.shared.keys.layout import KeyLayout, NetworkKeys
from engine.families.shared.keys.shapes import Shapes
from engine.families.shared.kl_vae.autoencoder import KlAutoencoder
from engine.families.shared.kl_vae.keys import KL_VAE_KEYS
from engine.families.shared.kl_vae.sizes import vae_config
from engine.sampling.noise_model import FLOW_SAMPLERS, FLOW_SCHEDULES, RectifiedFlow, SizeShift
from engine.text.counting import TokenCount
from engine.weights.stored import StoredWeight
from tests.families.patchwork.denoiser import PatchDenoiser
from tests.families.patchwork.networks import DenoiserConfig, TextConfig
from tests.families.patchwork.text import ByteText, count_bytes

SIGN = "patchwork.net.patches.weight"
LATENT_CHANNELS = 16
LABELS = {
    Component.TEXT_ENCODER: as_it_is("byte encoder"),
    Component.DENOISER: as_it_is("denoiser (transformer)"),
    Component.VAE: as_it_is("VAE"),
}
_AFFINE = r"(weight|bias)"
KEYS = KeyLayout(
    labels=LABELS,
    networks={
        Component.TEXT_ENCODER: NetworkKeys(
            re.compile(rf"embedding\.weight|positions\.weight|(norm|layers\.\d+\.\w+)\.{_AFFINE}"),
            leftovers=re.compile(r"(?!)"),
            renaming=lambda names, path: str,
        ),
        Component.DENOISER: NetworkKeys(
            re.compile(rf"(\w+|layers\.\d+\.\w+)\.{_AFFINE}"),
            leftovers=re.compile(r"ema\."),
            renaming=lambda names, path: str,
        ),
        Component.VAE: KL_VAE_KEYS,
    },
    prefixes={
        "patchwork.text.": Component.TEXT_ENCODER,
        "patchwork.net.": Component.DENOISER,
        "patchwork.vae.": Component.VAE,
    },
)


class NoPreviews:
    """A `PreviewModel` without a tiny autoencoder."""

    def tiny_decoder(self, files: Iterable[Path], read: ReadIndex, most_cells: int) -> None:
        """There is none."""


class Patchwork(Family):
    """A transformer over patches."""

    name = "patchwork"
    title = "Patchwork"
    labels: ClassVar[Mapping[Component, Sentence]] = LABELS
    subfolders: ClassVar[Mapping[str, Component]] = {}

    def recognise(self, listing: Listing) -> str | None:
        """Tell it by the convolution that cuts patches."""
        return "a transformer over patches" if SIGN in listing.tensors else None

    def rule_out(self, listing: Listing) -> Sentence | None:
        """Without that convolution a file is none."""
        return None if SIGN in listing.tensors else as_it_is("it has no patches")

    def runs_pipeline(self, pipeline: str) -> bool:
        """There are no folders of it."""
        return False

    def components_of(self, index: TensorIndex) -> tuple[Component, ...]:
        """List the components in a file."""
        return tuple(KEYS.sort(index.tensors, index.path).components)

    def read_file(self, index: TensorIndex, wanted: frozenset[Component]) -> Parts:
        """Read the wanted components of a file."""
        keys = KEYS.sort(index.tensors, index.path)
        sources: dict[Component, ComponentSource] = {}
        for component in LABELS:
            if component in wanted and component in keys.components:
                tensors = keys.components[component]
                weights = KEYS.canonical(component, tensors, index.path).weights
                config = _config(component, weights, index.path)
                sources[component] = ComponentSource(component, config, weights)
        evidence = tuple(as_it_is(f"{LABELS[source]} of Patchwork") for source in sources)
        denoiser = DenoiserFacts(
            prediction=PredictionType.FLOW, reason=as_it_is("all of its kind do")
        )
        return Parts(sources, index.digest, evidence, keys.ignored, denoiser=denoiser)

    def read_folder(self, folder: DiffusersFolder) -> Parts:
        """There are no folders of it."""
        raise NotImplementedError

    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts."""
        return IdentifiedCheckpoint(
            path=path,
            family=self.name,
            variant="base",
            latent=LatentFormat(LATENT_CHANNELS, 8, 0.36, 0.12),
            default_size=128,
            missing=tuple(label for label in LABELS if label not in parts.sources),
            evidence=parts.evidence,
            parts=parts,
            make_architecture=architecture,
        )

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Defaults that suit flow."""
        hints = CheckpointHints(
            sampler=SamplerName.EULER, schedule=ScheduleName.SIMPLE, steps=4, guidance=3.5
        )
        return LearntHints(hints, as_it_is("Patchwork is made in few steps"))

    def count_tokens(
        self, text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
    ) -> TokenCount:
        """Count bytes; the checkpoint's length is the room there is."""
        return count_bytes(text, question.lengths[0].tokens)


FAMILY = Patchwork()


def architecture(checkpoint: IdentifiedCheckpoint) -> Architecture:
    """The architecture of a checkpoint of Patchwork."""
    return Architecture(
        features=Features(
            negative_prompt=False,
            guidance=(GuidanceKind.EMBEDDED,),
            size_multiple=16,
            texts=(TextLength(label=str(LABELS[Component.TEXT_ENCODER]), tokens=40),),
            samplers=FLOW_SAMPLERS,
            schedules=FLOW_SCHEDULES,
        ),
        text=ByteText(checkpoint),
        denoiser=PatchDenoiser(checkpoint),
        noise=RectifiedFlow(SizeShift()),
        autoencoder=KlAutoencoder(checkpoint),
        previews=NoPreviews(),
    )


def _config(component: Component, weights: Mapping[str, StoredWeight], path: Path) -> object:
    """Sizes as the shapes of the weights have them."""
    shapes = Shapes(weights, path)
    match component:
        case Component.TEXT_ENCODER:
            vocabulary, width = shapes.of("embedding.weight", 2)
            tokens = shapes.of("positions.weight", 2)[0]
            return TextConfig(vocabulary, width, tokens, shapes.count("layers"))
        case Component.DENOISER:
            width, channels = shapes.of("patches.weight", 4)[:2]
            context = shapes.of("context.weight", 2)[1]
            return DenoiserConfig(channels, width, context, shapes.count("layers"))
        case _:
            return vae_config(weights, path)
