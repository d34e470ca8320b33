"""Hints about a prompt while it is being written. They do not stop a job."""

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from engine.api.prompt_rules import PromptGrammar

# Brackets that open and close, by grammar.
_PAIRS = {
    PromptGrammar.A1111: "()[]",
    PromptGrammar.COMFY: "()",
    PromptGrammar.COMPEL: "()",
    PromptGrammar.LITERAL: "",
}
_MARK = re.compile(r'\\.|[()\[\]"]', re.DOTALL)
_MOST = 20
# The number of characters to search; the hints must not slow down typing.
_LOOKED_AT = 65_536


class PromptHint(msgspec.Struct, frozen=True):
    """A probable mistake at a character counted from 0."""

    position: int
    message: str


def bracket_hints(text: str, grammar: PromptGrammar) -> tuple[PromptHint, ...]:
    """Return brackets and quotes without a counterpart, in order, at most 20.

    Takes any text; only the first 65,536 characters are looked at.
    """
    hints = (
        PromptHint(position, f"“{text[position]}” at character {position + 1} has no counterpart.")
        for position in sorted(_unpaired(text[:_LOOKED_AT], grammar))
    )
    return tuple(islice(hints, _MOST))


def _unpaired(text: str, grammar: PromptGrammar) -> Iterator[int]:
    pairs = _PAIRS[grammar]
    # Round and square brackets may cross each other.
    opened: dict[str, list[int]] = {bracket: [] for bracket in pairs[::2]}
    quotes: list[int] = []
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark == '"':
            quotes.append(match.start())
        elif mark in pairs:
            kind = pairs.index(mark)
            stack = opened[pairs[kind - kind % 2]]
            if kind % 2 == 0:
                stack.append(match.start())
            elif stack:
                stack.pop()
            else:
                yield match.start()
    for stack in opened.values():
        yield from stack
    if grammar is PromptGrammar.COMPEL and len(quotes) % 2:
        yield quotes[-1]
