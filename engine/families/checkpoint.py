"""Types that describe a checkpoint: its components, their weights, and facts about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.api.request import NO_OVERRIDE, CheckpointOverride
from engine.api.sentences import NO_WORDS, Sentence, joined, sentence
from engine.api.values import PredictionType
from engine.checkpoints.index import FileState
from engine.checkpoints.sidecars import Card
from engine.families.architecture import Architecture
from engine.families.hints import NO_HINTS, CheckpointHints
from engine.families.latents import LatentFormat, LatentStatistics
from engine.families.patches import ComponentPatches
from engine.folders import repository_of
from engine.graphs.unet_changes import NO_CHANGES, NetworkChanges
from engine.sampling.schedules.edm import EdmLevels
from engine.weights.rounding import Role
from engine.weights.sources import Weight
from engine.weights.weight_set import WeightSet


class Component(StrEnum):
    """The networks of a checkpoint."""

    TEXT_ENCODER = "text_encoder"
    TEXT_ENCODER_2 = "text_encoder_2"
    TEXT_ENCODER_3 = "text_encoder_3"
    DENOISER = "denoiser"
    VAE = "vae"


# The text encoders, in the order in which they run and in which tools number them.
TEXT_ENCODERS = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.TEXT_ENCODER_3)


def name_of(path: Path) -> str:
    """Return the name of a checkpoint's file without its suffix, or of its folder.

    Of a folder in Hugging Face's cache that is the repository's.
    """
    if path.is_file():
        return path.stem
    return repository_of(path) or path.name  # a dot in a folder's name begins no suffix


class ComponentSource(msgspec.Struct, frozen=True):
    """One component of a checkpoint: its configuration, and the place of each weight.

    `config` is of a type that the family chooses. `weights` maps canonical names to weights in the
    shapes that the network's graph expects.
    """

    component: Component
    config: object
    weights: Mapping[str, Weight]


class DenoiserFacts(msgspec.Struct, frozen=True):
    """The facts about a denoiser that its file, folder or cards state."""

    prediction: PredictionType = PredictionType.EPSILON
    # The evidence for the prediction type; a sentence puts the text after "because".
    reason: Sentence = NO_WORDS
    # True if the training levels reach pure noise (Lin et al. 2023).
    zero_terminal_snr: bool = False
    # The side of the latents in training, in cells; None for the family's usual side.
    sample_size: int | None = None
    # The noise levels of training; None for the usual levels of the prediction type.
    levels: EdmLevels | None = None
    # The statistics that normalise the latents; None where the latents are only scaled.
    statistics: LatentStatistics | None = None
    # The denoiser's file, if nothing states the prediction type; a probe run may then find it.
    unstated: FileState | None = None
    cards: tuple[Card, ...] = ()
    # The variant that the folder's pipeline or the user states; None where neither does.
    variant: str | None = None

    @property
    def words(self) -> Sentence:
        """The prediction type and the reason for it."""
        return sentence(
            "{prediction} because {reason}", prediction=self.prediction.label, reason=self.reason
        )


class VaeFacts(msgspec.Struct, frozen=True):
    """The facts that a VAE's folder or file name states; None for the family's usual values."""

    scale: float | None = None
    shift: float | None = None
    # The evidence that this VAE can run in float16 although the family's usual one cannot, or None.
    fits_f16: Sentence | None = None


class TextFacts(msgspec.Struct, frozen=True):
    """The facts about text encoders that their folder states."""

    # The folder of the checkpoint's own tokenizer; None for the standard one.
    tokenizer: Path | None = None


class Parts(msgspec.Struct, frozen=True):
    """The components in one file or folder, and the facts that the file or folder states."""

    sources: Mapping[Component, ComponentSource]
    digest: str
    evidence: tuple[Sentence, ...]
    ignored_keys: int = 0
    denoiser: DenoiserFacts = DenoiserFacts()
    vae: VaeFacts = VaeFacts()
    text: TextFacts = TextFacts()

    def words_of(self, label: Sentence, path: Path) -> Sentence:
        """Return the evidence for the component with this label, which was taken from `path`."""
        return sentence(
            "{part} from {file}: {evidence}",
            part=label,
            file=path.name,
            evidence=joined(self.evidence),
        )


@dataclass(frozen=True, slots=True)
class IdentifiedCheckpoint:
    """A checkpoint whose family, parts and gaps are known; no weight has been read."""

    path: Path
    family: str
    variant: str
    latent: LatentFormat
    # The default side of a picture, in pixels.
    default_size: int
    missing: tuple[Component, ...]
    # The reasons for this family and variant, as text for the user.
    evidence: tuple[Sentence, ...]
    # The components and their facts, from which the checkpoint was assembled.
    parts: Parts
    # A function that makes the architecture of a checkpoint of this family.
    make_architecture: Callable[["IdentifiedCheckpoint"], Architecture]
    hints: CheckpointHints = NO_HINTS
    # The checkpoint's single file, whose SHA-256 identifies the checkpoint; None for a folder.
    file: FileState | None = None
    # The user's own statements about the checkpoint.
    override: CheckpointOverride = NO_OVERRIDE
    # The beginning of its networks' names, by which those of several checkpoints are told apart.
    network_prefix: str = ""
    # The changes that LoRAs make to the components that they touch.
    patches: Mapping[Component, ComponentPatches] = field(
        default_factory=dict[Component, ComponentPatches]
    )
    # The changes to the graphs of its networks.
    changes: NetworkChanges = NO_CHANGES
    _made: list[Architecture] = field(
        default_factory=list[Architecture], init=False, repr=False, compare=False
    )

    @property
    def components(self) -> Mapping[Component, ComponentSource]:
        """The components that the checkpoint has."""
        return self.parts.sources

    def weights_of(self, component: Component) -> WeightSet:
        """Return the weights of a component that exists, as its file has them."""
        role = Role.TEXT_ENCODER if component in TEXT_ENCODERS else Role.OTHER
        role = Role.DENOISER if component is Component.DENOISER else role
        return WeightSet(self.digest, self.components[component].weights, role=role)

    @property
    def digest(self) -> str:
        """The digest that identifies the weights; see `sampled_digest`."""
        return self.parts.digest

    @property
    def ignored_keys(self) -> int:
        """The number of keys outside all components, such as EMA weights and optimiser state."""
        return self.parts.ignored_keys

    @property
    def prediction(self) -> PredictionType:
        """The denoiser's prediction type."""
        return self.parts.denoiser.prediction

    @property
    def zero_terminal_snr(self) -> bool:
        """Tell whether the denoiser's training levels reach pure noise."""
        return self.parts.denoiser.zero_terminal_snr

    @property
    def tokenizer(self) -> Path | None:
        """The folder of the checkpoint's own tokenizer; None for the standard one."""
        return self.parts.text.tokenizer

    @property
    def architecture(self) -> Architecture:
        """The parts that run the checkpoint, the same object each time.

        Calling a part whose component is missing fails.
        """
        if not self._made:
            self._made.append(self.make_architecture(self))
        return self._made[0]

    def with_patches(self, patches: Mapping[Component, ComponentPatches]) -> "IdentifiedCheckpoint":
        """Return the checkpoint with these changes to its components; itself if there are none.

        Its architecture makes networks of its own. Those of components without changes have the
        same identity as before, so that loaded ones are used again.
        """
        acting = {component: changes for component, changes in patches.items() if changes.acts}
        return replace(self, patches=acting) if acting or self.patches else self

    def with_changes(self, changes: NetworkChanges) -> "IdentifiedCheckpoint":
        """Return the checkpoint with its networks changed so; itself if they are so already.

        Networks that are not changed have the same identity as before.
        """
        return self if changes == self.changes else replace(self, changes=changes)
