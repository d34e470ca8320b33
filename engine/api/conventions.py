"""The points in which tools differ for the same request: a request names a tool, a record all.

The arithmetic of each value is where it is used: grammars in `engine.text`, emphasis in
`engine.families.shared.clip.conditioning`, noise and schedules in `engine.sampling`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import length_within
from engine.api.values import ConventionName, SamplerName


class PromptGrammar(StrEnum):
    """The grammar of a prompt: which brackets weigh words and what nested weights do."""

    A1111 = "a1111"  # (x) [x] (x:1.3), nested weights multiply; [a:b:8], [a|b], AND, BREAK
    COMFY = "comfy"  # (x) (x:1.3), an inner weight replaces the outer one
    COMPEL = "compel"  # word++, (a b)1.3, .and(), .blend()
    LITERAL = "literal"  # every character is text


class PromptFeature(StrEnum):
    """A part of A1111's grammar beside its brackets, which a text of another tool may not have."""

    COMMENTS = "comments"  # from # to the end of the line
    NETWORKS = "networks"  # <lora:name:1>
    CHANGES = "changes"  # [a:b:8], [a|b]
    COMPOSITION = "composition"  # AND
    BREAKS = "breaks"  # BREAK


class TextCleaning(StrEnum):
    """The clean-up of a text's characters before CLIP's tokenizer splits it into words."""

    NONE = "none"  # nothing but what CLIP's own rules say: transformers' fast tokenizer
    FTFY = "ftfy"  # ftfy's repairs, as of curly quotes; for OpenCLIP's encoders HTML's as well
    BASIC = "basic"  # Chinese characters are words each: transformers 4 without ftfy


class Emphasis(StrEnum):
    """The effect of token weights on the text encoder's output."""

    ORIGINAL = "original"  # multiply, then restore the mean
    NO_NORM = "no_norm"  # multiply
    FROM_EMPTY = "from_empty"  # move away from the empty prompt's output
    COMPEL = "compel"  # above 1 as from_empty, below 1 towards the prompt without the words
    NONE = "none"  # weights are read and have no effect
    LITERAL = "literal"  # weights are not read, their brackets are text: A1111's "None"


class Chunking(StrEnum):
    """The division of a prompt into chunks of CLIP's 75 positions."""

    COMMA = "comma"  # further chunks, ended at a comma within 20 tokens
    WORD = "word"  # further chunks, ended at a word of at most 8 tokens
    PLAIN = "plain"  # further chunks, ended anywhere
    SENTENCE = "sentence"  # further chunks, ended at a period, else a comma, else a word
    CUT = "cut"  # one chunk, filled up by the checkpoint's tokenizer; the rest is dropped


class LengthMatching(StrEnum):
    """The padding of prompts that have unequal numbers of chunks to one batch."""

    EMPTY_CHUNKS = "empty_chunks"  # the shorter is followed by empty prompts
    REPEAT = "repeat"  # each is repeated to the least common multiple
    REPEAT_LAST = "repeat_last"  # the shorter repeats its last token's vector


class InitialNoise(StrEnum):
    """The scale of standard normal noise at the first level sigma."""

    SIGMA = "sigma"  # times sigma
    VARIANCE = "variance"  # times sqrt(1 + sigma^2) at the highest level, times sigma below it
    SCHEDULER = "scheduler"  # as diffusers' scheduler of that name does


class RandomSource(StrEnum):
    """The generator of torch that the noise comes from."""

    CPU = "cpu"  # mt19937
    CUDA = "cuda"  # Philox, as NVIDIA cards draw


class SdeNoise(StrEnum):
    """The noise that the SDE samplers add at each step."""

    BROWNIAN = "brownian"  # increments of a Brownian path: torchsde's tree, filled as first noise
    BROWNIAN_CUDA = "brownian_cuda"  # the same, filled by CUDA's generator (ComfyUI's "_gpu")
    STREAM = "stream"  # the next values of the picture's generator


class StepSeed(StrEnum):
    """The seed of the generator of the steps' noise."""

    CONTINUED = "continued"  # it is the first noise's generator, which goes on
    SAME = "same"  # the picture's seed anew
    FLIPPED = "flipped"  # the picture's seed with its low 32 bits flipped


class BatchSeeds(StrEnum):
    """The generators and seeds from which the pictures of a batch get their noise."""

    SUCCESSIVE = "successive"  # a generator each, with seeds n, n + 1, ...
    ONE_STREAM = "one_stream"  # one generator with seed n, one picture after the other


