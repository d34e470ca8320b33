r"""compel's prompt grammar, as InvokeAI and diffusers pipelines use it.

`word++`, `(several words)1.3` and `"quoted words"-` set weights, `("a", "b").and(1, 0.5)`
concatenates the encodings of several prompts, `("a", "b").blend(0.7, 0.3)` mixes them; `\( \) \"`
are literal. Everything else is text. Behaviour follows `compel/prompt_parser.py` of version 2,
oddities included; `compel_fragments` reads the inner fragments.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from engine.api.sentences import Sentence, sentence
from engine.errors import EngineError
from engine.text.compel_fragments import (
    NUMBER,
    OPTIONS,
    Fragments,
    Item,
    Swapped,
    Weighted,
)
from engine.text.prompt import EMPTY_PROMPT, Mixture, WeightedText, clamp_weight
from engine.text.prompt_errors import prompt_error
from engine.text.tags import NetworkTag

_COMMA = re.compile(r",(\S)")
_OPERATOR = re.compile(rf"\s*\.(and|add|blend)\s*\(\s*({OPTIONS})\s*\)")
_OPTION = re.compile(r"\s*([^,\s=]+)[^,]*,?")
_NUMBER = re.compile(NUMBER)
# Matches a whole run of backslashes from its first: starting at each would take quadratic time.
_ESCAPED = re.compile(r'(?<!\\)(\\++)(?=[()"])')
_NOT_NORMALIZED = "no_normalize"


class CompelPrompt(msgspec.Struct, frozen=True):
    """A prompt parsed by compel's grammar: at least one part, and the LoRAs it names.

    The encodings of the parts are concatenated.
    """

    parts: tuple[Mixture, ...]
    tags: tuple[NetworkTag, ...] = ()


class _Call(msgspec.Struct, frozen=True):
    """A parsed `(targets).operator(options)`, the start of its options and the end of the call."""

    targets: list[list[Item]]
    operator: str
    options: str
    options_start: int
    end: int


def parse_compel(text: str) -> CompelPrompt:
    """Read a prompt. Raises EngineError(REQUEST_INVALID) where compel refuses it.

    compel refuses shares or weights that are not numbers or not as many as the prompts, a swap
    inside a blend, and text after a blend.
    """
    # compel inserts a space after each comma, and its parser treats a tab as a space.
    spaced = _COMMA.sub(r", \1", text).replace("\t", " ")
    if not spaced.strip():
        return CompelPrompt((EMPTY_PROMPT,))
    reader = _Reader(text, Fragments(spaced))
    position = reader.fragments.skip_blank(0)
    call = reader.call(position)
    if call is not None and call.operator != "blend":
        # compel ignores what follows the call.
        return reader.conjunction(call)
    tags: list[NetworkTag] = []
    position = reader.loras(position, tags)
    call = reader.call(position)
    if call is None or call.operator != "blend":
        phrase = _phrase(reader.fragments.prompt(position), tags)
        part = Mixture((phrase,)) if phrase else EMPTY_PROMPT
        return CompelPrompt((part,), tuple(tags))
    part = reader.blend(call, tags)
    end = reader.loras(reader.fragments.skip_blank(call.end), tags)
    if end < len(spaced):
        raise reader.error(
            end,
            sentence("nothing can follow .blend()"),
            sentence("Put all of the prompt into the blend."),
        )
    return CompelPrompt((part,), tuple(tags))


class _Reader(msgspec.Struct, frozen=True):
    """A reader of the forms that stand only at a prompt's start: LoRAs, `.and()`, `.blend()`.

    `original` is the unchanged text, which messages quote.
    """

    original: str
    fragments: Fragments

    def loras(self, position: int, tags: list[NetworkTag]) -> int:
        """Append LoRAs that stand alone at this position to `tags`; return the end position."""
        while (found := self.fragments.lora(position)) is not None:
            tags.extend(item for item in found.items if isinstance(item, NetworkTag))
            position = self.fragments.skip_blank(found.end)
        return position

    def call(self, position: int) -> _Call | None:
        """Read prompts in brackets with an operator after them; None if there are none here."""
        fragments, text = self.fragments, self.fragments.text
        if text[position : position + 1] != "(":
            return None
        targets: list[list[Item]] = []
        separator = ","
        while separator == ",":
            position = fragments.skip_blank(position + 1)
            found = fragments.target(position) or fragments.quoted(position, loosely=True)
            if found is None:
                return None
            targets.append(found.items)
            position = fragments.skip_blank(found.end)
            separator = text[position : position + 1]
        operator = _OPERATOR.match(text, position + 1) if separator == ")" else None
        if operator is None:
            return None
        return _Call(targets, operator[1], operator[2], operator.start(2), operator.end())

    def conjunction(self, call: _Call) -> CompelPrompt:
        """Read prompts whose encodings are concatenated."""
        weights = self._numbers(call, call.options)
        tags: list[NetworkTag] = []
        parts = [
            Mixture((phrase,), weight=weight)
            for target, weight in zip(call.targets, weights, strict=True)
            if (phrase := _phrase(target, tags))
        ]
        return CompelPrompt(tuple(parts) or (EMPTY_PROMPT,), tuple(tags))

    def blend(self, call: _Call, tags: list[NetworkTag]) -> Mixture:
        """Read a mixture of prompts."""
        options, _, last = call.options.rpartition(",")
        named = last.partition("=")[0].strip() == _NOT_NORMALIZED
        shares = self._numbers(call, options if named else call.options)
        phrases = tuple(_phrase(target, tags) for target in call.targets)
        if not all(phrases) or any(_swaps(target) for target in call.targets):
            raise self.error(
                call.options_start,
                sentence("a blend holds a swap or nothing"),
                sentence("Take that out of the blend."),
            )
        return Mixture(phrases, shares, normalized=not named)

    def _numbers(self, call: _Call, options: str) -> tuple[float, ...]:
        """Return an operator's numbers, one per prompt; 1 for each if no numbers are given."""
        numbers: list[float] = []
        for option in _OPTION.finditer(options):
            if not _NUMBER.fullmatch(option[1]) or "=" in option[0]:
                place = call.options_start + option.start(1)
                raise self.error(
                    place,
                    sentence(".{operator}() takes numbers alone", operator=call.operator),
                    sentence("Write a number here."),
                )
            numbers.append(clamp_weight(float(option[1])))
        wanted = len(call.targets)
        if numbers and len(numbers) != wanted:
            problem = sentence(
                ".{operator}() has {numbers:,} numbers for {prompts:,} prompts",
                operator=call.operator,
                numbers=len(numbers),
                prompts=wanted,
            )
            raise self.error(call.options_start, problem, sentence("Give each prompt one number."))
        return tuple(numbers) or (1.0,) * wanted

    def error(self, position: int, problem: Sentence, hint: Sentence) -> EngineError:
        """Return an error that marks the original character of a position in the spaced text."""
        inserted = 0
        for count, comma in enumerate(_COMMA.finditer(self.original)):
            if comma.start(1) + count >= position:
                break
            inserted += 1
        return prompt_error(self.original, position - inserted, problem, hint)


