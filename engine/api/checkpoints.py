"""The engine's description of a checkpoint."""

import msgspec

from engine.api.features import Features
from engine.api.request import CheckpointOverride
from engine.api.sentences import Text
from engine.api.values import SamplerName, ScheduleName


class FamilyName(msgspec.Struct, frozen=True, kw_only=True):
    """A family of checkpoints: its name in requests and records, its title, a line about it.

    `variants` are those whose files look alike, so that the user may say which one a file is: the
    name of each and its title.
    """

    name: str
    title: str
    about: Text = ""
    variants: tuple[tuple[str, str], ...] = ()


class ComponentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a checkpoint; `precisions` are the number formats of its stored weights."""

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
    # The name of the base model, exactly as the metadata gives it.
    base_model: str = ""
    trained_words: tuple[str, ...] = ()
    notes: str = ""


class FittingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that holds a missing part.

    `family` is the file's family if the file is a checkpoint, empty if it holds the part alone.
    """

    path: str
    family: str = ""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A part that a checkpoint lacks, and the user's files that fit, the best first.

    `component` is a field name of `ComponentFiles`; `label` is the part's name in a sentence.
    """

    component: str
    label: Text
    fits: tuple[FittingFile, ...] = ()


class CheckpointInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint's kind, the evidence for it, and the components that are missing."""

    path: str
    family: str
    variant: str
    prediction: str
    # The side in pixels of the pictures that the checkpoint was trained on.
    default_size: int
    components: tuple[ComponentInfo, ...]
    missing: tuple[str, ...]
    evidence: tuple[Text, ...]
    ignored_keys: int
    digest: str
    # SHA-256 of the whole file; None for folders, and until it is computed.
    sha256: str | None = None
    # The folder of the checkpoint's own tokenizer; None if it uses CLIP's.
    tokenizer: str | None = None
    # The missing parts with the files that fit, if `Configure.models` names a folder to search.
    gaps: tuple[Gap, ...] = ()
    # One entry for each sampler; the first is the default sampler's.
    suggested: tuple[SuggestedSettings, ...] = ()
    card: CheckpointCard = CheckpointCard()
    # The facts that the user declared; every other field takes them into account.
    override: CheckpointOverride = CheckpointOverride()
    # False while `prediction` is a guess: until the denoiser has run once.
    prediction_is_stated: bool = True
    features: Features = Features()
