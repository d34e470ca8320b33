"""The errors for files that are not what they are to be: a component, or a variant."""

from pathlib import Path

from engine.api.remedies import SupplyParts
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import Component


def cannot_supply(label: Sentence, component: Component, path: Path, why: Sentence) -> EngineError:
    """Return the error for a file without a fitting component; `label` names the component."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence("{path} cannot supply the {label}: {why}.", path=path.name, label=label, why=why),
        remedies=(SupplyParts(components=(component.value,)),),
    )


def not_of_variant(path: Path, variant: str, reason: Sentence) -> EngineError:
    """Return the error for a file of which the user states a variant that it cannot be."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} cannot be taken for {title}: {reason}.",
            path=path.name,
            title=variant,
            reason=reason,
        ),
        sentence("Leave its variant to the file."),
    )
