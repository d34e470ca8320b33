"""Errors for files that no family takes, or that cannot supply a part."""

from pathlib import Path

from engine.api.remedies import SupplyParts
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.base import Component


def cannot_supply(label: str, component: Component, path: Path, why: str) -> EngineError:
    """The error for a file that holds no fitting component, which `label` names in a sentence."""
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        f"{path.name} cannot supply the {label}: {why}.",
        remedies=(SupplyParts(components=(component.value,)),),
    )
