"""Names that complete what is being written in a prompt: LoRAs, embeddings, lists of words."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from app.form.embedding_texts import SPELLINGS
from engine.api.conventions import Convention
from engine.api.folded import folded
from engine.api.prompt_rules import EmbeddingSpelling, NetworkTags, PromptFeature, PromptGrammar

_MOST = 50
# A bare word is completed from this length on.
_LEAST_BARE = 2
_TAG = re.compile(r"<(lora|lyco|loractl):([^<>:\n]*)$", re.IGNORECASE)
_PREFIX = re.compile(r"(?:^|(?<=[\s,(]))embedding:([^\s,()<>]*)$", re.IGNORECASE)
_EMBED_TAG = re.compile(r"<embed:([^<>\n]*)$", re.IGNORECASE)
_ANGLED = re.compile(r"<([^<>:\n]*)$")
_WILDCARD = re.compile(r"__((?:(?!__)[\w\-./ ])*)$")
# What a list's name does not begin in: whole names, tags, whose names may hold such signs, and what
# is kept as it is (`engine/text/wildcards.py`).
_WHOLE = re.compile(
    r"__(?![\s_])[\w\-./ ]{1,200}?(?<=[^\W_])__|<\w{1,20}:[^<>\n]{1,1000}>|\\(?:__|.)"
)
_BARE = re.compile(r"(?:^|(?<=[\s,(|]))([^\s,()\[\]{}|<>:]+)$")


class NameKind(StrEnum):
    """The kind of a name that completes a prompt, or a path."""

    LORA = "lora"
    EMBEDDING = "embedding"
    WILDCARD = "wildcard"
    FOLDER = "folder"
    FILE = "file"


class Names(NamedTuple):
    """The names that prompts may use; `loras` without those that are for another family."""

    loras: tuple[str, ...] = ()
    embeddings: tuple[str, ...] = ()
    wildcards: tuple[str, ...] = ()


class Completion(NamedTuple):
    """A name, and the text that replaces what is written of it."""

    kind: NameKind
    name: str
    text: str


class Completions(NamedTuple):
    """The names that fit at a cursor, best first, and the character where their texts begin."""

    start: int
    names: tuple[Completion, ...]


NO_COMPLETIONS = Completions(0, ())


def completions(before: str, convention: Convention, names: Names) -> Completions:
    """Return what may complete the text before the cursor, in the spellings of a convention."""
    if (tag := _TAG.search(before)) and _reads_tags(convention):
        return _found(tag.start(), tag[2], names.loras, NameKind.LORA, f"<{tag[1]}:{{}}:1>")
    spellings = convention.embedding_spellings
    for spelling, pattern in (
        (EmbeddingSpelling.PREFIX, _PREFIX),
        (EmbeddingSpelling.TAG, _EMBED_TAG),
        (EmbeddingSpelling.ANGLED, _ANGLED),
        (EmbeddingSpelling.WORD, _ANGLED),
    ):
        if spelling in spellings and (match := pattern.search(before)):
            kind, text = NameKind.EMBEDDING, SPELLINGS[spelling]
            return _found(match.start(), match[1], names.embeddings, kind, text)
    if (list_ := _WILDCARD.search(before)) and not _is_in_whole(before, list_.start()):
        kind = NameKind.WILDCARD
        return _found(list_.start(), list_[1], names.wildcards, kind, "__{}__")
    if EmbeddingSpelling.BARE in spellings and (word := _BARE.search(before)):
        return _bare(word, names.embeddings)
    return NO_COMPLETIONS


def _is_in_whole(before: str, place: int) -> bool:
    return any(whole.start() <= place < whole.end() for whole in _WHOLE.finditer(before))


def _bare(word: re.Match[str], embeddings: Iterable[str]) -> Completions:
    typed = folded(word[1])
    if len(typed) < _LEAST_BARE:
        return NO_COMPLETIONS
    # Whoever writes a whole name has no need of it.
    fitting = [name for name in embeddings if _begins(name, typed) and folded(name) != typed]
    return _found(word.start(), word[1], fitting, NameKind.EMBEDDING, "{}")


def _found(start: int, typed: str, names: Iterable[str], kind: NameKind, text: str) -> Completions:
    """Return the names that have what is typed: first those that begin with it."""
    wanted = folded(typed.strip())
    fitting = [name for name in names if wanted in folded(name)]
    fitting.sort(key=lambda name: (not _begins(name, wanted), folded(name)))
    return Completions(
        start, tuple(Completion(kind, name, text.format(name)) for name in fitting[:_MOST])
    )


def _begins(name: str, typed: str) -> bool:
    """Return True if a name, or a name without its folder, begins with a text."""
    whole = folded(name)
    return whole.startswith(typed) or whole.rpartition("/")[2].startswith(typed)


def _reads_tags(convention: Convention) -> bool:
    if convention.network_tags is NetworkTags.TEXT:
        return False
    is_a1111 = convention.grammar is PromptGrammar.A1111
    return not is_a1111 or PromptFeature.NETWORKS in convention.prompt_features
