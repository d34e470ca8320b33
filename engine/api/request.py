"""A request for pictures, as the user makes it; the engine replaces None and AUTO.

The annotations of a field hold all its metadata for the rest of the code (`engine.api.fields`).
"""

from typing import Annotated

import msgspec

from engine.api.control import MAX_CONTROLS, ControlLayer
from engine.api.conventions import Convention
from engine.api.denoiser_options import DenoiserOptions
from engine.api.embeddings import MAX_EMBEDDINGS, EmbeddingHash
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
from engine.api.image_prompts import MAX_IMAGE_PROMPTS, ImagePrompt
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
from engine.api.lora import MAX_LORAS, LoraChoice, LoraHash, LoraMode
from engine.api.masks import MaskOptions
from engine.api.second_passes import MAX_SECOND_PASSES, SecondPass
from engine.api.values import (
    ConventionName,
    InputRole,
    PrecisionName,
    PredictionType,
    SamplerName,
    ScheduleName,
    TextWeightBits,
    WeightBits,
)

# The largest option of a sampler or a schedule, and weight of a picture.
_MAX_OPTION = 10_000.0
# The largest seed delta of either sign that fits into a message between app and engine.
_MAX_SEED_DELTA = 2**63 - 1
# More bytes than any machine has.
_MOST_MEMORY = 1 << 50
# The largest values of size conditioning: an original side in pixels, and an aesthetic score.
_MAX_ORIGINAL_SIDE = 65_536
_MAX_SCORE = 100.0
# The largest scale of perturbed-attention guidance in ComfyUI's node.
_MAX_PAG_SCALE = 100.0


class ComponentFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that replace or supply parts of the checkpoint; None: the checkpoint's own part."""

    denoiser: Annotated[str | None, title("denoiser (UNet)"), summary("denoiser {denoiser}")] = None
    text_encoder: Annotated[
        str | None, title("text encoder"), summary("text encoder {text_encoder}")
    ] = None
    text_encoder_2: Annotated[
        str | None, title("second text encoder"), summary("second text encoder {text_encoder_2}")
    ] = None
    text_encoder_3: Annotated[
        str | None, title("third text encoder"), summary("third text encoder {text_encoder_3}")
    ] = None
    vae: Annotated[str | None, title("VAE"), summary("VAE {vae}")] = None


# The prediction types that a user may declare for a checkpoint: all but FLOW, whose noise levels
# differ from those of all others.
DECLARABLE_PREDICTIONS = tuple(kind for kind in PredictionType if kind is not PredictionType.FLOW)


