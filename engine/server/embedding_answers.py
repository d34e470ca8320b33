"""The answers to queries about embeddings."""

from collections.abc import Generator

from engine.api.embedding_messages import DescribeEmbeddings, EmbeddingsDescribed
from engine.api.embeddings import EmbeddingInfo
from engine.embeddings.embedding import Embedding
from engine.embeddings.file import PICTURE_SUFFIXES
from engine.embeddings.library import EmbeddingLibrary
from engine.lora.files_below import list_one


def describe_embeddings(
    query: DescribeEmbeddings, library: EmbeddingLibrary
) -> Generator[None, None, EmbeddingsDescribed]:
    """Read the named files one by one; yields after each, so that others may go first."""
    known = frozenset(library.names())
    described: list[EmbeddingInfo] = []
    for name in query.names:
        if name in known:
            described.append(_info(name, library))
            yield
    return EmbeddingsDescribed(query=query.query, embeddings=tuple(described))


def _info(name: str, library: EmbeddingLibrary) -> EmbeddingInfo:
    found = library.named(name)
    if found is None or found.embedding is None:
        error = found.error if found is not None else None
        return EmbeddingInfo(name=name, problem=error.text if error is not None else "")
    embedding = found.embedding
    preview, modified_ns = _preview(embedding)
    return EmbeddingInfo(
        name=name,
        path=str(embedding.path or ""),
        vectors=embedding.count,
        widths=embedding.widths,
        purpose=embedding.purpose,
        trained_on=embedding.trained_on,
        preview=preview,
        preview_modified_ns=modified_ns,
    )


def _preview(embedding: Embedding) -> tuple[str, int]:
    """Return the path and the time of change of an embedding's picture; empty without one."""
    path = embedding.path
    if path is None:
        return "", 0
    listed = list_one(path)
    if listed is None:
        return "", 0
    if path.suffix.lower() in PICTURE_SUFFIXES:
        return str(path), listed.stamp.modified_ns
    return listed.preview, listed.preview_modified_ns
