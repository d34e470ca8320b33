"""Range checks that raise REQUEST_INVALID."""

from engine.api.remedies import Remedy
from engine.api.values import ErrorCode
from engine.errors import EngineError


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Raise EngineError(REQUEST_INVALID) for what is outside of both ends, or no number."""
    if not low <= value <= high:  # which is true of what is not a number, too
        raise invalid(f"The {name} is {value:,}; it must be from {low:,} to {high:,}.")


def invalid(message: str, hint: str = "", *, remedies: tuple[Remedy, ...] = ()) -> EngineError:
    """A request that says what cannot be."""
    return EngineError(ErrorCode.REQUEST_INVALID, message, hint, remedies=remedies)
