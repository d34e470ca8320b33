"""AUTOMATIC1111's "parameters" text: prompt, negative prompt, one line of `key: value` pairs.

The grammar follows `modules/infotext_utils.py`. The text cannot express every prompt (a line that
begins with "Negative prompt:", white space at the ends of lines); the record can.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice, pairwise

import msgspec

_NEGATIVE = "Negative prompt:"
# A last line with fewer pairs belongs to the prompt, which may contain a colon.
_MIN_PAIRS = 3
_TEMPLATES = ("Template:", "Negative Template:")
# More than any tool writes; pairs beyond this number are dropped.
_MAX_PAIRS = 10_000
# `\w[\w \-/]+` in the original. Possessive, because a value may be long and hostile.
_VALUE = re.compile(r'\s*("(?:\\.|[^\\"]++)++"|[^,]*)(?:,|$)')
# stable-diffusion.cpp ends the line with JSON that is not in quotes.
_SDCPP = ", SDCPP: {"
# Civitai's generator and its extension of A1111 write JSON without quotes under these keys.
_UNQUOTED = frozenset({"Hashes", "Civitai resources", "Civitai metadata"})
# A text in JSON, which an end of the line ends, too, or a bracket.
_JSON_MARK = re.compile(r'"(?:\\.|[^\\"]++)*+"?+|[\[\]{}]')


class Parameter(msgspec.Struct, frozen=True):
    """One pair of a key (two or more letters, digits, spaces, `_`, `-`, `/`) and any text."""

    key: str
    value: str


class Infotext(msgspec.Struct, frozen=True):
    """A parsed text; `parameters` has all pairs, unknown ones included, in their written order."""

    prompt: str
    negative_prompt: str = ""
    parameters: tuple[Parameter, ...] = ()

    def get(self, key: str) -> str | None:
        """Return the value of a key, the last one if the key is repeated."""
        values = (pair.value for pair in reversed(self.parameters) if pair.key == key)
        return next(values, None)


def number_text(value: float) -> str:
    """Return a number as Python writes it, a whole one without a point."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def format_infotext(info: Infotext) -> str:
    """Write the text as AUTOMATIC1111 does; values with punctuation are quoted as JSON."""
    lines = [info.prompt]
    if info.negative_prompt:
        lines.append(f"{_NEGATIVE} {info.negative_prompt}")
    if info.parameters:
        lines.append(", ".join(f"{pair.key}: {_quote(pair.value)}" for pair in info.parameters))
    return "\n".join(lines).strip()


def parse_infotext(text: str) -> Infotext:
    """Parse any text in linear time; a text without a line of pairs is all prompt."""
    *lines, last = text.strip().split("\n")
    parameters = tuple(islice(_pairs(last), _MAX_PAIRS))
    if len(parameters) < _MIN_PAIRS:
        lines.append(last)
        parameters = ()
    prompt: list[str] = []
    negative: list[str] = []
    current = prompt
    for line in lines:
        stripped = line.strip()
        if stripped.startswith(_NEGATIVE):
            current = negative
            stripped = stripped.removeprefix(_NEGATIVE).strip()
        current.append(stripped)
    return Infotext(_join(prompt), _join(negative), parameters)


def without_templates(text: str) -> str:
    """Return the text without "Template: " and what follows, which sd-dynamic-prompts appends.

    With them the line of pairs is no longer the last one, and AUTOMATIC1111 takes it for the
    prompt.
    """
    lines = text.split("\n")
    for before, (index, line) in pairwise(enumerate(lines)):
        if line.startswith(_TEMPLATES) and _begins_pairs(before[1]):
            return "\n".join(lines[:index])
    return text


def _begins_pairs(line: str) -> bool:
    return sum(1 for _ in islice(_pairs(line), _MIN_PAIRS)) == _MIN_PAIRS


def _join(lines: list[str]) -> str:
    return "\n".join(lines).lstrip("\n")


def _pairs(line: str) -> Iterator[Parameter]:
    line, marker, rest = line.partition(_SDCPP)
    position = 0
    unquoted = set(_UNQUOTED)
    while (found := _next_key(line, position)) is not None:
        key, after = found
        end = _json_end(line, after) if key in unquoted else after
        # Once for each key, so that the time is linear.
        unquoted.discard(key)
        match = _VALUE.match(line, end)
        assert match is not None, "a value may be empty and ends at a comma or the end"
        written = line[after:end].strip()
        yield Parameter(key, written or _unquote(match[1]))
        position = match.end()
    if marker:
        yield Parameter("SDCPP", "{" + rest)


def _json_end(line: str, start: int) -> int:
    """Return the end of the JSON array or object after `start`; `start` if there is none."""
    if line[start:].lstrip()[:1] not in ("[", "{"):
        return start
    depth = 0
    for mark in _JSON_MARK.finditer(line, start):
        depth += (mark[0] in "[{") - (mark[0] in "]}")
        if not depth:
            return mark.end()
    return start


def _next_key(line: str, position: int) -> tuple[str, int] | None:
    """Find the next key and the start of its value.

    Without a regular expression: the original's takes quadratic time on a long word without a
    colon.
    """
    while (colon := line.find(":", position)) >= 0:
        start = colon
        while start > position and _in_key(line[start - 1]):
            start -= 1
        key = line[start:colon].lstrip(" -/")
        if len(key) > 1:
            return key, colon + 1
        position = colon + 1
    return None


def _in_key(character: str) -> bool:
    return character.isalnum() or character in "_ -/"


def _quote(value: str) -> str:
    """Quote a value that the reader would otherwise cut, strip, unquote or drop."""
    plain = value and value == value.strip() and value[0] != '"'
    if plain and not any(character in value for character in ",:\n"):
        return value
    return json.dumps(value, ensure_ascii=False)


def _unquote(value: str) -> str:
    if not (value.startswith('"') and value.endswith('"')):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value
