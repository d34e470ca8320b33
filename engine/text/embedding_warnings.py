"""Warnings about embeddings that a prompt names and that are not used as written."""

from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.errors import EngineError


def not_found(name: str) -> ErrorInfo:
    """Return the warning for a name without a file."""
    return _warning(
        f'The embedding "{_shown(name)}" was not found; the picture was made without it.',
        "Put its file into the folder of embeddings, or take its name out of the prompt.",
    )


def for_others(name: str, embedding: Embedding) -> ErrorInfo:
    """Return the warning for an embedding of other models, whose name is read as words."""
    return _warning(
        f'The embedding "{_shown(name)}" is for {embedding.purpose}, not for this model; its name '
        "was read as words.",
        "Choose a model that it was made for.",
    )


def without_effect(name: str, embedding: Embedding) -> ErrorInfo:
    """Return the warning for an embedding that a text encoder leaves out."""
    return _warning(
        f'The embedding "{_shown(name)}" is for {embedding.purpose}; a text encoder of this model '
        "left it out.",
        "Choose a model that it was made for.",
    )


def too_long(name: str, count: int, most: int) -> ErrorInfo:
    """Return the warning for an embedding of more vectors than a chunk of a prompt has room for."""
    return _warning(
        f'The embedding "{_shown(name)}" has {count:,} vectors; at most {most} have room, so its '
        "name was read as words."
    )


def unreadable(name: str, error: EngineError) -> ErrorInfo:
    """Return the warning for an embedding whose file cannot be used."""
    return _warning(f'The embedding "{_shown(name)}" was not used: {error.message}', error.hint)


def shared_name(name: str, embedding: Embedding) -> ErrorInfo:
    """Return the warning for a name that several files have."""
    others = ", ".join(str(path) for path in embedding.others)
    return _warning(
        f'Several files are called "{_shown(name)}": {embedding.path} was taken, not {others}.',
        "Rename one of them.",
    )


def _warning(message: str, hint: str = "") -> ErrorInfo:
    return ErrorInfo(ErrorCode.EMBEDDING_REMARK, message, hint)


def _shown(name: str) -> str:
    plain = "".join(c if c.isprintable() else "\N{WHITE SQUARE}" for c in name)
    return plain if len(plain) <= 80 else plain[:79] + "\N{HORIZONTAL ELLIPSIS}"
