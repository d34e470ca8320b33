"""A request for pictures, as a person makes it. None and AUTO are filled by the engine.

Each field states here all that the rest of the code asks about it (`engine.api.fields`).
"""

from typing import Annotated

import msgspec

from engine.api.conventions import Convention
from engine.api.fields import (
    MACHINE,
    SETTING,
    each_within,
    length_within,
    span_within,
    summary,
    title,
    within,
)
from engine.api.limits import (
    MAX_BATCH_INDEX,
    MAX_CLIP_SKIP,
    MAX_COUNT,
    MAX_GUIDANCE,
    MAX_PROMPT_CHARACTERS,
    MAX_SEED,
    MAX_SIDE,
    MAX_STEPS,
    MIN_SIDE,
)
from engine.api.masks import MaskOptions
from engine.api.values import (
    ConventionName,
    InputRole,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
)

# Of an option of a sampler or a schedule, and of a picture's weight.
_MAX_OPTION = 10_000.0
# Both ends fit the messages between app and engine.
_MAX_SEED_DELTA = 2**63 - 1
# Of size conditioning: a side before the picture was scaled, and the refiner's score.
_MAX_ORIGINAL_SIDE = 65_536
_MAX_SCORE = 100.0


class ComponentFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that replace or supply parts of the checkpoint; None is the checkpoint's own part."""

    denoiser: Annotated[str | None, title("denoiser (UNet)"), summary("{denoiser}")] = None
    text_encoder: Annotated[str | None, title("text encoder"), summary("{text_encoder}")] = None
    text_encoder_2: Annotated[
        str | None, title("second text encoder"), summary("{text_encoder_2}")
    ] = None
    vae: Annotated[str | None, title("VAE"), summary("{vae}")] = None


# What a person may say that a checkpoint predicts: flow's levels are other ones altogether.
DECLARABLE_PREDICTIONS = tuple(one for one in PredictionType if one is not PredictionType.FLOW)


