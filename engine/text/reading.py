"""Parsing of a prompt by a convention's grammar into the texts to be encoded."""

from collections.abc import Callable
from functools import cache, partial

import msgspec

from engine.api.conventions import Convention
from engine.api.prompt_rules import Emphasis, PromptFeature, PromptGrammar
from engine.text.a1111 import parse_attention
from engine.text.comfy import parse_attention_comfy
from engine.text.compel import parse_compel
from engine.text.composition import ComposedText, split_composition
from engine.text.prompt import Mixture, PromptPart, WeightedText
from engine.text.tags import NetworkTag, named_networks
from engine.text.timeline import TimedText, schedule_prompt

# The prompt at one time of the run; the encodings of its mixtures are concatenated.
Passage = tuple[Mixture, ...]
# Splits a text into those that are used one after another.
Times = Callable[[str], tuple[TimedText, ...]]


class TimedPassage(msgspec.Struct, frozen=True):
    """A passage, and the last evaluation of the denoiser, counted from 0, that uses it."""

    until: int
    passage: Passage


class WeightedTimeline(msgspec.Struct, frozen=True):
    """The passages over the run of a prompt, or of a part between two `AND`, and its weight."""

    weight: float
    passages: tuple[TimedPassage, ...]


class PromptReading(msgspec.Struct, frozen=True):
    """A parsed prompt: at least one timeline, and the tags of the networks it names."""

    timelines: tuple[WeightedTimeline, ...]
    tags: tuple[NetworkTag, ...] = ()


def read_prompt(
    text: str,
    convention: Convention,
    steps: int,
    *,
    negative: bool = False,
    drawn: int | None = None,
) -> PromptReading:
    """Read a prompt by a convention's grammar.

    `steps` is the expected number of denoiser runs, `drawn` that of the pass before; see
    `schedule_prompt`. In A1111's negative
    prompts `AND` and tags of networks are plain text. Raises EngineError(REQUEST_INVALID) if the
    tool refuses the prompt.
    """
    match convention.grammar:
        case PromptGrammar.A1111:
            times = partial(schedule_prompt, steps=steps, drawn=drawn)
            if PromptFeature.CHANGES not in convention.prompt_features:
                times = partial(_at_all_times, steps)
            return _read_a1111(text, times, convention, negative=negative)
        case PromptGrammar.COMFY:
            named = named_networks(text, convention, negative=negative)
            passage = (Mixture((parse_attention_comfy(named.stripped),)),)
            return _unchanging(passage, steps, named.tags)
        case PromptGrammar.COMPEL:
            prompt = parse_compel(text)
            return _unchanging(prompt.parts, steps, prompt.tags)
        case PromptGrammar.LITERAL:
            named = named_networks(text, convention, negative=negative)
            return _unchanging((Mixture((_literal(named.stripped),)),), steps, named.tags)


def read_prompts(
    texts: tuple[str, str],
    convention: Convention,
    steps: int,
    *,
    guided: bool,
    drawn: int | None = None,
) -> tuple[PromptReading, PromptReading | None]:
    """Read a prompt and its negative prompt, which has an effect only if the picture is `guided`.

    `steps` and `drawn` are those of `read_prompt`. Raises EngineError as it does.
    """
    reading = read_prompt(texts[0], convention, steps, drawn=drawn)
    if not guided:
        return reading, None
    return reading, read_prompt(texts[1], convention, steps, negative=True, drawn=drawn)


def _unchanging(passage: Passage, steps: int, tags: tuple[NetworkTag, ...] = ()) -> PromptReading:
    return PromptReading((WeightedTimeline(1.0, (TimedPassage(steps, passage),)),), tags)


def _at_all_times(steps: int, text: str) -> tuple[TimedText, ...]:
    return (TimedText(steps, text),)


def _literal(text: str) -> tuple[PromptPart, ...]:
    return (WeightedText(text, 1.0),)


def _read_a1111(
    text: str, times: Times, convention: Convention, *, negative: bool
) -> PromptReading:
    features = convention.prompt_features
    named = named_networks(text, convention, negative=negative)
    text = named.stripped
    parts: tuple[ComposedText, ...] = (ComposedText(text, 1.0),)
    if PromptFeature.COMPOSITION in features and not negative:
        parts = split_composition(text)
    breaks = PromptFeature.BREAKS in features
    is_literal = convention.emphasis is Emphasis.LITERAL
    parse = cache(_literal if is_literal else partial(parse_attention, breaks=breaks))

    def timed(item: TimedText) -> TimedPassage:
        return TimedPassage(item.until, (Mixture((parse(item.text),)),))

    def timeline(part: ComposedText) -> WeightedTimeline:
        return WeightedTimeline(part.weight, tuple(map(timed, times(part.text))))

    return PromptReading(tuple(map(timeline, parts)), named.tags)
