"""The record saved in each picture: the resolved request, without gaps, and how the job went."""

from typing import Annotated

import msgspec

from engine.api.control import ControlReport
from engine.api.conventions import Convention
from engine.api.embeddings import EmbeddingReport
from engine.api.fields import length_within
from engine.api.image_prompts import ImagePromptReport
from engine.api.limits import MAX_PROMPT_CHARACTERS
from engine.api.lora import LoraReport
from engine.api.request import BaseRequest, ComponentFiles, InputImage
from engine.api.values import (
    ErrorInfo,
    Phase,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
    WeightBits,
)

# Version 1 stored only a convention's name, 2 preceded SDXL, 3 preceded masks, refiners and
# overrides; `engine.metadata.record` still reads them all.
RECORD_VERSION = 4


class ResolvedRequest(BaseRequest, frozen=True, kw_only=True):
    """A request with every gap filled: enough to make the same pixels again.

    This class redeclares the fields that a record must have and a request may omit (`field()`
    removes the default), and adds the fields that only a record has. Records of version 1 lack the
    fields that are only in `BaseRequest`; the defaults are right for such records.
    """

    negative_prompt: str = msgspec.field()
    checkpoint: str = msgspec.field()
    components: ComponentFiles = msgspec.field()
    width: int = msgspec.field()
    height: int = msgspec.field()
    steps: int = msgspec.field()
    guidance: float = msgspec.field()
    sampler: SamplerName = msgspec.field()
    schedule: ScheduleName = msgspec.field()
    seed: int = msgspec.field()
    clip_skip: int = msgspec.field()
    inputs: tuple[InputImage, ...] = msgspec.field()
    strength: float = msgspec.field()
    convention: Convention = msgspec.field()
    backend: str = msgspec.field()
    precision: PrecisionName = msgspec.field()
    # Older records are of times when nothing was rounded unasked.
    weight_bits: WeightBits = WeightBits.ALL
    zero_terminal_snr: bool = False
    # The prompts before their wildcards were expanded; None without wildcards.
    prompt_template: Annotated[
        str | None, length_within(0, MAX_PROMPT_CHARACTERS, "length of the prompt's template")
    ] = None
    negative_template: Annotated[
        str | None,
        length_within(0, MAX_PROMPT_CHARACTERS, "length of the negative prompt's template"),
    ] = None


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """A phase that failed a check and was done again more safely."""

    phase: Phase
    reason: str
    from_precision: PrecisionName
    to_precision: PrecisionName


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of each phase, awake; `total_s` is from the start of the job to its end."""

    load_s: float
    compile_s: float
    encode_s: float
    denoise_s: float
    decode_s: float
    save_s: float
    total_s: float
    enlarge_s: float = 0.0


class UpscaleReport(msgspec.Struct, frozen=True, kw_only=True):
    """The upscaler that made a finished picture larger, and its width and height since then.

    `name` is that of the upscaler's file, or of the method where there is no file; then there is no
    `path`, `digest` and `device`, either. `digest` is a hash of samples of the file. `source` is
    the path of the picture before.
    """

    name: str
    width: int
    height: int
    # The method that brought the picture to its exact size.
    resampling: str
    path: str | None = None
    digest: str | None = None
    device: str | None = None
    source: str | None = None


class SecondPassReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A second pass in a picture's record: its size in pixels, and hashes of its files.

    Digests are hashes of samples of a file, the SHA-256 that of the whole file; None where the pass
    has no such file of its own, or the SHA-256 was not computed yet.
    """

    width: int
    height: int
    upscaler_digest: str | None = None
    checkpoint_digest: str | None = None
    checkpoint_sha256: str | None = None


class GenerationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is saved in a picture beside its pixels."""

    safelight: str
    request: ResolvedRequest
    family: str
    prediction: PredictionType
    device: str
    # A hash of samples of the checkpoint's files: identifies it without reading gigabytes.
    checkpoint_digest: str
    retries: tuple[Retry, ...] = ()
    warnings: tuple[ErrorInfo, ...] = ()
    version: int = RECORD_VERSION
    # The reason for the device: "1.9x faster than CUDA here". Empty in older records.
    choice: str = ""
    # SHA-256 of the whole file, by which other tools identify a checkpoint; None for folders, and
    # if it was not computed yet.
    checkpoint_sha256: str | None = None
    # The same two hashes of the refiner; None without a refiner.
    refiner_digest: str | None = None
    refiner_sha256: str | None = None
    # The LoRAs of the request and of the prompt, those that were not found included.
    loras: tuple[LoraReport, ...] = ()
    # The embeddings that the prompts used.
    embeddings: tuple[EmbeddingReport, ...] = ()
    # The control layers and image prompts of the request; absent where there is none.
    controls: tuple[ControlReport, ...] | msgspec.UnsetType = msgspec.UNSET
    image_prompts: tuple[ImagePromptReport, ...] | msgspec.UnsetType = msgspec.UNSET
    # The second passes of the request, in order; absent where there is none.
    second_passes: tuple[SecondPassReport, ...] | msgspec.UnsetType = msgspec.UNSET
    # What enlarged the picture after it was made, in order; absent where nothing did.
    upscales: tuple[UpscaleReport, ...] | msgspec.UnsetType = msgspec.UNSET
