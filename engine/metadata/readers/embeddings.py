"""Embeddings that a tool's metadata name with their hashes; the names are those in the prompt."""

from collections.abc import Iterable
from itertools import islice

from engine.api.embeddings import MAX_EMBEDDINGS, EmbeddingHash
from engine.metadata.json_text import parse_object
from engine.metadata.readers.imported import plain
from engine.metadata.readers.named_files import hash_digits

_MOST_CHARACTERS = 300
# The most characters of a list of names and hashes.
_MAX_LISTED = 100_000
_HASHES_PREFIX = "embed:"


def embedding_hash(name: object, digits: object) -> EmbeddingHash | None:
    """Return a name with its hash in hexadecimal digits; None if either is unusable."""
    found = hash_digits(digits)
    named = name.strip()[:_MOST_CHARACTERS] if isinstance(name, str) else ""
    is_usable = found is not None and named.isprintable() and bool(named)
    return EmbeddingHash(name=named, hash=found) if is_usable and found else None


def listed_hashes(found: Iterable[EmbeddingHash | None]) -> tuple[EmbeddingHash, ...]:
    """Return the first hash of each name, at most as many as a request takes."""
    named: dict[str, EmbeddingHash] = {}
    for embedding in found:
        if embedding is not None:
            named.setdefault(embedding.name, embedding)
    return tuple(islice(named.values(), MAX_EMBEDDINGS))


def embedding_hashes(text: str | None, every: str | None = None) -> tuple[EmbeddingHash, ...]:
    """Return the hashes in A1111's `TI hashes`, and in `Hashes` of Civitai's extension.

    The first is "name: 0123456789ab, other: ...", the second JSON with keys such as "embed:name".
    """
    pairs = (part.split(":", 1) for part in (text or "")[:_MAX_LISTED].split(","))
    found = [embedding_hash(*pair) for pair in pairs if len(pair) == 2]
    for key, digits in parse_object(every).items():
        if key.casefold().startswith(_HASHES_PREFIX):
            found.append(embedding_hash(key[len(_HASHES_PREFIX) :], digits))
    return listed_hashes(found)


def embedding_remarks(hashes: Iterable[EmbeddingHash]) -> tuple[str, ...]:
    """Return the warning that names the embeddings; none without embeddings."""
    listed = ", ".join(embedding.name for embedding in hashes)
    return (f"It was made with embeddings: {plain(listed, 200)}.",) if listed else ()
