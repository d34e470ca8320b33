"""Refusals of pictures that cannot be queued."""

from app.queue.counted_seeds import counted_seed
from engine.api.limits import MAX_COUNT, MAX_SEED
from engine.api.request import GenerateRequest
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

# Jobs that may wait: the window goes through all of them at each change that it shows.
MAX_WAITING = 10_000


def check_room(waiting: int, count: int) -> None:
    """Raise EngineError(REQUEST_INVALID) if so many further jobs cannot wait."""
    if waiting + count > MAX_WAITING:
        raise _invalid(
            sentence("The queue has no room for so many pictures more."),
            sentence("At most {max_count} can wait.", max_count=MAX_WAITING),
        )


def check_request(request: GenerateRequest) -> None:
    """Raise EngineError(REQUEST_INVALID) if the count, a seed or a text is not valid."""
    if not 1 <= request.count <= MAX_COUNT:
        raise _invalid(
            sentence("{count} pictures at a time cannot be queued.", count=request.count),
            sentence("At most {max_count} can.", max_count=MAX_COUNT),
        )
    last = MAX_SEED - request.count + 1
    for seed, most in ((request.seed, MAX_SEED), (counted_seed(request), last)):
        if seed is not None and not 0 <= seed <= most:
            raise _invalid(
                sentence("The seed {seed} is out of range.", seed=seed),
                sentence("It may be from 0 to {max_seed}.", max_seed=MAX_SEED),
            )
    if not (_is_text(request.prompt) and _is_text(request.negative_prompt)):
        raise _invalid(
            sentence("A text has characters that are not valid."), sentence("Type it anew.")
        )


def _is_text(text: str) -> bool:
    """Return True if UTF-8 can encode the text."""
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


def _invalid(message: Sentence, hint: Sentence) -> EngineError:
    return EngineError(ErrorCode.REQUEST_INVALID, message, hint)
