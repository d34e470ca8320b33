"""The embeddings of a picture's prompts: those of its LoRAs, of folders, and found by hashes."""

from collections.abc import Iterable, Mapping

from engine.api.embeddings import EmbeddingHash
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import Embeddings, WithBundled


def known_embeddings(
    texts: Iterable[str],
    hashes: Iterable[EmbeddingHash],
    bundled: Mapping[str, Embedding],
    library: Embeddings,
) -> tuple[Embeddings, tuple[ErrorInfo, ...]]:
    """Return the embeddings that prompts may name, and warnings about missing ones.

    A name among `hashes` that no file has stands for the file with its hash.
    """
    found, warnings = dict(bundled), list[ErrorInfo]()
    whole = "\n".join(texts).casefold()
    known = {name.casefold() for name in (*bundled, *library.names())}
    for embedding in hashes:
        # A prompt may have been changed since the hash was noted.
        is_named = embedding.name.casefold() in whole
        if not is_named or embedding.name.casefold() in known or library.at_path(embedding.name):
            continue
        file = library.of_hash(embedding.hash)
        if file is None:
            warnings.append(_missing(embedding))
        elif file.embedding is not None:
            found[embedding.name] = file.embedding
    return (WithBundled(found, library) if found else library), tuple(warnings)


def _missing(embedding: EmbeddingHash) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.EMBEDDING_REMARK,
        sentence(
            'The embedding "{one}" was not found; the picture was made without it.',
            one=embedding.name[:80],
        ),
        sentence(
            "Put its file into the folder of embeddings. Its hash is {hash}; "
            "civitai.com finds it by that.",
            hash=embedding.hash[:64],
        ),
    )
