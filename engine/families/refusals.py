"""The error for files that cannot supply a component."""

from pathlib import Path

from engine.api.remedies import SupplyParts
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import Component


def cannot_supply(label: str, component: Component, path: Path, why: str) -> EngineError:
    """Return the error for a file without a fitting component; `label` names the component."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"{path.name} cannot supply the {label}: {why}.",
        remedies=(SupplyParts(components=(component.value,)),),
    )
