"""Embeddings in a prompt: their names are found, and written as a convention spells them."""

import re
from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import normalize

from app.form.prompt_weights import WeightEdit, set_weight, weighted_range
from engine.api.conventions import Convention
from engine.api.folded import folded
from engine.api.prompt_rules import EmbeddingSpelling

# The ways to write an embedding's name in a prompt.
SPELLINGS = {
    EmbeddingSpelling.BARE: "{}",
    EmbeddingSpelling.PREFIX: "embedding:{}",
    EmbeddingSpelling.TAG: "<embed:{}>",
    EmbeddingSpelling.WORD: "<{}>",
    EmbeddingSpelling.ANGLED: "<{}>",
}
# The names that a prompt can have in these ways; in the others any.
_NAMES = {
    EmbeddingSpelling.PREFIX: re.compile(r"[^\s<\[]+"),
    EmbeddingSpelling.TAG: re.compile(r"[^\s<\[>]+"),
    EmbeddingSpelling.ANGLED: re.compile(r"[a-zA-Z0-9., _-]+"),
    EmbeddingSpelling.WORD: re.compile(r"[^<>\s]+"),
}
_SUFFIX = r"(?:\.(?:safetensors|pt|bin))?"
# The ends of a name: what else a word may consist of.
_PATTERNS = {
    EmbeddingSpelling.BARE: r"(?<![\w.-]){}(?![\w-])",
    EmbeddingSpelling.PREFIX: rf"(?<![^\s(\[])embedding:{{}}{_SUFFIX}(?![\w-])",
    EmbeddingSpelling.TAG: rf"<embed(?:ding)?:\s*{{}}{_SUFFIX}\s*>",
    EmbeddingSpelling.WORD: r"<{}>",
    EmbeddingSpelling.ANGLED: r"<{}>",
}


class Mention(NamedTuple):
    """An embedding's name in a text, as it is spelled there, from `start` to `end`."""

    name: str
    start: int
    end: int


def spelled(name: str, convention: Convention) -> str:
    """Return the text that names an embedding in prompts of a convention; empty if none can."""
    for spelling in convention.embedding_spellings:
        pattern = _NAMES.get(spelling)
        if pattern is None or pattern.fullmatch(name):
            return SPELLINGS[spelling].format(name)
    return ""


def mentions(text: str, names: Iterable[str], convention: Convention) -> list[Mention]:
    """Return the embeddings that a text names, in the order of their places, each only once."""
    found: dict[str, Mention] = {}
    for mention in _all_mentions(text, names, convention):
        found.setdefault(mention.name, mention)
    return sorted(found.values(), key=lambda mention: mention.start)


def blank_mentions(text: str, names: Iterable[str], convention: Convention) -> str:
    """Return a text of the same length that has spaces wherever it names an embedding."""
    for mention in _all_mentions(text, names, convention):
        spaces = " " * (mention.end - mention.start)
        text = text[: mention.start] + spaces + text[mention.end :]
    return text


def _all_mentions(text: str, names: Iterable[str], convention: Convention) -> list[Mention]:
    """Return every place where a text names an embedding, longer names first."""
    whole = folded(text)
    # Few of many names are in a text: only those are looked for with care.
    possible = sorted((name for name in names if folded(name) in whole), key=len, reverse=True)
    found: list[Mention] = []
    for name in possible:
        for spelling in convention.embedding_spellings:
            pattern = _PATTERNS[spelling].format(_any_form(name))
            for match in re.finditer(pattern, text, re.IGNORECASE):
                start, end = match.span()
                # A longer name may have a shorter one within it.
                if all(end <= other.start or other.end <= start for other in found):
                    found.append(Mention(name, start, end))
    return found


def mention_of(
    text: str, name: str, names: Iterable[str], convention: Convention
) -> Mention | None:
    """Return where a text names an embedding; None if it does not.

    `names` are all others, as a longer one may have this one within it.
    """
    found = mentions(text, {*names, name}, convention)
    return next((mention for mention in found if mention.name == name), None)


def _any_form(name: str) -> str:
    """Return a pattern of a name: a file's accents may be signs of their own, as macOS has them."""
    forms = dict.fromkeys((name, normalize("NFC", name), normalize("NFD", name)))
    return f"(?:{'|'.join(map(re.escape, forms))})"


def with_mention(text: str, name: str, convention: Convention) -> str:
    """Return a text with an embedding's name at its end, after a comma."""
    return ", ".join(filter(None, (text.rstrip(" ,"), spelled(name, convention) or name)))


def without_mention(text: str, mention: Mention, convention: Convention) -> str:
    """Return a text without a name, its brackets and weight, and without a comma too many."""
    start, end = weighted_range(text, mention.start, mention.end, convention.grammar)
    before, after = text[:start].rstrip(" \t"), text[end:].lstrip(" \t")
    if after.startswith(",") and (not before or before[-1] in ",\n(["):
        after = after[1:].lstrip(" \t")
    elif not after and before.endswith(","):
        before = before[:-1].rstrip(" \t")
    gap = " " if before and after and before[-1] not in "\n([" and after[0] not in "\n,)]" else ""
    return f"{before}{gap}{after}"


def with_weight(text: str, mention: Mention, weight: float, convention: Convention) -> str:
    """Return a text in which a name has a weight."""
    edit: WeightEdit = set_weight(text, mention.start, mention.end, weight, convention.grammar)
    return f"{text[: edit.start]}{edit.text}{text[edit.end :]}"
