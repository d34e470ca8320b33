"""Warnings about embeddings that a prompt names and that are not used as written."""

from engine.api.reasons import known_purpose
from engine.api.sentences import NO_WORDS, Sentence, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.embeddings.embedding import Embedding
from engine.errors import EngineError


def not_found(name: str) -> ErrorInfo:
    """Return the warning for a name without a file."""
    return _warning(
        sentence(
            'The embedding "{shown}" was not found; the picture was made without it.',
            shown=_shown(name),
        ),
        sentence("Put its file into the folder of embeddings, or take its name out of the prompt."),
    )


def for_others(name: str, embedding: Embedding) -> ErrorInfo:
    """Return the warning for an embedding of other models, whose name is read as words."""
    return _warning(
        sentence(
            'The embedding "{shown}" is for {purpose}, not for this model; its name '
            "was read as words.",
            shown=_shown(name),
            purpose=known_purpose(embedding.purpose),
        ),
        sentence("Choose a model that it was made for."),
    )


def without_effect(name: str, embedding: Embedding) -> ErrorInfo:
    """Return the warning for an embedding that a text encoder leaves out."""
    return _warning(
        sentence(
            'The embedding "{shown}" is for {purpose}; a text encoder of this model left it out.',
            shown=_shown(name),
            purpose=known_purpose(embedding.purpose),
        ),
        sentence("Choose a model that it was made for."),
    )


def too_long(name: str, count: int, most: int) -> ErrorInfo:
    """Return the warning for an embedding of more vectors than a chunk of a prompt has room for."""
    return _warning(
        sentence(
            'The embedding "{shown}" has {count:,} vectors; at most {most} have '
            "room, so its name was read as words.",
            shown=_shown(name),
            count=count,
            most=most,
        )
    )


def unreadable(name: str, error: EngineError) -> ErrorInfo:
    """Return the warning for an embedding whose file cannot be used."""
    return _warning(
        sentence(
            'The embedding "{shown}" was not used: {message}',
            shown=_shown(name),
            message=error.text,
        ),
        error.advice,
    )


def shared_name(name: str, embedding: Embedding) -> ErrorInfo:
    """Return the warning for a name that several files have."""
    others = ", ".join(str(path) for path in embedding.others)
    return _warning(
        sentence(
            'Several files are called "{shown}": {path} was taken, not {others}.',
            shown=_shown(name),
            path=embedding.path,
            others=others,
        ),
        sentence("Rename one of them."),
    )


def _warning(message: Sentence, hint: Sentence = NO_WORDS) -> ErrorInfo:
    return ErrorInfo(ErrorCode.EMBEDDING_REMARK, message, hint)


def _shown(name: str) -> str:
    plain = "".join(c if c.isprintable() else "\N{WHITE SQUARE}" for c in name)
    return plain if len(plain) <= 80 else plain[:79] + "\N{HORIZONTAL ELLIPSIS}"
