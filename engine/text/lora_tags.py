"""The LoRAs that a prompt names by tags: `<lora:name:0.8>`.

The tag is AUTOMATIC1111's: `<lora:name:te:unet:dyn>` or with `te=`, `unet=` and `dyn=`
(`extensions-builtin/Lora/extra_networks_lora.py` of version 1.10.1); `lyco` and `loractl` are other
names for it. SwarmUI has the strength of the denoiser first. Extensions of A1111 add strengths that
change over the steps (`engine.text.lora_strengths`), and `lbw=`, `lbwe=`, `start=`, `stop=` and
`step=` of sd-webui-lora-block-weight (`engine.text.lora_blocks`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random

import msgspec

from engine.api.conventions import Convention
from engine.api.lora import MAX_LORAS
from engine.api.prompt_rules import NetworkTags, PromptFeature, PromptGrammar
from engine.api.sentences import NO_WORDS, Sentence, sentence
from engine.text.compel import parse_compel
from engine.text.lora_blocks import BlockWeights, block_weights, is_block_text, with_elements
from engine.text.lora_presets import BUILT_IN, BlockPresets
from engine.text.lora_strengths import (
    RunLength,
    StrengthError,
    Strengths,
    at_each_evaluation,
    same_as_one,
    strengths_over,
)
from engine.text.prompt_errors import prompt_error
from engine.text.tag_times import evaluations_of_tags
from engine.text.tags import NetworkTag, named_networks

LORA_KINDS = frozenset({"lora", "lyco", "loractl"})
_HYPERNETWORK = "hypernet"
# A colon within brackets belongs to a strength that changes.
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_MOST_REMARKS = 20
_ENLARGED = ("hr", "hrte", "hrunet")
# The extension's times count a step once it is over; see `engine.text.lora_strengths`.
_FROM_THE_START = 1


class LoraUse(msgspec.Struct, frozen=True):
    """A LoRA that a prompt names, and its strengths.

    `strengths` are those of the denoiser: one for the whole run, or one for each evaluation.
    `rank`: only that many of the ranks count, None for all.
    """

    name: str
    strengths: Strengths = (1.0,)
    text_strength: float = 1.0
    blocks: BlockWeights | None = None
    rank: int | None = None

    @property
    def is_constant(self) -> bool:
        """True if the strength is the same throughout the run."""
        return len(self.strengths) == 1


class LoraTags(msgspec.Struct, frozen=True):
    """The LoRAs of a prompt in order, and remarks: what of the prompt has no effect, and why.

    A remark is a pair of sentences, the second of which may be empty.
    """

    uses: tuple[LoraUse, ...] = ()
    remarks: tuple[tuple[Sentence, Sentence], ...] = ()


def lora_tags(
    prompt: str,
    convention: Convention,
    run: RunLength,
    presets: BlockPresets = BUILT_IN,
    seed: int = 0,
) -> LoraTags:
    """Return the LoRAs that a prompt names, by a convention's grammar.

    `presets` are the named weights by block. Weights that are drawn at random follow from `seed`;
    the extension's own follow from nothing, so that no picture of its can be made again.
    Raises EngineError(REQUEST_INVALID) for more than `MAX_LORAS`, and if the tool refuses the
    prompt.
    """
    text, tags = _tags(prompt, convention)
    mine = [tag for tag in tags if tag.kind in LORA_KINDS]
    if len(mine) > MAX_LORAS:
        problem = sentence("it names more than {most} LoRAs", most=MAX_LORAS)
        raise prompt_error(text, mine[MAX_LORAS].start, problem, sentence("Leave some out."))
    remarks = [_other_network(kind, name) for kind, name in _others(tags)]
    random = Random(seed)
    named: list[tuple[NetworkTag, LoraUse]] = []
    for tag in mine:
        reader = _TagReader(tag, convention, run, presets, random)
        use = reader.read()
        remarks += reader.remarks
        if use is not None:
            named.append((tag, use))
    times = _times(text, [tag.start for tag, _ in named], convention, run)
    if convention.network_tags is NetworkTags.TIMED:
        uses = tuple(_timed(named, times, run))
    else:
        uses, repeated = _as_repeated([use for _, use in named])
        remarks += [*repeated, *(_acts_throughout(use) for tag, use in named if tag.start in times)]
    return LoraTags(uses, tuple(islice(dict.fromkeys(remarks), _MOST_REMARKS)))


def _times(
    text: str, starts: Sequence[int], convention: Convention, run: RunLength
) -> Mapping[int, frozenset[int]]:
    """Return the evaluations at which tags within `[a:b:8]` or `[a|b]` are used, by their start."""
    changes = PromptFeature.CHANGES in convention.prompt_features
    if not starts or "[" not in text or convention.grammar is not PromptGrammar.A1111:
        return {}
    return evaluations_of_tags(text, starts, run) if changes else {}


def _acts_throughout(use: LoraUse) -> tuple[Sentence, Sentence]:
    shown = use.name[:80]
    return (
        sentence(
            "The LoRA {name} acts from the first step to the last, as in AUTOMATIC1111.", name=shown
        ),
        sentence(
            "<lora:{name}:[1:0:0.5]> is a strength that changes; a tag in brackets is not.",
            name=shown,
        ),
    )


def _tags(prompt: str, convention: Convention) -> tuple[str, tuple[NetworkTag, ...]]:
    """Return the tags of a prompt, and the text that their places refer to."""
    if convention.grammar is PromptGrammar.COMPEL:
        return prompt, parse_compel(prompt).tags
    named = named_networks(prompt, convention)
    return named.text, named.tags


class _TagReader:
    """Reads one tag; `remarks` tells of arguments without effect."""

    def __init__(
        self,
        tag: NetworkTag,
        convention: Convention,
        run: RunLength,
        presets: BlockPresets,
        random: Random,
    ) -> None:
        name, *arguments = _split(":".join(tag.arguments))
        self._name = name.strip()
        self._plain, self._named = _sorted(arguments)
        self._denoiser_first = convention.network_tags is NetworkTags.DENOISER_FIRST
        self._run = run
        self._presets, self._random = presets, random
        self._tag = f"<{tag.kind}:{self._name[:80]}>"
        self.remarks: list[tuple[Sentence, Sentence]] = []

    def read(self) -> LoraUse | None:
        """Return the LoRA; None, with a remark, if an argument is no number."""
        blocks = self._blocks()
        try:
            denoiser, text = self._strengths()
            denoiser = self._within(denoiser)
        except StrengthError as error:
            text = sentence(
                "{tag} in the prompt: the picture is made without it: {why}.",
                tag=self._tag,
                why=error.reason,
            )
            self.remarks.append((text, NO_WORDS))
            return None
        for name in _ENLARGED:
            if name in self._named:
                self._remark(f"{name}=", sentence("no picture is enlarged within its run"))
        return LoraUse(self._name, denoiser, text[0], blocks, self._rank())

    def _strengths(self) -> tuple[Strengths, Strengths]:
        """Return the strengths for the denoiser and for the text encoders."""
        plain = [strengths_over(text, self._run) for text in self._plain[:2]]
        first = plain[0] if plain else (1.0,)
        second = plain[1] if len(plain) > 1 else None
        if self._denoiser_first:
            denoiser, text = first, second or first
            return self._given("unet", denoiser), self._given("te", text)
        text = self._given("te", first)
        return self._given("unet", second or text), text

    def _given(self, name: str, otherwise: Strengths) -> Strengths:
        return strengths_over(self._named[name], self._run) if name in self._named else otherwise

    def _blocks(self) -> BlockWeights | None:
        """Return the weights by block; removes a list in place of the second strength."""
        name = self._named.get("lbwe")
        if name is None and len(self._plain) > 2 and self._plain[2] in self._presets.elements:
            name = self._plain.pop(2)
        blocks = self._listed()
        if name is None:
            return blocks
        found = with_elements(blocks, name.strip(), self._presets)
        if isinstance(found, BlockWeights):
            return found
        self._remark("lbwe=", found)
        return blocks

    def _listed(self) -> BlockWeights | None:
        text = self._named.get("lbw", self._named.get("w"))
        is_listed = len(self._plain) > 1 and is_block_text(self._plain[1], self._presets)
        if text is None and is_listed:
            text = self._plain.pop(1)
        if text is None:
            return None
        try:
            inherited = float(self._named.get("x", "1"))
        except ValueError:
            inherited = 1.0
        blocks = block_weights(text.strip(), inherited, self._presets, self._random)
        if isinstance(blocks, BlockWeights):
            return blocks
        self._remark("lbw=", blocks)
        return None

    def _within(self, strengths: Strengths) -> Strengths:
        """Return the strengths between `start=` and `stop=`, and 0 outside."""
        start, stop = self._named.get("start"), self._named.get("stop")
        if "-" in (both := self._named.get("step", "")):
            start, _, stop = both.partition("-")
        if start is None and stop is None:
            return strengths
        first, end = self._step(start, 0), self._step(stop, self._run.steps)
        # Step 1 is the start, too.
        first, end = (0 if share <= _FROM_THE_START else share for share in (first, end))
        every = at_each_evaluation(strengths, self._run)
        size = self._run.evaluations_per_step
        return same_as_one(
            tuple(strength if first <= e // size < end else 0.0 for e, strength in enumerate(every))
        )

    def _step(self, text: str | None, otherwise: int) -> int:
        """Return a number of steps; one between 0 and 1 is a fraction of them, at least a step."""
        if text is None:
            return otherwise
        try:
            number = float(text)
            return max(1, round(number * self._run.steps)) if 0 < number < 1 else int(number)
        except (ValueError, OverflowError):
            reason = sentence("{text!r} is no number of steps", text=text.strip()[:40])
            raise StrengthError(reason) from None

    def _rank(self) -> int | None:
        text = self._named.get("dyn", self._plain[2] if len(self._plain) > 2 else None)
        if text is None:
            return None
        if not text.strip().isdecimal():
            why = sentence("{text!r} is no number of ranks", text=text.strip()[:40])
            self._remark("dyn=", why)
            return None
        return int(text)

    def _remark(self, part: str, why: Sentence) -> None:
        text = sentence("{part} in {tag} has no effect: {why}.", part=part, tag=self._tag, why=why)
        self.remarks.append((text, NO_WORDS))


def _split(text: str) -> list[str]:
    """Split a tag's arguments at the colons outside of brackets."""
    kept = _BRACKETS.sub(lambda found: found[0].replace(":", "\0"), text)
    return [part.replace("\0", ":") for part in kept.split(":")]


