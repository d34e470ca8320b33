"""The texts by which a prompt names an embedding, in each convention."""

import re

from engine.api.conventions import Convention, EmbeddingSpelling

# The texts around a name, in the order in which a convention's ways are preferred.
TEXTS = {
    EmbeddingSpelling.BARE: "{}",
    EmbeddingSpelling.PREFIX: "embedding:{}",
    EmbeddingSpelling.TAG: "<embed:{}>",
    EmbeddingSpelling.ANGLED: "<{}>",
    EmbeddingSpelling.WORD: "<{}>",
}
# The names that a prompt can have in these ways; in the others any.
_NAMES = {
    EmbeddingSpelling.PREFIX: re.compile(r"[^\s<\[]+"),
    EmbeddingSpelling.TAG: re.compile(r"[^\s<\[>]+"),
    EmbeddingSpelling.ANGLED: re.compile(r"[a-zA-Z0-9., _-]+"),
    EmbeddingSpelling.WORD: re.compile(r"[^<>\s]+"),
}


def embedding_text(name: str, convention: Convention) -> str:
    """Return the text that names an embedding in a prompt; empty if none can."""
    for spelling in convention.embedding_spellings:
        pattern = _NAMES.get(spelling)
        if pattern is None or pattern.fullmatch(name):
            return TEXTS[spelling].format(name)
    return ""


def is_written(text: str, prompt: str) -> bool:
    """Return True if a prompt has the text that names an embedding, not just within a word."""
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", prompt, re.IGNORECASE) is not None
