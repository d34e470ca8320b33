"""The names of picture files: patterns whose placeholders stand for facts of a picture.

Pure, so that the window can show what a pattern gives while it is typed.
"""

import os
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from pathlib import PureWindowsPath

import msgspec

COUNTER = "counter"
# Bytes of UTF-8. Names stay short of every limit even in a deep folder on Windows.
_SLUG_BYTES = 60
_STEM_BYTES = 140
_ALWAYS_KNOWN = ("seed", COUNTER)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# A placeholder without a value takes the separators before it along.
_NOTHING = "\0"
_SEPARATORS = " -_.,+"
# Marks that choose how an emoji looks.
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_FORBIDDEN = re.compile(r'[<>:"/\\|?*]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


class PictureFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a picture that its name may tell; what is unknown has no value.

    `made` is in the user's time zone.
    """

    seed: int
    prompt: str = ""
    checkpoint: str = ""
    sampler: str = ""
    steps: int | None = None
    guidance: float | None = None
    width: int | None = None
    height: int | None = None
    made: datetime | None = None


# The facts as they stand in names, in the order in which they are explained.
PLACEHOLDERS: dict[str, Callable[[PictureFacts, int], str]] = {
    COUNTER: lambda facts, counter: f"{counter:05d}",
    "seed": lambda facts, counter: str(facts.seed),
    "prompt": lambda facts, counter: slug(facts.prompt),
    "model": lambda facts, counter: _model(facts.checkpoint),
    "sampler": lambda facts, counter: facts.sampler,
    "steps": lambda facts, counter: _number(facts.steps),
    "guidance": lambda facts, counter: _number(facts.guidance),
    "width": lambda facts, counter: _number(facts.width),
    "height": lambda facts, counter: _number(facts.height),
    "date": lambda facts, counter: f"{facts.made:%Y-%m-%d}" if facts.made else "",
    "time": lambda facts, counter: f"{facts.made:%H-%M-%S}" if facts.made else "",
}


def has_counter(pattern: str) -> bool:
    """Return True if every picture of a folder gets a number of its own by this pattern."""
    return COUNTER in _PLACEHOLDER.findall(pattern)


def unknown_placeholders(pattern: str) -> tuple[str, ...]:
    """Return the words in braces that stand for nothing, in order."""
    named = dict.fromkeys(_PLACEHOLDER.findall(pattern))
    return tuple(name for name in named if name not in PLACEHOLDERS)


def stem_of(pattern: str, facts: PictureFacts, counter: int) -> str:
    """Return a picture's name without a suffix, which every system accepts.

    Placeholders without a value, and those that are unknown, leave no separator behind.
    """

    def word(found: re.Match[str]) -> str:
        known = PLACEHOLDERS.get(found[1])
        return (known(facts, counter) if known else "") or _NOTHING

    raw = _PLACEHOLDER.sub(word, pattern.replace(_NOTHING, ""))
    raw = re.sub(rf"[{re.escape(_SEPARATORS)}]*{_NOTHING}", "", raw)
    text = _allowed(raw)
    # A dot at the beginning hides a file; Windows drops spaces and dots at the end.
    text = _first_bytes(text.lstrip(_SEPARATORS), _STEM_BYTES).rstrip(_SEPARATORS)
    if not text:
        return str(facts.seed)
    return f"_{text}" if _RESERVED.match(text) else text


def counter_of(pattern: str, name: str) -> int:
    """Return the counter in a file name that was made by this pattern, or 0."""
    # Some systems take letters and their marks apart in names.
    match = _counter_expression(_composed(pattern)).match(_composed(name))
    return int(match[1]) if match else 0


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def slug(prompt: str) -> str:
    """Return the first words of a prompt in letters and digits of any script, joined by hyphens."""
    # Composed, as macOS and Windows compare and show names; a prompt may be a million characters.
    text = unicodedata.normalize("NFKC", prompt[:200]).casefold()
    words = ""
    for word in _words(text):
        longer = f"{words}-{word}" if words else word
        if len(longer.encode()) > _SLUG_BYTES:
            # Some scripts have no spaces between words.
            return words or _first_bytes(word, _SLUG_BYTES)
        words = longer
    return words


def _words(text: str) -> list[str]:
    """Return the words of a text: digits, and letters with marks, as some scripts have vowels."""
    kept = " "
    for sign in text:
        is_mark = unicodedata.category(sign) in ("Mn", "Mc") and sign not in _SELECTORS
        kept += sign if sign.isalnum() or (is_mark and kept[-1] != " ") else " "
    return kept.split()


def _counter_expression(pattern: str) -> re.Pattern[str]:
    before, _, after = pattern.partition(f"{{{COUNTER}}}")
    # Literal text and the names of placeholders take turns.
    *pairs, last = _PLACEHOLDER.split(before)
    expression = "".join(
        _value_expression(text, name) for text, name in zip(pairs[::2], pairs[1::2], strict=True)
    )
    # A value beside it may have digits, too: then only the five that a counter has at least count.
    follows, leads = bool(pairs) and not last, after.startswith("{")
    digits = r"\d{5}" if follows or leads else r"\d{5,12}"
    # Without a sign after it, digits may belong to a name of another program.
    sign = re.escape(_allowed(after)[:1] or ".")
    if leads:
        sign = r"\D" if follows else "."
    counter = rf"({digits})(?:{sign}|\.[^.]*$)"
    return re.compile(expression + _text_expression(last) + counter, re.ASCII | re.DOTALL)


def _value_expression(text: str, name: str) -> str:
    """Return what finds a text and the value after it, which may lack with its separators."""
    kept = text.rstrip(_SEPARATORS)
    value = f"{_text_expression(text[len(kept) :])}.+?"
    return _text_expression(kept) + (value if name in _ALWAYS_KNOWN else f"(?:{value})?")


def _text_expression(text: str) -> str:
    """Return what finds a pattern's text in a name, whose first separators are left out."""
    parts = re.split(rf"([{re.escape(_SEPARATORS)}]+)", _allowed(text))
    return "".join(
        f"(?:{re.escape(part)}|^)" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    )


def _allowed(text: str) -> str:
    """Return a text with the signs that names may have."""
    return "".join(letter for letter in _FORBIDDEN.sub("-", text) if letter.isprintable())


def _model(checkpoint: str) -> str:
    # Reads both kinds of separators.
    name = PureWindowsPath(checkpoint).name
    stem, _ = os.path.splitext(name)  # noqa: PTH122 (a name, not a path)
    return _first_bytes("-".join(re.findall(r"[\w.]+", stem)), _SLUG_BYTES)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _first_bytes(text: str, length: int) -> str:
    """Return the longest beginning of a text that takes at most `length` bytes."""
    return text.encode("utf-8", "ignore")[:length].decode("utf-8", "ignore")
