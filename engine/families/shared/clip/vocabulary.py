"""Vocabularies of CLIP text encoders that need a tokenizer of their own."""

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import IdentifiedCheckpoint
from engine.graphs.clip_text import ClipTextConfig

# The words of CLIP's own tokenizer, which the app brings.
CLIP_VOCABULARY = 49408


def require_words(checkpoint: IdentifiedCheckpoint) -> None:
    """Raise EngineError where a text encoder has a small vocabulary and no tokenizer."""
    configs = (source.config for source in checkpoint.components.values())
    vocabularies = (text.vocabulary for text in configs if isinstance(text, ClipTextConfig))
    words = min(vocabularies, default=CLIP_VOCABULARY)
    if words < CLIP_VOCABULARY and checkpoint.tokenizer is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            f"The text encoder of {checkpoint.path.name} knows {words} words of its own, "
            "and its tokenizer is missing.",
            "Use the diffusers folder it came from, with its tokenizer.",
        )