def _sorted(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the plain arguments, and those of the form name=value."""
    plain: list[str] = []
    named: dict[str, str] = {}
    for argument in arguments:
        name, *value = argument.split("=", 2)
        if len(value) == 1:
            named[name.strip()] = value[0]
        else:
            plain.append(argument)
    return plain, named


def _others(tags: Sequence[NetworkTag]) -> Iterator[tuple[str, str]]:
    yield from dict.fromkeys((tag.kind, tag.name) for tag in tags if tag.kind not in LORA_KINDS)


def _other_network(kind: str, name: str) -> tuple[Sentence, Sentence]:
    if kind == _HYPERNETWORK:
        return (
            sentence("The hypernetwork {name} in the prompt was left out.", name=name),
            sentence(
                "A hypernetwork adds layers to the attention that no LoRA has; this program has "
                "none."
            ),
        )
    return (
        sentence("<{kind}:{name}> in the prompt had no effect.", kind=kind, name=name),
        sentence("No network of this kind is known."),
    )


def _strength_of(count: int, *, first: bool) -> Sentence:
    if first:
        return sentence(
            "As in AUTOMATIC1111 it acts {count} times, each time with the strength of the first "
            "tag.",
            count=count,
        )
    return sentence(
        "As in AUTOMATIC1111 it acts {count} times, each time with the strength of the last tag.",
        count=count,
    )


def _as_repeated(
    uses: Sequence[LoraUse],
) -> tuple[tuple[LoraUse, ...], list[tuple[Sentence, Sentence]]]:
    """Return the LoRAs as A1111 applies those that are named more than once.

    It adds such a LoRA once for each tag, each time with the strengths of the last tag
    (`networks.load_networks`); where a strength changes over the steps, with those of the first
    (loractl's `LoraCtlNetwork`).
    """
    counts = Counter(use.name for use in uses)
    deciding: dict[str, LoraUse] = {}
    changing = {use.name for use in uses if not use.is_constant}
    for use in uses:
        if use.name not in changing or use.name not in deciding:
            deciding[use.name] = use
    remarks = [
        (
            sentence(
                "The prompt names the LoRA {name} {count} times.", name=name[:80], count=count
            ),
            _strength_of(count, first=name in changing),
        )
        for name, count in counts.items()
        if count > 1
    ]
    return tuple(deciding[use.name] for use in uses), remarks


def _timed(
    named: Sequence[tuple[NetworkTag, LoraUse]],
    times: Mapping[int, frozenset[int]],
    run: RunLength,
) -> Iterator[LoraUse]:
    """Yield the LoRAs with strength 0 where the part of the prompt with their tag is not in use.

    The text encoders run before the first step, with the LoRAs that act there.
    """
    for tag, use in named:
        own = times.get(tag.start)
        if own is None:
            yield use
            continue
        every = enumerate(at_each_evaluation(use.strengths, run))
        strengths = same_as_one(tuple(strength if e in own else 0.0 for e, strength in every))
        text_strength = use.text_strength if 0 in own else 0.0
        yield msgspec.structs.replace(use, strengths=strengths, text_strength=text_strength)
