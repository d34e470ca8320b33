"""Range checks that raise REQUEST_INVALID."""

from engine.api.remedies import Remedy
from engine.api.sentences import NO_WORDS, Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Raise EngineError(REQUEST_INVALID) unless `low` <= `value` <= `high`, and for NaN.

    The catalogues of languages have the names that `engine.api.fields` bounds.
    """
    if not low <= value <= high:  # also true for NaN
        raise invalid(
            sentence(
                "The {name} is {value:,}; it must be from {low:,} to {high:,}.",
                name=Sentence(name),
                value=value,
                low=low,
                high=high,
            )
        )


def invalid(
    message: Sentence, hint: Sentence = NO_WORDS, *, remedies: tuple[Remedy, ...] = ()
) -> EngineError:
    """Return the EngineError(REQUEST_INVALID) for a request that cannot be fulfilled."""
    return EngineError(ErrorCode.REQUEST_INVALID, message, hint, remedies=remedies)