class CheckpointOverride(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts about a checkpoint that a person states, where its files lack them or are wrong.

    None leaves a fact to the files. `family` is a name as in `CheckpointInfo`; a family that the
    shapes rule out is refused.
    """

    family: str | None = None
    prediction: PredictionType | None = None


NO_OVERRIDE = CheckpointOverride()


class RefinerChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A second checkpoint, whose denoiser finishes a picture."""

    # None where a picture's text names a refiner that nobody has chosen here: then there is none.
    checkpoint: str | None = None
    # The part of the run after which the refiner takes over; with 1 it never does.
    switch_at: Annotated[float, within(0, 1, "refiner's start")] = 0.8


class InputImage(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that steers the generation."""

    role: InputRole
    path: str
    weight: Annotated[float, within(-_MAX_OPTION, _MAX_OPTION, "weight of a picture")] = 1.0
    # The part of the run in which the picture acts, as fractions of the steps.
    range: Annotated[tuple[float, float], each_within(0, 1, "range of a picture")] = (0.0, 1.0)


class SamplerOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of a sampler; None is its own default. An option that it has not got is refused."""

    # The share of noise that is renewed at each step; k-diffusion's and DDIM's eta.
    eta: Annotated[float | None, within(0, _MAX_OPTION), summary("eta {eta}")] = None
    # A factor on the noise that is added; k-diffusion's s_noise.
    noise_scale: Annotated[
        float | None, within(0, _MAX_OPTION), summary("noise scale {noise_scale}")
    ] = None
    # The amount of noise that is added before each step, and the levels between which it is added;
    # k-diffusion's s_churn, s_tmin and s_tmax.
    churn: Annotated[float | None, within(0, _MAX_OPTION), summary("churn {churn}")] = None
    churn_from: Annotated[
        float | None, within(0, _MAX_OPTION), summary("churn from {churn_from}")
    ] = None
    churn_to: Annotated[float | None, within(0, _MAX_OPTION), summary("churn to {churn_to}")] = None


class ScheduleOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of a schedule; None is what the checkpoint or the schedule itself has."""

    sigma_min: Annotated[float | None, within(0, _MAX_OPTION), summary("sigma min {sigma_min}")] = (
        None
    )
    sigma_max: Annotated[float | None, within(0, _MAX_OPTION), summary("sigma max {sigma_max}")] = (
        None
    )
    # The density of low levels, more than 0; of Karras' schedule and the polyexponential.
    rho: Annotated[float | None, within(0, _MAX_OPTION), summary("rho {rho}")] = None


class SeedOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything beside the seed that the first noise is made of."""

    # The noise is turned from the seed's towards this seed's by the strength.
    variation_seed: Annotated[int | None, within(0, MAX_SEED, "variation seed")] = None
    variation_strength: Annotated[
        float,
        within(0, 1, "variation strength"),
        summary("varied by {variation_strength} towards seed {variation_seed}"),
    ] = 0.0
    # The noise is that of a picture of this width and height, cropped or surrounded by more noise.
    resize_from: Annotated[
        tuple[int, int] | None,
        each_within(MIN_SIDE, MAX_SIDE, "side of the seed's size"),
        summary("noise of {resize_from}"),
    ] = None
    # A number added to the seed for the noise of the steps: A1111's "eta noise seed delta".
    eta_seed_delta: Annotated[
        int,
        within(-_MAX_SEED_DELTA, _MAX_SEED_DELTA, "eta seed delta"),
        summary("noise of the steps from seed + {eta_seed_delta}"),
    ] = 0
    # The place, from 0, in a batch that was drawn from one seed.
    batch_index: Annotated[
        int,
        within(0, MAX_BATCH_INDEX, "batch index"),
        summary("number {batch_number} of its batch"),
    ] = 0
    # The number of pictures in that batch: the steps' noise of all of them is drawn at once.
    batch_size: Annotated[int, within(1, MAX_BATCH_INDEX + 1, "batch size")] = 1

    @property
    def batch_number(self) -> int:
        """The place in the batch as people count, from 1."""
        return self.batch_index + 1


# Of A1111's window and diffusers' pipelines.
DEFAULT_IMAGE_GUIDANCE = 1.5


class GuidanceOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of guidance beside its scale."""

    # The degree to which the contrast is brought back to that of the prompt alone (Lin et al.
    # 2023, section 3.4; A1111 and diffusers call it guidance rescale, ComfyUI RescaleCFG).
    rescale: Annotated[float, within(0, 1, "guidance rescale")] = 0.0
    # The part of the run in which guidance acts, as fractions of the steps (Kynkaanniemi et al.
    # 2024); outside of it the prompt alone counts.
    range: Annotated[tuple[float, float], span_within(0, 1, "guidance")] = (0.0, 1.0)
    # How strictly the picture to be edited is followed, for checkpoints that edit by instruction
    # (Brooks et al. 2023, equation 3); None: `DEFAULT_IMAGE_GUIDANCE`. Others have none.
    image_guidance: Annotated[float | None, within(0, MAX_GUIDANCE, "image guidance")] = None


class SizeOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SDXL's size conditioning, width before height and left before top; None: the picture's own.

    The negative prompt is conditioned alike, but for its own fields. The scores are the refiner's.
    """

    original: Annotated[
        tuple[int, int] | None, each_within(0, _MAX_ORIGINAL_SIDE, "side of the original size")
    ] = None
    crop: Annotated[
        tuple[int, int] | None, each_within(0, _MAX_ORIGINAL_SIDE, "side of the crop")
    ] = None
    target: Annotated[
        tuple[int, int] | None, each_within(0, _MAX_ORIGINAL_SIDE, "side of the target size")
    ] = None
    negative_original: Annotated[
        tuple[int, int] | None,
        each_within(0, _MAX_ORIGINAL_SIDE, "side of the negative original size"),
    ] = None
    negative_crop: Annotated[
        tuple[int, int] | None, each_within(0, _MAX_ORIGINAL_SIDE, "side of the negative crop")
    ] = None
    negative_target: Annotated[
        tuple[int, int] | None,
        each_within(0, _MAX_ORIGINAL_SIDE, "side of the negative target size"),
    ] = None
    aesthetic_score: Annotated[float, within(0, _MAX_SCORE, "aesthetic score")] = 6.0
    negative_aesthetic_score: Annotated[
        float, within(0, _MAX_SCORE, "negative aesthetic score")
    ] = 2.5


class BaseRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that a request and its resolved form share, in the order of a record.

    Sizes are in pixels. None is a gap: the engine fills it. `ResolvedRequest` has none.
    """

    prompt: Annotated[str, length_within(0, MAX_PROMPT_CHARACTERS, "length of the prompt")]
    negative_prompt: Annotated[
        str, length_within(0, MAX_PROMPT_CHARACTERS, "length of the negative prompt")
    ] = ""
    checkpoint: str | None = None
    components: ComponentFiles = ComponentFiles()
    width: Annotated[int | None, within(MIN_SIDE, MAX_SIDE)] = None
    height: Annotated[int | None, within(MIN_SIDE, MAX_SIDE)] = None
    steps: Annotated[int | None, within(1, MAX_STEPS, "number of steps")] = None
    guidance: Annotated[float | None, within(0, MAX_GUIDANCE)] = None
    sampler: SamplerName | None = None
    schedule: ScheduleName | None = None
    seed: Annotated[int | None, within(0, MAX_SEED)] = None
    # A checkpoint's text encoder may have fewer layers to skip.
    clip_skip: Annotated[
        int | None, within(1, MAX_CLIP_SKIP, "clip skip"), summary("clip skip {clip_skip}")
    ] = None
    inputs: Annotated[tuple[InputImage, ...], length_within(0, 64, "number of pictures")] = ()
    # How much of an init picture is redrawn: 0 keeps it, 1 ignores it.
    strength: Annotated[float | None, within(0, 1)] = None
    convention: Annotated[ConventionName | Convention, SETTING] = ConventionName.A1111
    backend: Annotated[str, MACHINE] = "auto"
    precision: Annotated[PrecisionName, MACHINE] = PrecisionName.AUTO
    sampler_options: Annotated[SamplerOptions, SETTING] = SamplerOptions()
    schedule_options: Annotated[ScheduleOptions, SETTING] = ScheduleOptions()
    seed_options: Annotated[SeedOptions, SETTING] = SeedOptions()
    guidance_options: Annotated[GuidanceOptions, SETTING, summary("guidance adjusted")] = (
        GuidanceOptions()
    )
    size_options: Annotated[SizeOptions, SETTING, summary("told of other sizes")] = SizeOptions()
    mask_options: Annotated[MaskOptions, SETTING] = MaskOptions()
    # Whether the levels are stretched so that the first is all noise; None: as the checkpoint says.
    zero_terminal_snr: Annotated[bool | None, SETTING, summary("zero terminal SNR")] = None
    override: CheckpointOverride = CheckpointOverride()
    # The longest side of a tile of the VAE in pixels, with the overlap with its neighbours: less
    # than 256 would be all overlap. None: whole pictures where there is memory for them.
    vae_tile: Annotated[int | None, within(256, MAX_SIDE, "tile of the VAE")] = None
    refiner: RefinerChoice | None = None


class GenerateRequest(BaseRequest, frozen=True, kw_only=True):
    """One press of Generate."""

    # The number of pictures, with successive seeds.
    count: Annotated[int, within(1, MAX_COUNT)] = 1
    # Whether `__name__` and `{a|b}` in the prompts are replaced by a choice the seed makes.
    expand_wildcards: Annotated[bool, SETTING, summary("wildcards kept as text")] = True
    memory_limit_bytes: Annotated[int | None, MACHINE] = None
