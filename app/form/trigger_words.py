"""Trigger words of a LoRA in a prompt: a word or phrase between commas or at the ends of lines."""

import re

_BETWEEN = ", "


def has_words(prompt: str, words: str) -> bool:
    """Return True if the prompt has these words, in upper or lower case."""
    return _pattern(words).search(prompt) is not None


def with_words(prompt: str, words: str) -> str:
    """Return the prompt with the words at its end, after a comma."""
    before = prompt.rstrip()
    if not before:
        return words
    return f"{before} {words}" if before.endswith(",") else f"{before}{_BETWEEN}{words}"


def without_words(prompt: str, words: str) -> str:
    """Return the prompt without the words, and without a comma that has lost its neighbour."""
    if not words.strip():
        return prompt
    phrase = _pattern(words).pattern
    found = re.compile(
        rf"[ \t]*(?P<before>,)?[ \t]*{phrase}[ \t]*(?P<after>,)?[ \t]*", re.IGNORECASE
    )
    # One by one: of two neighbours the second is at the beginning only without the first.
    while match := found.search(prompt):
        is_at_end = match.start() == 0 or match.end() == len(prompt)
        between = _BETWEEN if match["before"] or match["after"] else " "
        gap = "" if is_at_end else between
        prompt = f"{prompt[: match.start()]}{gap}{prompt[match.end() :]}"
    return prompt


def _pattern(words: str) -> re.Pattern[str]:
    phrase = r"\s+".join(re.escape(part) for part in words.split())
    return re.compile(rf"(?<!\w){phrase}(?!\w)", re.IGNORECASE)
