"""Whatever goes wrong becomes an error that a message can carry and a person can read."""

import pytest

from engine.api.messages import JobFailed
from engine.api.remedies import MoveKept, PartFile, SupplyParts
from engine.api.sentences import as_it_is, sentence
from engine.api.values import ErrorCode
from engine.api.wire import FrameParser, decode_event, encode
from engine.errors import EngineError
from engine.server.failures import error_info

HALF = "caf\udce9"  # a file name that is not UTF-8, as Python gives it


def caught(error: Exception) -> Exception:
    """The exception, raised in a place."""
    with pytest.raises(type(error)) as raised:
        raise error
    return raised.value


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (
            EngineError(ErrorCode.DISK_FULL, as_it_is(HALF), as_it_is(HALF), HALF),
            ErrorCode.DISK_FULL,
        ),
        (MemoryError(), ErrorCode.OUT_OF_MEMORY),
        (ValueError(HALF), ErrorCode.INTERNAL),
        (ValueError("x" * (8 << 20)), ErrorCode.INTERNAL),
    ],
    ids=["ours", "memory", "half a character", "very long"],
)
def test_every_exception_can_be_told(error: Exception, code: ErrorCode) -> None:
    info = error_info(caught(error))
    assert info.code is code
    assert info.message
    assert info.hint
    failed = JobFailed(job="a", error=info)
    (frame,) = FrameParser().feed(encode(failed))
    assert decode_event(frame) == failed


def test_the_place_is_told_of_what_nobody_thought_of() -> None:
    detail = error_info(caught(KeyError("x" * (8 << 20)))).detail
    assert len(detail) <= 64 << 10
    assert error_info(caught(KeyError("x"))).detail.count("test_failures.py") == 1


def test_our_errors_keep_what_they_say() -> None:
    error = EngineError(
        ErrorCode.DISK_FULL, sentence("The disk is full."), sentence("Free some space."), "28"
    )
    assert error_info(error) == error.info


def test_a_remedy_keeps_the_name_of_its_file() -> None:
    file = PartFile(component="vae", path=f"/models/{HALF}.safetensors")
    remedies = SupplyParts(components=("vae",), files=(file,)), MoveKept(path=f"/tmp/{HALF}.png")
    error = EngineError(ErrorCode.CHECKPOINT_INCOMPLETE, as_it_is(HALF), remedies=remedies)
    failed = JobFailed(job="a", error=error_info(caught(error)))
    (frame,) = FrameParser().feed(encode(failed))
    event = decode_event(frame)
    assert isinstance(event, JobFailed)
    assert event.error.remedies == remedies