class RedrawSteps(StrEnum):
    """The steps that are taken when a picture is redrawn by a strength."""

    A1111 = "a1111"  # int(min(strength, 0.999) * steps) + 1 of the schedule's last
    COMFY = "comfy"  # the last `steps` of a schedule of steps / strength
    DIFFUSERS = "diffusers"  # int(strength * steps) of the schedule's last


class Masking(StrEnum):
    """The way in which the part that a mask keeps is preserved while the rest is painted.

    The mask of the latent's cells and the blending; with sigma a level and noise the first noise.
    """

    # Cells are painted or kept. What is kept replaces the denoiser's picture; samplers that A1111
    # runs by timesteps are shown it instead. The result has it.
    A1111 = "a1111"
    # Cells may be painted in part. The denoiser is shown kept + sigma * noise, and what is kept
    # replaces its picture.
    COMFY = "comfy"
    # Cells are painted or kept. After each step what is kept becomes kept + sigma * noise. Not for
    # denoisers that see the mask.
    DIFFUSERS = "diffusers"


class RefinerHandover(StrEnum):
    """When and how a refiner takes over, for a share of the run that a request names."""

    # Within the run: it answers from the first level on that has this share of timesteps above it.
    LEVEL = "level"
    # Within the run: it answers after this share of the expected evaluations.
    EVALUATION = "evaluation"
    # In a run of its own, which begins with the first timestep in what is left of all.
    TIMESTEP = "timestep"
    # In a run of its own, which begins after this share of the steps, rounded.
    STEP = "step"


class Convention(msgspec.Struct, frozen=True, kw_only=True):
    """One tool's habits; `name` is the tool's they started from."""

    name: ConventionName
    grammar: PromptGrammar
    emphasis: Emphasis
    chunking: Chunking
    length_matching: LengthMatching
    # The text encoder's last norm is applied where layers are skipped, too.
    final_norm: bool
    initial_noise: InitialNoise
    # The generator of the first noise, and that of the steps'.
    random_source: RandomSource
    step_source: RandomSource
    step_seed: StepSeed
    sde_noise: SdeNoise
    batch_seeds: BatchSeeds
    redraw_steps: RedrawSteps
    # A picture's latent is drawn from the encoder's distribution before the noise; else its mean.
    samples_encoded: bool
    # Samplers that make their schedule for one step more and leave out its next-to-last level.
    discards_next_to_last: Annotated[
        tuple[SamplerName, ...],
        length_within(0, 64, "number of discards_next_to_last"),
    ]
    # For SDXL an empty negative prompt is zeros instead of what the text encoders make of it.
    zeroes_empty_negative: bool
    # Pixels are rounded to the nearest of 256 levels; else the fraction is cut off.
    rounds_pixels: bool
    masking: Masking = Masking.A1111
    refiner_handover: RefinerHandover = RefinerHandover.LEVEL
    # Pixels that a mask keeps are the picture's own, and not what the VAE makes of them.
    pastes_kept: bool = True
    # What else A1111's grammar finds in a text; other grammars have nothing of it.
    prompt_features: tuple[PromptFeature, ...] = tuple(PromptFeature)
    text_cleaning: TextCleaning = TextCleaning.NONE


CONVENTIONS: Mapping[ConventionName, Convention] = {
    ConventionName.A1111: Convention(
        name=ConventionName.A1111,
        grammar=PromptGrammar.A1111,
        emphasis=Emphasis.ORIGINAL,
        chunking=Chunking.COMMA,
        # Prompts of unequal length run one by one, to which repeating them comes.
        length_matching=LengthMatching.REPEAT,
        final_norm=True,
        initial_noise=InitialNoise.SIGMA,
        # A1111's own default is the GPU's; the processor's is the same on every machine.
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
        # As on NVIDIA cards, which most of its pictures were made on.
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
        # Of transformers 4, which most of its pictures were made with.
        text_cleaning=TextCleaning.BASIC,
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
    ),
    ConventionName.INVOKE: Convention(
        name=ConventionName.INVOKE,
        grammar=PromptGrammar.COMPEL,
        emphasis=Emphasis.COMPEL,
        chunking=Chunking.SENTENCE,
        # What is missing is masked, to which repeating comes.
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
    ),
}


def choice_of(convention: Convention) -> ConventionName | Convention:
    """The tool's name where a convention is just that tool's, else the convention itself."""
    return convention.name if CONVENTIONS[convention.name] == convention else convention


def convention_of(chosen: ConventionName | Convention) -> Convention:
    """The habits that a request chose, by a tool's name or one by one."""
    return chosen if isinstance(chosen, Convention) else CONVENTIONS[chosen]
