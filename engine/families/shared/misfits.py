"""The error for a component that does not fit the others of a checkpoint."""

from engine.api.remedies import SupplyParts
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import Component


def misfit_of(component: Component, words: Sentence) -> EngineError:
    """Return the error; `words` name the component, and what it is and should be."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        words,
        sentence("Another one is needed, made for this model's family."),
        remedies=(SupplyParts(components=(component.value,)),),
    )
