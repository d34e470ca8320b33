"""The engine's description of a checkpoint."""

import msgspec

from engine.api.features import Features
from engine.api.request import CheckpointOverride
from engine.api.values import SamplerName, ScheduleName


class FamilyName(msgspec.Struct, frozen=True, kw_only=True):
    """A family of checkpoints: its name in requests and records, and its title for people."""

    name: str
    title: str


class ComponentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a checkpoint; `precisions` are the types its weights are stored in."""

    name: str
    parameters: int
    bytes: int
    precisions: tuple[str, ...]


class SuggestedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that fill the gaps of a request with this sampler on this checkpoint."""

    sampler: SamplerName
    schedule: ScheduleName
    steps: int
    guidance: float


class CheckpointCard(msgspec.Struct, frozen=True, kw_only=True):
    """The title and the notes in a checkpoint's metadata or in a file beside it; empty if none."""

    title: str = ""
    # The model that it is said to be made from, in the words of whoever says so.
    base_model: str = ""
    trained_words: tuple[str, ...] = ()
    notes: str = ""


class FittingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that holds a missing part; `family`: of a checkpoint, empty for a part alone."""

    path: str
    family: str = ""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A part that a checkpoint lacks, and which of the person's files fit, the best first.

    `component` as in `ComponentFiles`; `label` names it in a sentence.
    """

    component: str
    label: str
    fits: tuple[FittingFile, ...] = ()


class CheckpointInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint's kind, the evidence for it, and the components that are missing."""

    path: str
    family: str
    variant: str
    prediction: str
    # Pixels on a side that it was trained for.
    default_size: int
    components: tuple[ComponentInfo, ...]
    missing: tuple[str, ...]
    evidence: tuple[str, ...]
    ignored_keys: int
    digest: str
    # SHA-256 of the whole file; None for folders, and where it is not known yet.
    sha256: str | None = None
    # The folder of its own tokenizer, None where it uses CLIP's.
    tokenizer: str | None = None
    # What is missing, with the files that fit, where the engine was told where to look.
    gaps: tuple[Gap, ...] = ()
    # One for each sampler; first the one that is taken where none is chosen.
    suggested: tuple[SuggestedSettings, ...] = ()
    card: CheckpointCard = CheckpointCard()
    # What a person said it is; all else is as it is with that.
    override: CheckpointOverride = CheckpointOverride()
    # False where `prediction` is a guess, until the denoiser has run once.
    prediction_is_stated: bool = True
    features: Features = Features()
