"""The error for files that cannot supply a component."""

from pathlib import Path

from engine.api.remedies import SupplyParts
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import Component


def cannot_supply(label: Sentence, component: Component, path: Path, why: Sentence) -> EngineError:
    """Return the error for a file without a fitting component; `label` names the component."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence("{path} cannot supply the {label}: {why}.", path=path.name, label=label, why=why),
        remedies=(SupplyParts(components=(component.value,)),),
    )
