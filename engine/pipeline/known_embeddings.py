"""The embeddings of a picture's prompts: those of its LoRAs, of folders, and found by hashes."""

from collections.abc import Mapping

from engine.api.embeddings import EmbeddingHash
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.embeddings.library import Embeddings, WithBundled


def known_embeddings(
    request: ResolvedRequest, bundled: Mapping[str, Embedding], library: Embeddings
) -> tuple[Embeddings, tuple[ErrorInfo, ...]]:
    """Return the embeddings that the prompts may name, and warnings about missing ones.

    A name of the request's `embedding_hashes` that no file has stands for the file with its hash.
    """
    found, warnings = dict(bundled), list[ErrorInfo]()
    texts = f"{request.prompt}\n{request.negative_prompt}".casefold()
    known = {name.casefold() for name in (*bundled, *library.names())}
    for one in request.embedding_hashes:
        # A prompt may have been changed since the hash was noted.
        is_named = one.name.casefold() in texts
        if not is_named or one.name.casefold() in known or library.at_path(one.name):
            continue
        file = library.of_hash(one.hash)
        if file is None:
            warnings.append(_missing(one))
        elif file.embedding is not None:
            found[one.name] = file.embedding
    return (WithBundled(found, library) if found else library), tuple(warnings)


def _missing(one: EmbeddingHash) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.NOT_AVAILABLE,
        f'The embedding "{one.name[:80]}" was not found; the picture was made without it.',
        f"Put its file into the folder of embeddings. Its hash is {one.hash[:64]}; civitai.com "
        "finds it by that.",
    )
