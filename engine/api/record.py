"""What was done: the resolved request, without gaps, and how it went. Saved in each picture."""

import msgspec

from engine.api.request import ComponentFiles, InputImage
from engine.api.values import (
    ConventionName,
    ErrorInfo,
    Phase,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
)

RECORD_VERSION = 1


class ResolvedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request with every gap filled: enough to make the same pixels again."""

    prompt: str
    negative_prompt: str
    checkpoint: str
    components: ComponentFiles
    width: int
    height: int
    steps: int
    guidance: float
    sampler: SamplerName
    schedule: ScheduleName
    seed: int
    clip_skip: int
    inputs: tuple[InputImage, ...]
    strength: float
    convention: ConventionName
    backend: str
    precision: PrecisionName


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """A phase that failed a check and was done again more safely."""

    phase: Phase
    reason: str
    from_precision: PrecisionName
    to_precision: PrecisionName


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Wall-clock seconds of each phase; `total_s` is from the start of the job to its end."""

    load_s: float
    compile_s: float
    encode_s: float
    denoise_s: float
    decode_s: float
    save_s: float
    total_s: float


class GenerationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is saved in a picture beside its pixels."""

    safelight: str
    request: ResolvedRequest
    family: str
    prediction: PredictionType
    device: str
    # SHA-256 of the checkpoint's header and size: identifies the file without reading gigabytes.
    checkpoint_digest: str
    retries: tuple[Retry, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()
    version: int = RECORD_VERSION
