"""The check for CLIP text encoders whose vocabulary needs a tokenizer of its own."""

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.graphs.clip_text import ClipTextConfig

# The vocabulary size of CLIP's standard tokenizer, which the app includes.
CLIP_VOCABULARY = 49408


def require_words(checkpoint: IdentifiedCheckpoint) -> None:
    """Raise EngineError for a text encoder with a smaller vocabulary than CLIP's and no tokenizer.

    The code is CHECKPOINT_INCOMPLETE.
    """
    configs = (source.config for source in checkpoint.components.values())
    vocabularies = (text.vocabulary for text in configs if isinstance(text, ClipTextConfig))
    words = min(vocabularies, default=CLIP_VOCABULARY)
    if words < CLIP_VOCABULARY and checkpoint.tokenizer is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            sentence(
                "The text encoder of {path} knows {words} words of its own, and its "
                "tokenizer is missing.",
                path=checkpoint.path.name,
                words=words,
            ),
            sentence("Use the diffusers folder it came from, with its tokenizer."),
        )