class CheckpointOverride(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts about a checkpoint that the user declares because its files lack them or are wrong.

    None takes a fact from the files. `family` and `variant` are names as in `CheckpointInfo`; those
    that the weights' shapes rule out are refused.
    """

    family: str | None = None
    prediction: PredictionType | None = None
    variant: str | None = None


NO_OVERRIDE = CheckpointOverride()


class RefinerChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A second checkpoint, whose denoiser finishes a picture."""

    # None if imported metadata names a refiner and the user has not chosen its file: no refiner.
    checkpoint: Annotated[str | None, summary("refiner {checkpoint}")] = None
    # The fraction of the run after which the refiner takes over; 1: never.
    switch_at: Annotated[float, within(0, 1, "refiner's start")] = 0.8


class InputImage(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that steers the generation."""

    role: InputRole
    path: str
    weight: Annotated[float, within(-_MAX_OPTION, _MAX_OPTION, "weight of a picture")] = 1.0
    # The start and the end of the picture's effect, as fractions of the steps.
    range: Annotated[tuple[float, float], each_within(0, 1, "range of a picture")] = (0.0, 1.0)


class SamplerOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of a sampler; None is its default. Options that the sampler lacks are refused."""

    # The share of the noise that is replaced by new noise at each step: k-diffusion's, DDIM's eta.
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
    """Options of a schedule; None is the default of the checkpoint or of the schedule."""

    sigma_min: Annotated[float | None, within(0, _MAX_OPTION), summary("sigma min {sigma_min}")] = (
        None
    )
    sigma_max: Annotated[float | None, within(0, _MAX_OPTION), summary("sigma max {sigma_max}")] = (
        None
    )
    # The density of low noise levels, more than 0, in the Karras and polyexponential schedules.
    rho: Annotated[float | None, within(0, _MAX_OPTION), summary("rho {rho}")] = None


class SeedOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The options, beside the seed, that determine the noise."""

    # The seed's noise is interpolated towards this seed's by `variation_strength`.
    variation_seed: Annotated[int | None, within(0, MAX_SEED, "variation seed")] = None
    variation_strength: Annotated[
        float,
        within(0, 1, "variation strength"),
        summary("varied by {variation_strength} towards seed {variation_seed}"),
    ] = 0.0
    # Draw the noise of a picture of this width and height, then crop it or surround it by more
    # noise (A1111's "resize seed from").
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
    # The picture's index, from 0, in a batch whose noise was drawn from one seed.
    batch_index: Annotated[
        int,
        within(0, MAX_BATCH_INDEX, "batch index"),
        summary("number {batch_number} of its batch"),
    ] = 0
    # The number of pictures in that batch; each step draws the noise of all of them at once.
    batch_size: Annotated[int, within(1, MAX_BATCH_INDEX + 1, "batch size")] = 1

    @property
    def is_varied(self) -> bool:
        """True if the picture is a variation of the one that its seed makes."""
        return self.variation_strength > 0

    @property
    def batch_number(self) -> int:
        """The picture's place in the batch, counted from 1."""
        return self.batch_index + 1


# The default of A1111's window and of diffusers' pipelines.
DEFAULT_IMAGE_GUIDANCE = 1.5


class GuidanceOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options of guidance other than its scale."""

    # The share by which the guided prediction is rescaled to the standard deviation of the
    # prompt's own prediction (Lin et al. 2023, section 3.4; "guidance rescale" in A1111 and
    # diffusers, RescaleCFG in ComfyUI).
    rescale: Annotated[
        float, within(0, 1, "guidance rescale"), summary("guidance rescaled by {rescale}")
    ] = 0.0
    # The start and the end of guidance, as fractions of the steps (Kynkaanniemi et al. 2024);
    # outside of them only the prompt's own prediction is used.
    range: Annotated[
        tuple[float, float], span_within(0, 1, "guidance"), summary("guided at {range}")
    ] = (0.0, 1.0)
    # The image guidance scale of checkpoints that edit by instruction (Brooks et al. 2023,
    # equation 3); None: `DEFAULT_IMAGE_GUIDANCE`. Other checkpoints have none.
    image_guidance: Annotated[float | None, within(0, MAX_GUIDANCE, "image guidance")] = None
    # The scale of classifier-free guidance beside guidance that is an input of the denoiser, whose
    # scale is the request's own; 1: the negative prompt has no effect (diffusers `true_cfg_scale`,
    # Forge's "CFG scale" beside "Distilled CFG Scale", ComfyUI's cfg beside FluxGuidance).
    true_cfg: Annotated[
        float, within(0, MAX_GUIDANCE, "true CFG scale"), summary("true CFG {true_cfg}")
    ] = 1.0
    # The scale of perturbed-attention guidance (Ahn et al. 2024), away from a prediction in some of
    # whose self-attention layers each cell attends to itself alone; 0: none.
    pag_scale: Annotated[
        float, within(0, _MAX_PAG_SCALE, "PAG scale"), summary("perturbed attention {pag_scale}")
    ] = 0.0
    # The decrease of that scale for each of the 1000 timesteps below the highest; the scale does
    # not fall below 0 (diffusers' `pag_adaptive_scale`).
    pag_adaptive: Annotated[float, within(0, _MAX_PAG_SCALE, "PAG adaptive scale")] = 0.0
    # The start and the end of perturbed-attention guidance, as fractions of the steps.
    pag_range: Annotated[tuple[float, float], span_within(0, 1, "PAG")] = (0.0, 1.0)
    # The perturbed layers: mid, down, up, or beginnings of diffusers' names as up_blocks.0.
    pag_layers: Annotated[tuple[str, ...], length_within(1, 64, "number of PAG layers")] = ("mid",)
    # The scale of self-attention guidance (Hong et al. 2023), away from a prediction of the picture
    # whose most attended cells are blurred; 0: none.
    sag_scale: Annotated[
        float, within(-2, 5, "SAG scale"), summary("self-attention guidance {sag_scale}")
    ] = 0.0
    # The standard deviation of that blur in cells; 1 in diffusers.
    sag_blur: Annotated[float, within(0, 10, "SAG blur")] = 2.0
    # The attention beyond which a cell is blurred; 1 is the average.
    sag_threshold: Annotated[float, within(0, 4, "SAG threshold")] = 1.0


class SizeOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SDXL's size conditioning: sizes as (width, height), crops as (left, top).

    None is the picture's own size, or no crop. A None in a field of the negative prompt is the
    prompt's own value. The aesthetic scores are inputs of SDXL's refiner.
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
    """The fields that `GenerateRequest` and `ResolvedRequest` share, in the order of a record.

    Sizes are in pixels. None is a gap that the engine fills; `ResolvedRequest` has no gaps.
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
    # The denoising strength of img2img: 0 keeps the init picture, 1 ignores it.
    strength: Annotated[float | None, within(0, 1)] = None
    convention: Annotated[ConventionName | Convention, SETTING] = ConventionName.A1111
    backend: Annotated[str, MACHINE, summary("on {backend}")] = "auto"
    precision: Annotated[PrecisionName, MACHINE, summary("in {precision}")] = PrecisionName.AUTO
    weight_bits: Annotated[WeightBits, summary("weights in {weight_bits} bits")] = WeightBits.AUTO
    text_weight_bits: Annotated[
        TextWeightBits, summary("text encoders in {text_weight_bits} bits")
    ] = TextWeightBits.SAME
    sampler_options: Annotated[SamplerOptions, SETTING] = SamplerOptions()
    schedule_options: Annotated[ScheduleOptions, SETTING] = ScheduleOptions()
    seed_options: Annotated[SeedOptions, SETTING] = SeedOptions()
    guidance_options: Annotated[GuidanceOptions, SETTING] = GuidanceOptions()
    size_options: Annotated[SizeOptions, SETTING, summary("told of other sizes")] = SizeOptions()
    mask_options: Annotated[MaskOptions, SETTING] = MaskOptions()
    # True to stretch the noise levels so that the first is pure noise; None: the checkpoint's own
    # setting.
    zero_terminal_snr: Annotated[bool | None, SETTING, summary("zero terminal SNR")] = None
    override: CheckpointOverride = CheckpointOverride()
    # The longest side of a VAE tile in pixels, including the overlap with its neighbours, which
    # would fill tiles below 256. None: whole pictures if the memory suffices.
    vae_tile: Annotated[
        int | None, within(256, MAX_SIDE, "tile of the VAE"), summary("VAE tiles of {vae_tile}")
    ] = None
    refiner: RefinerChoice | None = None
    # LoRAs beside those that the prompt names by tags.
    loras: Annotated[
        tuple[LoraChoice, ...], length_within(0, MAX_LORAS, "number of LoRAs"), summary("{loras}")
    ] = ()
    # Hashes of files that the prompt names by tags; imported metadata tells them.
    lora_hashes: Annotated[
        tuple[LoraHash, ...], length_within(0, MAX_LORAS, "number of LoRA hashes")
    ] = ()
    # Hashes of embeddings that the prompts name; imported metadata tells them.
    embedding_hashes: Annotated[
        tuple[EmbeddingHash, ...], length_within(0, MAX_EMBEDDINGS, "number of embedding hashes")
    ] = ()
    lora_mode: Annotated[LoraMode, SETTING, MACHINE, summary("LoRAs: {lora_mode}")] = LoraMode.AUTO
    controls: Annotated[
        tuple[ControlLayer, ...],
        length_within(0, MAX_CONTROLS, "number of control layers"),
        summary("control layers"),
    ] = ()
    image_prompts: Annotated[
        tuple[ImagePrompt, ...],
        length_within(0, MAX_IMAGE_PROMPTS, "number of image prompts"),
        summary("image prompts"),
    ] = ()
    second_passes: Annotated[
        tuple[SecondPass, ...],
        length_within(0, MAX_SECOND_PASSES, "number of second passes"),
        summary("enlarged and redrawn"),
    ] = ()
    denoiser_options: Annotated[DenoiserOptions, SETTING] = DenoiserOptions()


# Without cycles, and thousands of them wait in a queue: nothing for garbage collection to walk.
class GenerateRequest(BaseRequest, frozen=True, kw_only=True, gc=False):
    """The user's request for one or more pictures: one press of Generate."""

    # The number of pictures, with successive seeds.
    count: Annotated[int, within(1, MAX_COUNT)] = 1
    # True to replace `__name__` and `{a|b}` in the prompts by words drawn with the seed.
    expand_wildcards: Annotated[bool, SETTING, summary("wildcards kept as text")] = True
    memory_limit_bytes: Annotated[
        int | None, MACHINE, within(0, _MOST_MEMORY, "memory limit"), summary("memory limited")
    ] = None
    # Of a device that has memory of its own, beside the host's.
    device_memory_limit_bytes: Annotated[
        int | None,
        MACHINE,
        within(0, _MOST_MEMORY, "device memory limit"),
        summary("device memory limited"),
    ] = None
