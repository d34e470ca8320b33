"""What a person asks for. Gaps (None, AUTO) are filled by `engine.pipeline.resolve`."""

import msgspec

from engine.api.conventions import Convention
from engine.api.masks import MaskOptions
from engine.api.values import (
    ConventionName,
    InputRole,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
)


class ComponentFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that replace or supply a part of the checkpoint; None takes the checkpoint's own."""

    denoiser: str | None = None
    text_encoder: str | None = None
    text_encoder_2: str | None = None
    vae: str | None = None


class CheckpointOverride(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person says a checkpoint is, where its files say nothing or the wrong thing.

    None leaves it to them. `family` by its name in `CheckpointInfo`; one that the shapes rule out
    is refused.
    """

    family: str | None = None
    prediction: PredictionType | None = None


NO_OVERRIDE = CheckpointOverride()


class RefinerChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A second checkpoint, in whose denoiser's hands a picture is finished."""

    # None where a picture's text names one that nobody has chosen here: then there is none.
    checkpoint: str | None = None
    # The part of the run after which it takes over, from 0 to 1; with 1 it never does.
    switch_at: float = 0.8


class InputImage(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that steers the generation."""

    role: InputRole
    path: str
    weight: float = 1.0
    # The part of the run it acts in, as fractions of the steps.
    range: tuple[float, float] = (0.0, 1.0)


class SamplerOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a sampler may be told; None takes its own default. One it has not got is refused."""

    # The share of noise that is renewed at each step, at least 0; k-diffusion's and DDIM's eta.
    eta: float | None = None
    # A factor on the noise that is added, at least 0; k-diffusion's s_noise.
    noise_scale: float | None = None
    # How much noise is added before each step, at least 0, and between which levels; k-diffusion's
    # s_churn, s_tmin and s_tmax.
    churn: float | None = None
    churn_from: float | None = None
    churn_to: float | None = None


class ScheduleOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a schedule may be told; None takes what the checkpoint or the schedule itself has."""

    sigma_min: float | None = None
    sigma_max: float | None = None
    # How densely low levels are visited, more than 0; of Karras' schedule and the polyexponential.
    rho: float | None = None


class SeedOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the first noise is made of beside the seed."""

    # The noise is turned from the seed's towards this one's by the strength, from 0 to 1.
    variation_seed: int | None = None
    variation_strength: float = 0.0
    # The noise is that of a picture of this width and height, with more or less of it around.
    resize_from: tuple[int, int] | None = None
    # Added to the seed for the noise of the steps: A1111's "eta noise seed delta".
    eta_seed_delta: int = 0
    # The place in a batch that was drawn from one seed.
    batch_index: int = 0
    # How many pictures that batch had: where they are drawn at once, the noise of their steps.
    batch_size: int = 1


# Of A1111's window and diffusers' pipelines.
DEFAULT_IMAGE_GUIDANCE = 1.5


class GuidanceOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How guidance acts beside its scale."""

    # From 0 to 1: how far the contrast is brought back to that of the prompt alone (Lin et al.
    # 2023, section 3.4; A1111 and diffusers call it guidance rescale, ComfyUI RescaleCFG).
    rescale: float = 0.0
    # The part of the run in which guidance acts, as fractions of the steps (Kynkaanniemi et al.
    # 2024); outside of it the prompt alone counts.
    range: tuple[float, float] = (0.0, 1.0)
    # How strictly the picture to be edited is followed, for checkpoints that edit by instruction
    # (Brooks et al. 2023, equation 3); None: `DEFAULT_IMAGE_GUIDANCE`. Others have none.
    image_guidance: float | None = None


class SizeOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What SDXL is told of sizes, width before height and left before top; None: the picture's.

    The negative prompt is told the same, but for what is said of it. The scores are the refiner's.
    """

    original: tuple[int, int] | None = None
    crop: tuple[int, int] | None = None
    target: tuple[int, int] | None = None
    negative_original: tuple[int, int] | None = None
    negative_crop: tuple[int, int] | None = None
    negative_target: tuple[int, int] | None = None
    aesthetic_score: float = 6.0
    negative_aesthetic_score: float = 2.5


class GenerateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One press of Generate. Sizes in pixels; `None` means "choose for me"."""

    prompt: str
    negative_prompt: str = ""
    checkpoint: str | None = None
    components: ComponentFiles = ComponentFiles()
    override: CheckpointOverride = CheckpointOverride()
    refiner: RefinerChoice | None = None
    width: int | None = None
    height: int | None = None
    steps: int | None = None
    guidance: float | None = None
    sampler: SamplerName | None = None
    schedule: ScheduleName | None = None
    seed: int | None = None
    count: int = 1
    clip_skip: int | None = None
    inputs: tuple[InputImage, ...] = ()
    # How much of an init picture is redrawn: 0 keeps it, 1 ignores it.
    strength: float | None = None
    convention: ConventionName | Convention = ConventionName.A1111
    sampler_options: SamplerOptions = SamplerOptions()
    schedule_options: ScheduleOptions = ScheduleOptions()
    seed_options: SeedOptions = SeedOptions()
    guidance_options: GuidanceOptions = GuidanceOptions()
    size_options: SizeOptions = SizeOptions()
    mask_options: MaskOptions = MaskOptions()
    # Whether the levels are stretched so that the first is all noise; None: as the checkpoint says.
    zero_terminal_snr: bool | None = None
    # The longest side of a tile of the VAE in pixels, with what it shares with its neighbours.
    # None: whole pictures where there is memory for them.
    vae_tile: int | None = None
    # Whether `__name__` and `{a|b}` in the prompts are replaced by a choice the seed makes.
    expand_wildcards: bool = True
    backend: str = "auto"
    precision: PrecisionName = PrecisionName.AUTO
    memory_limit_bytes: int | None = None
