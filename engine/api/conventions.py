"""Conventions: the choices in which tools differ for the same request.

A request may name a tool for all of them; a record spells out each one. The choices about prompts,
noise, LoRAs and ControlNets are in the modules of `engine.api` called `*_rules`, and the arithmetic
of each value is in the module that uses it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.control_rules import (
    DIFFUSERS_CONTROL,
    ControlRules,
    FadeRule,
    MapResampling,
    RangeRule,
)
from engine.api.fields import length_within
from engine.api.lora_rules import DoraRule, LoraRules, RotationRule
from engine.api.noise_rules import BatchSeeds, InitialNoise, RandomSource, SdeNoise, StepSeed
from engine.api.prompt_rules import (
    Chunking,
    EmbeddingSpelling,
    Emphasis,
    LengthMatching,
    NetworkTags,
    PromptFeature,
    PromptGrammar,
    TextCleaning,
)
from engine.api.values import ConventionName, SamplerName


class RedrawSteps(StrEnum):
    """The steps of the schedule that img2img runs for a given strength."""

    A1111 = "a1111"  # the last int(min(strength, 0.999) * steps) + 1 steps
    # The last `steps` steps of a schedule of int(steps / min(strength, 0.999)) steps, as A1111's
    # second passes, and its "with img2img, do exactly the amount of steps the slider specifies".
    A1111_EXACT = "a1111_exact"
    COMFY = "comfy"  # the last `steps` steps of a schedule of steps / strength steps
    DIFFUSERS = "diffusers"  # the last int(strength * steps) steps


class Masking(StrEnum):
    """The method of preserving the part of a picture that a mask keeps while the rest is painted.

    Each method defines the mask on the cells of the latent and the blending. `kept` is the latent
    of the original picture, sigma a noise level, and noise the first noise.
    """

    # A cell is either painted or kept. Kept cells replace those of the denoiser's predicted
    # picture; for samplers that A1111 runs by timesteps they replace cells of the denoiser's
    # input instead. The final latent has the kept cells.
    A1111 = "a1111"
    # Cells may be painted in part. The denoiser's input has kept + sigma * noise in the kept
    # cells, and its predicted picture has `kept` there.
    COMFY = "comfy"
    # A cell is either painted or kept. After each step kept cells become kept + sigma * noise.
    # Unused for denoisers that take the mask as input channels.
    DIFFUSERS = "diffusers"


class RefinerHandover(StrEnum):
    """The moment and manner in which a refiner takes over after the requested share of the run."""

    # Within the run: from the first noise level that has this share of the timesteps above it.
    LEVEL = "level"
    # Within the run: after this share of the expected evaluations of the denoiser.
    EVALUATION = "evaluation"
    # In a run of its own, from the first timestep after this share of all timesteps.
    TIMESTEP = "timestep"
    # In a run of its own, after this share of the steps, rounded to a whole step.
    STEP = "step"


class ImagePrompting(StrEnum):
    """A tool's way to show CLIP the picture of an image prompt, and to read its mask.

    An adapter that sees CLIP's states needs some for the negative prompt, too.
    """

    # The middle square, in 8 bits; zeros for the negative prompt; masks of black and white.
    DIFFUSERS = "diffusers"
    # The whole picture, made square; zeros; grey masks.
    A1111 = "a1111"
    # The middle square, in numbers; a black picture; grey masks.
    COMFY = "comfy"


class Convention(msgspec.Struct, frozen=True, kw_only=True):
    """A full set of conventions; `name` is the tool whose defaults it started from."""

    name: ConventionName
    grammar: PromptGrammar
    emphasis: Emphasis
    chunking: Chunking
    length_matching: LengthMatching
    # True if the text encoder's final layer norm also applies with clip skip.
    final_norm: bool
    initial_noise: InitialNoise
    # The generator of the first noise, then the generator of the steps' noise.
    random_source: RandomSource
    step_source: RandomSource
    step_seed: StepSeed
    sde_noise: SdeNoise
    batch_seeds: BatchSeeds
    redraw_steps: RedrawSteps
    # True if an input picture's latent is sampled from the VAE encoder's distribution, before the
    # noise is drawn; False if it is the mean of the distribution.
    samples_encoded: bool
    # Samplers whose schedule is made for one step more, without its next-to-last noise level.
    discards_next_to_last: Annotated[
        tuple[SamplerName, ...],
        length_within(0, 64, "number of discards_next_to_last"),
    ]
    # True if SDXL's embedding of an empty negative prompt is zeros, not the encoders' output.
    zeroes_empty_negative: bool
    # True if pixels are rounded to the nearest of 256 levels; False if they are truncated.
    rounds_pixels: bool
    masking: Masking = Masking.A1111
    refiner_handover: RefinerHandover = RefinerHandover.LEVEL
    # True if kept pixels are copied from the input picture; False if the VAE decodes them.
    pastes_kept: bool = True
    # The features that A1111's grammar reads beside brackets; other grammars ignore this field.
    prompt_features: tuple[PromptFeature, ...] = tuple(PromptFeature)
    text_cleaning: TextCleaning = TextCleaning.NONE
    network_tags: NetworkTags = NetworkTags.WHOLE_RUN
    lora: LoraRules = LoraRules()
    # The ways to name an embedding; records from before there were embeddings name none.
    embedding_spellings: Annotated[
        tuple[EmbeddingSpelling, ...], length_within(0, 8, "number of embedding_spellings")
    ] = ()
    # True if a chunk with embeddings is pooled at its last vector, not at its end token: where
    # added tokens have larger ids than the end token, transformers takes the largest.
    pools_added_token: bool = False
    control: ControlRules = ControlRules()
    image_prompting: ImagePrompting = ImagePrompting.DIFFUSERS


CONVENTIONS: Mapping[ConventionName, Convention] = {
    ConventionName.A1111: Convention(
        name=ConventionName.A1111,
        grammar=PromptGrammar.A1111,
        emphasis=Emphasis.ORIGINAL,
        chunking=Chunking.COMMA,
        # A1111 runs prompts of unequal length one by one; repeating them is equivalent.
        length_matching=LengthMatching.REPEAT,
        final_norm=True,
        initial_noise=InitialNoise.SIGMA,
        # A1111's default is the GPU's generator; the CPU's gives equal noise on every machine.
        random_source=RandomSource.CPU,
        step_source=RandomSource.CPU,
        step_seed=StepSeed.CONTINUED,
        sde_noise=SdeNoise.BROWNIAN,
        batch_seeds=BatchSeeds.SUCCESSIVE,
        redraw_steps=RedrawSteps.A1111,
        samples_encoded=False,
        discards_next_to_last=(
            SamplerName.DPM2,
            SamplerName.DPM2_ANCESTRAL,
            SamplerName.DPMPP_3M_SDE,
        ),
        zeroes_empty_negative=True,
        rounds_pixels=False,
        masking=Masking.A1111,
        refiner_handover=RefinerHandover.LEVEL,
        pastes_kept=True,
        text_cleaning=TextCleaning.FTFY,
        embedding_spellings=(EmbeddingSpelling.BARE,),
        image_prompting=ImagePrompting.A1111,
    ),
    ConventionName.COMFY: Convention(
        name=ConventionName.COMFY,
        grammar=PromptGrammar.COMFY,
        emphasis=Emphasis.FROM_EMPTY,
        chunking=Chunking.WORD,
        length_matching=LengthMatching.REPEAT,
        final_norm=True,
        initial_noise=InitialNoise.VARIANCE,
        random_source=RandomSource.CPU,
        # CUDA's generator: most of ComfyUI's pictures were made on NVIDIA cards.
        step_source=RandomSource.CUDA,
        step_seed=StepSeed.SAME,
        sde_noise=SdeNoise.BROWNIAN,
        batch_seeds=BatchSeeds.ONE_STREAM,
        redraw_steps=RedrawSteps.COMFY,
        samples_encoded=False,
        discards_next_to_last=(
            SamplerName.DPM2,
            SamplerName.DPM2_ANCESTRAL,
            SamplerName.UNIPC,
            SamplerName.UNIPC_BH2,
        ),
        zeroes_empty_negative=False,
        rounds_pixels=False,
        masking=Masking.COMFY,
        refiner_handover=RefinerHandover.STEP,
        pastes_kept=False,
        # The cleaning of transformers 4, which made most of ComfyUI's pictures.
        text_cleaning=TextCleaning.BASIC,
        # Only nodes of its extensions read tags.
        network_tags=NetworkTags.TEXT,
        lora=LoraRules(dora=DoraRule.UNCHANGED, rotation=RotationRule.TWICE, glora_alpha=True),
        embedding_spellings=(EmbeddingSpelling.PREFIX, EmbeddingSpelling.TAG),
        control=ControlRules(
            acting_steps=RangeRule.LEVELS,
            resampling=MapResampling.NEAREST,
            means_lead_negative=True,
            softens_enlarged_edges=False,
        ),
        image_prompting=ImagePrompting.COMFY,
    ),
    ConventionName.DIFFUSERS: Convention(
        name=ConventionName.DIFFUSERS,
        grammar=PromptGrammar.LITERAL,
        emphasis=Emphasis.NONE,
        chunking=Chunking.CUT,
        length_matching=LengthMatching.EMPTY_CHUNKS,
        final_norm=True,
        initial_noise=InitialNoise.SCHEDULER,
        random_source=RandomSource.CPU,
        step_source=RandomSource.CPU,
        step_seed=StepSeed.CONTINUED,
        sde_noise=SdeNoise.STREAM,
        batch_seeds=BatchSeeds.ONE_STREAM,
        redraw_steps=RedrawSteps.DIFFUSERS,
        samples_encoded=True,
        discards_next_to_last=(),
        zeroes_empty_negative=True,
        rounds_pixels=True,
        masking=Masking.DIFFUSERS,
        refiner_handover=RefinerHandover.TIMESTEP,
        pastes_kept=False,
        network_tags=NetworkTags.TEXT,
        # diffusers reads no files of rotations; LyCORIS's rule is that of their trainer.
        lora=LoraRules(
            dora=DoraRule.INSIDE,
            rotation=RotationRule.EACH,
            glora_alpha=True,
            adapter_alpha=True,
        ),
        embedding_spellings=(EmbeddingSpelling.WORD,),
        pools_added_token=True,
        control=DIFFUSERS_CONTROL,
    ),
    ConventionName.INVOKE: Convention(
        name=ConventionName.INVOKE,
        grammar=PromptGrammar.COMPEL,
        emphasis=Emphasis.COMPEL,
        chunking=Chunking.SENTENCE,
        # InvokeAI masks the padding of the shorter prompt; repeating is equivalent.
        length_matching=LengthMatching.REPEAT,
        final_norm=True,
        initial_noise=InitialNoise.SCHEDULER,
        random_source=RandomSource.CPU,
        step_source=RandomSource.CUDA,
        step_seed=StepSeed.FLIPPED,
        sde_noise=SdeNoise.BROWNIAN_CUDA,
        batch_seeds=BatchSeeds.SUCCESSIVE,
        redraw_steps=RedrawSteps.DIFFUSERS,
        samples_encoded=False,
        discards_next_to_last=(),
        zeroes_empty_negative=True,
        rounds_pixels=True,
        masking=Masking.DIFFUSERS,
        refiner_handover=RefinerHandover.TIMESTEP,
        pastes_kept=False,
        # It reads no files of GLoRA or rotations.
        lora=LoraRules(glora_alpha=True),
        embedding_spellings=(EmbeddingSpelling.ANGLED,),
        pools_added_token=True,
        control=ControlRules(
            acting_steps=RangeRule.TOUCHED_STEPS,
            fade=FadeRule.DECADE,
            resampling=MapResampling.LANCZOS,
            softens_enlarged_edges=False,
        ),
    ),
}


def choice_of(convention: Convention) -> ConventionName | Convention:
    """Return the tool's name if a convention equals that tool's, else the convention itself."""
    return convention.name if CONVENTIONS[convention.name] == convention else convention


def convention_of(chosen: ConventionName | Convention) -> Convention:
    """Return the convention of a tool's name; a convention is returned unchanged."""
    return chosen if isinstance(chosen, Convention) else CONVENTIONS[chosen]
