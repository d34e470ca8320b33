"""Checkpoints as families describe them: components, their weights, and facts about them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from engine.api.request import NO_OVERRIDE, CheckpointOverride
from engine.api.values import PredictionType
from engine.checkpoints.index import FileState
from engine.families.architecture import Architecture
from engine.families.hints import NO_HINTS, CheckpointHints
from engine.families.latents import LatentFormat, LatentStatistics
from engine.families.sidecars import Card
from engine.sampling.schedules.edm import EdmLevels
from engine.weights.sources import StoredWeight


class Component(StrEnum):
    """The parts a checkpoint is made of."""

    TEXT_ENCODER = "text_encoder"
    TEXT_ENCODER_2 = "text_encoder_2"
    DENOISER = "denoiser"
    VAE = "vae"


@dataclass(frozen=True, slots=True)
class ComponentSource:
    """One component of a checkpoint: its configuration, and where each of its weights is.

    `config` is of a type that the family chooses. `weights` is keyed by the canonical names of the
    network, and shapes are those that its graph expects.
    """

    component: Component
    config: object
    weights: Mapping[str, StoredWeight]


@dataclass(frozen=True, slots=True)
class DenoiserFacts:
    """The facts about a denoiser that its file, folder or cards state."""

    prediction: PredictionType = PredictionType.EPSILON
    # The evidence for the prediction, which follows "because" in a sentence.
    reason: str = ""
    # Whether its training levels reach pure noise (Lin et al. 2023).
    zero_terminal_snr: bool = False
    # The side of the latents it was trained for, in cells; None for the family's.
    sample_size: int | None = None
    # The levels it was trained for; None for the usual ones of its prediction.
    levels: EdmLevels | None = None
    # The statistics by which its latents are normalised; None where they are only scaled.
    statistics: LatentStatistics | None = None
    # Its file, where nothing states what it predicts; one step of it may show that.
    unstated: FileState | None = None
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class VaeFacts:
    """The facts about a VAE that its folder or the name of its file states; None: the family's."""

    scale: float | None = None
    shift: float | None = None
    # The evidence that it is fit for float16 where the family's is not; empty for none.
    fits_f16: str = ""


@dataclass(frozen=True, slots=True)
class TextFacts:
    """The facts about text encoders that their folder states."""

    # A folder with a tokenizer of their own; None for the one of their kind.
    tokenizer: Path | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The components that one file or folder holds, and the facts it states about each."""

    sources: Mapping[Component, ComponentSource]
    digest: str
    evidence: tuple[str, ...]
    ignored_keys: int = 0
    denoiser: DenoiserFacts = DenoiserFacts()
    vae: VaeFacts = VaeFacts()
    text: TextFacts = TextFacts()


@dataclass(frozen=True, slots=True)
class IdentifiedCheckpoint:
    """A checkpoint whose family, parts and gaps are known; no weight has been read."""

    path: Path
    family: str
    variant: str
    latent: LatentFormat
    # Pixels on a side of its pictures where nobody says otherwise.
    default_size: int
    missing: tuple[Component, ...]
    # The reasons for this family and variant, in words for a person.
    evidence: tuple[str, ...]
    # The components, and the facts about each, that it was assembled from.
    parts: Parts
    # Makes the architecture of a checkpoint of its family.
    make_architecture: Callable[["IdentifiedCheckpoint"], Architecture]
    hints: CheckpointHints = NO_HINTS
    # The one file it is read from, whose SHA-256 people know it by; None for folders.
    file: FileState | None = None
    # A person's words for what it is.
    override: CheckpointOverride = NO_OVERRIDE
    # The checkpoint that finishes its pictures, and whether this is such a one.
    refiner: "IdentifiedCheckpoint | None" = None
    refines: bool = False
    _made: list[Architecture] = field(
        default_factory=list[Architecture], init=False, repr=False, compare=False
    )

    @property
    def components(self) -> Mapping[Component, ComponentSource]:
        """The components that are there."""
        return self.parts.sources

    @property
    def digest(self) -> str:
        """The digest that tells its weights from all others'; see `sampled_digest`."""
        return self.parts.digest

    @property
    def ignored_keys(self) -> int:
        """The number of keys of no component, such as averages of weights and optimiser state."""
        return self.parts.ignored_keys

    @property
    def prediction(self) -> PredictionType:
        """The denoiser's prediction."""
        return self.parts.denoiser.prediction

    @property
    def zero_terminal_snr(self) -> bool:
        """Tell whether the denoiser's training levels reach pure noise."""
        return self.parts.denoiser.zero_terminal_snr

    @property
    def tokenizer(self) -> Path | None:
        """The folder of a tokenizer of its own; None for the one of its text encoders' kind."""
        return self.parts.text.tokenizer

    @property
    def architecture(self) -> Architecture:
        """The parts that run it, the same object each time; those of missing components fail."""
        if not self._made:
            self._made.append(self.make_architecture(self))
        return self._made[0]
