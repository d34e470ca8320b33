"""What the engine says a checkpoint is."""

import msgspec

from engine.api.values import SamplerName, ScheduleName


class ComponentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a checkpoint; `precisions` are the types its weights are stored in."""

    name: str
    parameters: int
    bytes: int
    precisions: tuple[str, ...]


class SuggestedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a request that leaves them open gets with this sampler on this checkpoint."""

    sampler: SamplerName
    schedule: ScheduleName
    steps: int
    guidance: float


class CheckpointInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a checkpoint is, why, and what it lacks."""

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
    # One for each sampler; first the one that is taken where none is chosen.
    suggested: tuple[SuggestedSettings, ...] = ()
