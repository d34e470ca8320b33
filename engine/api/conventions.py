"""Conventions: the choices in which tools differ for the same request.

A request may name a tool for all of them; a record spells out each one. The arithmetic of each
value is in the module that uses it: grammars in `engine.text`, emphasis in
`engine.families.shared.prompts.conditioning`, noise and schedules in `engine.sampling`, changes by
LoRA files in `engine.lora`, ControlNets in `engine.pipeline.control`.
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
from engine.api.values import ConventionName, SamplerName


class PromptGrammar(StrEnum):
    """The grammar of a prompt: the brackets that set weights, and the effect of nested weights."""

    A1111 = "a1111"  # (x) [x] (x:1.3), nested weights multiply; [a:b:8], [a|b], AND, BREAK
    COMFY = "comfy"  # (x) (x:1.3), an inner weight replaces the outer one
    COMPEL = "compel"  # word++, (a b)1.3, .and(), .blend()
    LITERAL = "literal"  # every character is text


class PromptFeature(StrEnum):
    """A part of A1111's grammar other than its brackets; a convention may leave it out."""

    COMMENTS = "comments"  # from # to the end of the line
    NETWORKS = "networks"  # <lora:name:1>
    CHANGES = "changes"  # [a:b:8], [a|b]
    COMPOSITION = "composition"  # AND
    BREAKS = "breaks"  # BREAK


class NetworkTags(StrEnum):
    """The meaning of `<lora:name:0.8>` and other tags of networks in a prompt.

    A1111's grammar reads tags only with `PromptFeature.NETWORKS`; compel's has a form of its own.
    """

    TEXT = "text"  # they are text
    WHOLE_RUN = "whole_run"  # each acts from the first step to the last, wherever it stands
    TIMED = "timed"  # a tag within [a:b:8] or [a|b] acts while its part of the prompt is used
    # As WHOLE_RUN, but of two strengths the first is the denoiser's: SwarmUI, nodes of ComfyUI.
    DENOISER_FIRST = "denoiser_first"


class EmbeddingSpelling(StrEnum):
    """A way in which a prompt names an embedding (textual inversion)."""

    BARE = "bare"  # its name anywhere in the text, compared by tokens: A1111
    PREFIX = "prefix"  # embedding:name at the beginning of a word: ComfyUI
    TAG = "tag"  # <embed:name>: SwarmUI
    WORD = "word"  # the word in its file, as <cat-toy>; <cat-toy>_1 is its second vector: diffusers
    ANGLED = "angled"  # <name>: InvokeAI


class TextCleaning(StrEnum):
    """The clean-up of a text's characters before CLIP's tokenizer splits it into words."""

    NONE = "none"  # only CLIP's own rules, as in transformers' fast tokenizer
    FTFY = "ftfy"  # ftfy's repairs, e.g. of curly quotes; for OpenCLIP's encoders also HTML's
    BASIC = "basic"  # each Chinese character is a word, as in transformers 4 without ftfy


class Emphasis(StrEnum):
    """The effect of token weights on the text encoder's output."""

    ORIGINAL = "original"  # multiply the output by the weight, then restore the mean
    NO_NORM = "no_norm"  # multiply the output by the weight
    FROM_EMPTY = "from_empty"  # scale the difference from the empty prompt's output
    COMPEL = "compel"  # above 1 like from_empty, below 1 towards the prompt without the words
    NONE = "none"  # weights are parsed and have no effect
    LITERAL = "literal"  # weights are not parsed, their brackets are text: A1111's "None"


class Chunking(StrEnum):
    """The division of a prompt into chunks of CLIP's 75 positions."""

    COMMA = "comma"  # several chunks, each split after a comma in its last 20 tokens
    WORD = "word"  # several chunks; a weighted piece of fewer than 8 tokens is not split
    PLAIN = "plain"  # several chunks, split anywhere
    SENTENCE = "sentence"  # several chunks, split after a period, else a comma, else a word
    CUT = "cut"  # one chunk, padded by the checkpoint's tokenizer; the rest is dropped


class LengthMatching(StrEnum):
    """The padding of prompts that have unequal numbers of chunks to one batch."""

    EMPTY_CHUNKS = "empty_chunks"  # chunks of the empty prompt follow the shorter prompt
    REPEAT = "repeat"  # each prompt is repeated to the least common multiple of the lengths
    REPEAT_LAST = "repeat_last"  # the last token's vector of the shorter prompt is repeated


class InitialNoise(StrEnum):
    """The scale of the standard normal first noise, for a first noise level sigma."""

    SIGMA = "sigma"  # times sigma
    VARIANCE = "variance"  # times sqrt(1 + sigma^2) at the highest level, times sigma below it
    SCHEDULER = "scheduler"  # as the sampler's scheduler in diffusers scales it


class RandomSource(StrEnum):
    """The random number generator of PyTorch that draws the noise."""

    CPU = "cpu"  # mt19937
    CUDA = "cuda"  # Philox, as NVIDIA cards draw


class SdeNoise(StrEnum):
    """The noise that the SDE samplers add at each step."""

    BROWNIAN = "brownian"  # increments of torchsde's Brownian tree, drawn by `random_source`
    BROWNIAN_CUDA = "brownian_cuda"  # the same, drawn by CUDA's generator (ComfyUI's "_gpu")
    STREAM = "stream"  # the next values of the picture's generator


class StepSeed(StrEnum):
    """The seed of the generator that draws the noise of the steps."""

    CONTINUED = "continued"  # none: the generator of the first noise continues
    SAME = "same"  # a new generator with the picture's seed
    FLIPPED = "flipped"  # a new generator with the picture's seed, its low 32 bits flipped


class BatchSeeds(StrEnum):
    """The generators and seeds from which the pictures of a batch get their noise."""

    SUCCESSIVE = "successive"  # one generator per picture, with seeds n, n + 1, ...
    ONE_STREAM = "one_stream"  # one generator with seed n for all pictures in turn


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