def _leaves(items: Sequence[Item]) -> Iterator[tuple[Item, float, bool]]:
    """Yield texts, tags and swap boundaries in order as (item, weight, is_boundary).

    An empty text marks either end of a swap, so that text inside never joins text outside.
    """
    stack: list[tuple[Iterator[Item], float]] = [(iter(items), 1.0)]
    fences: list[int] = []
    while stack:
        inner, weight = stack[-1]
        item = next(inner, None)
        if item is None:
            stack.pop()
            if fences and len(stack) == fences[-1]:
                fences.pop()
                yield "", weight, True
        elif isinstance(item, Weighted):
            stack.append((iter(item.items), clamp_weight(weight * item.weight)))
        elif isinstance(item, Swapped):
            yield "", weight, True
            fences.append(len(stack))
            stack.append((iter(item.items), weight))
        else:
            yield item, weight, False


def _phrase(items: Sequence[Item], tags: list[NetworkTag]) -> tuple[WeightedText, ...]:
    """Return the texts, neighbours of equal weight joined; append LoRAs to `tags`."""
    runs: list[tuple[list[str], float]] = []
    fenced = True
    for item, weight, is_fence in _leaves(items):
        if is_fence:
            fenced = True
        elif isinstance(item, str):
            if fenced or runs[-1][1] != weight:
                runs.append(([], weight))
            runs[-1][0].append(item)
            fenced = False
        elif isinstance(item, NetworkTag):
            tags.append(item)
    return tuple(WeightedText(_joined(words), weight) for words, weight in runs)


def _joined(words: Sequence[str]) -> str:
    r"""Join words with spaces; compel removes one `\` each time it makes a fragment of them."""
    count = len(words)
    if not any("\\" in word for word in words):
        return " ".join(words)
    times = [2 + count - max(place, 1) if count > 1 else 2 for place in range(count)]
    return " ".join(
        _ESCAPED.sub(lambda slashes, n=n: slashes[1][n:], word)
        for word, n in zip(words, times, strict=True)
    )


def _swaps(items: Sequence[Item]) -> bool:
    return any(is_fence for _, _, is_fence in _leaves(items))
