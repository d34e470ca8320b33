"""What a family says of a checkpoint: its parts, their sizes, where each weight is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from engine.api.request import NO_OVERRIDE, CheckpointOverride
from engine.api.values import ConventionName, PredictionType
from engine.checkpoints.index import FileState
from engine.families.architecture import Architecture
from engine.families.hints import NO_HINTS, CheckpointHints
from engine.families.latents import LatentFormat
from engine.families.shared.stable_diffusion.edm import EdmLevels, LatentStatistics
from engine.families.sidecars import Card
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
class TextUse:
    """How a family's denoiser wants its texts."""

    # Which layer from the end is read where nobody says otherwise; 1 is the last.
    clip_skip: int = 1
    # Whether the final norm follows a layer before the last; None: as the convention has it.
    final_norm: bool | None = None
    # Encoders whose texts are filled up with token 0 behind their end.
    zero_padded: frozenset[Component] = frozenset()
    # By whose conventions an empty negative prompt is all zeros, where they have it so.
    zeroes_empty: frozenset[ConventionName] = frozenset()


@dataclass(frozen=True, slots=True)
class Parts:
    """The components that one file or folder holds, and what it says about each."""

    sources: Mapping[Component, ComponentSource]
    digest: str
    evidence: tuple[str, ...]
    ignored_keys: int = 0
    # Of the denoiser: what it predicts, why that is believed, and whether its training levels reach
    # noise alone.
    prediction: PredictionType = PredictionType.EPSILON
    reason: str = ""
    zero_terminal_snr: bool = False
    # Of the denoiser, in latent cells; None for the family's.
    sample_size: int | None = None
    # Of the denoiser, where it was trained by levels: which, None for the usual ones of its kind;
    # and how its latents are normalised.
    levels: EdmLevels | None = None
    statistics: LatentStatistics | None = None
    # Of the VAE; None for the family's.
    latent_scale: float | None = None
    # Why the VAE is fit for float16, where its family's is not; empty where nothing says so.
    vae_fits_f16: str = ""
    latent_shift: float | None = None
    # Of the text encoder; None for CLIP's.
    tokenizer: Path | None = None
    # The denoiser's file, where nothing states what it predicts.
    unstated: FileState | None = None
    # What is said of the denoiser's file.
    cards: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class IdentifiedCheckpoint:
    """A checkpoint whose family, parts and gaps are known; no weight has been read."""

    path: Path
    family: str
    variant: str
    prediction: PredictionType
    latent: LatentFormat
    default_size: int
    components: Mapping[Component, ComponentSource]
    missing: tuple[Component, ...]
    # Why this family and variant, in words for a person.
    evidence: tuple[str, ...]
    # Keys that belong to no component, such as EMA copies and optimiser state.
    ignored_keys: int
    # A folder with vocab.json and merges.txt where the checkpoint brings its own; None for CLIP's.
    tokenizer: Path | None
    # Tells its weights from all others'; see `engine.checkpoints.index.sampled_digest`.
    digest: str
    # What it was put together from.
    parts: Parts
    # Its family's way to make the architecture of a checkpoint.
    make_architecture: Callable[["IdentifiedCheckpoint"], Architecture]
    text: TextUse = TextUse()
    hints: CheckpointHints = NO_HINTS
    zero_terminal_snr: bool = False
    # Of a denoiser that was trained by levels; None for timesteps.
    levels: EdmLevels | None = None
    # The VAE's activations leave float16's range.
    vae_overflows_f16: bool = False
    # The one file it is read from, whose SHA-256 people know it by; None for folders.
    file: FileState | None = None
    # What a person said it is.
    override: CheckpointOverride = NO_OVERRIDE
    # In whose hands its pictures are finished; and whether this is such a one.
    refiner: "IdentifiedCheckpoint | None" = None
    refines: bool = False
    _made: list[Architecture] = field(
        default_factory=list[Architecture], init=False, repr=False, compare=False
    )

    @property
    def architecture(self) -> Architecture:
        """How it is run: the same object each time. Parts that are missing must not be asked."""
        if not self._made:
            self._made.append(self.make_architecture(self))
        return self._made[0]
