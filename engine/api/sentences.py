"""Sentences for people as values: the English text with named places, and what stands in them.

The engine says things in English; the window translates the text, then fills the places in the way
of its language. A value may be a sentence itself, such as the reason of a failure.
"""

import re
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

import msgspec

Value: TypeAlias = "str | int | float | Sentence"
# {name}, {name!r}, {name:,}, {name:.1f} and {name:g}; of str.format no more, as sentences are also
# read from files that others made, and its other places reach into objects or ask for any amount of
# memory.
_PLACE = re.compile(r"\{\{|\}\}|\{(?P<name>\w+)(?P<quoted>!r)?(?::(?P<form>,?(?:\.\d)?[fg]?))?\}")
# Sentences within sentences beyond these are left out.
_MOST_DEEP = 8


class Sentence(msgspec.Struct, frozen=True):
    """An English text with places, and their values by name.

    Places are written as for `str.format`: {name}, {name!r} for quotes, {name:,}, {name:.1f} and
    {name:g} for numbers; doubled braces are braces.
    """

    template: str
    values: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        """Return the sentence in English."""
        return filled(self)

    def __format__(self, form: str) -> str:
        """Return the sentence in English, in the form of a string's format."""
        return format(str(self), form)


# The sentence that says nothing.
NO_WORDS = Sentence("")
# A text that is a string was written by an earlier version, and is shown as it is.
Text: TypeAlias = str | Sentence


class _Told(Protocol):
    @property
    def text(self) -> Text: ...

    @property
    def advice(self) -> Text: ...


class InEnglish:
    """A failure or other news, told by `text` and `advice`, in English: for logs and terminals."""

    __slots__ = ()

    @property
    def message(self: _Told) -> str:
        """The message in English."""
        return str(self.text)

    @property
    def hint(self: _Told) -> str:
        """The hint in English; may be empty."""
        return str(self.advice)


def sentence(template: str, **values: object) -> Sentence:
    """Return a sentence; the catalogues of languages are made from the calls of this function.

    `template` is written out where it is called. Values that are no numbers or sentences are kept
    as their texts.
    """
    return Sentence(template, tuple((name, _value(value)) for name, value in values.items()))


def completed(text: Sentence, **values: object) -> Sentence:
    """Return a sentence of a table with the values of its places."""
    return Sentence(text.template, tuple((name, _value(value)) for name, value in values.items()))


def joined(texts: Iterable[Text], between: str = "; ") -> Sentence:
    """Return texts as one; the signs `between` them are the same in every language."""
    values = tuple((f"text_{number}", text) for number, text in enumerate(texts))
    return Sentence(between.join(f"{{{name}}}" for name, _ in values), values)


def as_it_is(text: str) -> Sentence:
    """Return a text that another program or library wrote, which no catalogue can have."""
    return Sentence("{text}", (("text", text),)) if text else NO_WORDS


def filled(
    text: Sentence,
    translated: Callable[[str], str] = str,
    shown: Callable[[int | float, str], str] = format,
    depth: int = 0,
) -> str:
    """Return a sentence with its places filled: the template through `translated`, numbers `shown`.

    `shown` takes a number and its format, such as ",". A place without a value stays as it is.
    """
    values = dict(text.values)

    def fill(place: re.Match[str]) -> str:
        name = place["name"]
        if name is None:
            return place[0][0]
        if name not in values:
            return place[0]
        value = values[name]
        if isinstance(value, Sentence):
            return filled(value, translated, shown, depth + 1) if depth < _MOST_DEEP else ""
        if isinstance(value, str):
            return repr(value) if place["quoted"] else value
        return shown(value, place["form"] or "")

    return _PLACE.sub(fill, translated(text.template))


def _value(value: object) -> Value:
    return value if isinstance(value, int | float | Sentence) else str(value)
