"""What was done: the resolved request, without gaps, and how it went. Saved in each picture."""

import msgspec

from engine.api.conventions import Convention
from engine.api.masks import MaskOptions
from engine.api.request import (
    CheckpointOverride,
    ComponentFiles,
    GuidanceOptions,
    InputImage,
    RefinerChoice,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
    SizeOptions,
)
from engine.api.values import (
    ErrorInfo,
    Phase,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
)

# Version 1 named its convention, 2 was before SDXL, 3 before masks, refiners and overrides;
# `engine.metadata.record` reads them still.
RECORD_VERSION = 4


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
    convention: Convention
    backend: str
    precision: PrecisionName
    # Absent in records of version 1, for which these are right.
    sampler_options: SamplerOptions = SamplerOptions()
    schedule_options: ScheduleOptions = ScheduleOptions()
    seed_options: SeedOptions = SeedOptions()
    guidance_options: GuidanceOptions = GuidanceOptions()
    size_options: SizeOptions = SizeOptions()
    # As nobody chose it where nothing is masked.
    mask_options: MaskOptions = MaskOptions()
    zero_terminal_snr: bool = False
    override: CheckpointOverride = CheckpointOverride()
    # None: the VAE saw whole pictures.
    vae_tile: int | None = None
    refiner: RefinerChoice | None = None
    # What the person wrote, where wildcards in it were replaced; the prompts above hold no choice.
    prompt_template: str | None = None
    negative_template: str | None = None


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
    # Of samples of the checkpoint's files: tells its weights from others without reading gigabytes.
    checkpoint_digest: str
    retries: tuple[Retry, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()
    version: int = RECORD_VERSION
    # Why this device: "1.9x faster than CUDA here". Empty in records that are older than it.
    choice: str = ""
    # SHA-256 of the whole file, by which other tools know a checkpoint; None for folders, and where
    # it was not known yet.
    checkpoint_sha256: str | None = None
    # The same of the refiner, where there is one.
    refiner_digest: str | None = None
    refiner_sha256: str | None = None
