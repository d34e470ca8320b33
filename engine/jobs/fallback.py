"""Failures that another device may cure, and the warnings where it takes over."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from backends.base import Precision
from engine.api.record import ResolvedRequest
from engine.api.remedies import CheckDevices, MakeSmaller
from engine.api.runtime_titles import runtime_title
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo, Phase, PrecisionName
from engine.devices.choice import Candidate
from engine.errors import EngineError

# Failures that another device may not have; the causes of others are request, checkpoint or disk.
CURABLE = frozenset(
    {ErrorCode.BACKEND_FAILED, ErrorCode.OUT_OF_MEMORY, ErrorCode.CACHE_NOT_WRITABLE}
)
_DOING = {
    Phase.LOAD: sentence("reading the model"),
    Phase.COMPILE: sentence("preparing the networks"),
    Phase.ENCODE: sentence("reading the prompt"),
    Phase.DENOISE: sentence("developing it"),
    Phase.ENLARGE: sentence("enlarging it"),
    Phase.DECODE: sentence("finishing it"),
    Phase.SAVE: sentence("saving it"),
}


def with_size_and_phase(
    error: EngineError, request: ResolvedRequest, phase: Phase, device: str
) -> EngineError:
    """Return an OUT_OF_MEMORY error whose message has the picture's size, phase and device."""
    return EngineError(
        error.code,
        sentence(
            "A picture of {width} × {height} ran out of memory on {device}, while {doing}.",  # noqa: RUF001
            width=request.width,
            height=request.height,
            device=device,
            doing=_DOING[phase],
        ),
        error.advice,
        error.detail,
        remedies=tuple(
            MakeSmaller(width=request.width, height=request.height)
            if isinstance(remedy, MakeSmaller)
            else remedy
            for remedy in error.remedies
        ),
    )


def goes_on(error: EngineError, failed: Candidate, following: Candidate) -> ErrorInfo:
    """Return the warning that a device failed and another one takes over."""
    before, after = runtime_title(failed.device.backend), runtime_title(following.device.backend)
    if error.code is ErrorCode.OUT_OF_MEMORY:
        text = sentence(
            "{problem} {device} goes on with what is left.", problem=error.text, device=after
        )
        return msgspec.structs.replace(error.info, text=text)
    return ErrorInfo(
        error.code,
        sentence(
            "{before} failed on {device}; {after} goes on with what is left.",
            before=before,
            device=failed.device.name,
            after=after,
        ),
        sentence("It comes last until the hardware is checked again."),
        error.detail,
        (CheckDevices(),),
    )


def failure_of(error: EngineError) -> str:
    """Return the device's failure as one line of at most 300 characters."""
    return " ".join((error.detail or error.message).split())[:300]


def fitting(
    candidates: Sequence[Candidate], precision: PrecisionName, *, holds_blocks: bool = False
) -> list[Candidate]:
    """Return the candidates that offer the wanted precision, and hold blocks where that is asked.

    Those are all candidates if none does.
    """
    found = list(candidates)
    if precision is not PrecisionName.AUTO:
        wanted = Precision(precision.value)
        found = [one for one in found if wanted in one.device.precisions]
    if holds_blocks:
        found = [one for one in found if one.holds_blocks]
    return found or list(candidates)


def taken_over(following: Candidate, failed: Candidate) -> Candidate:
    """Return the next candidate, with the last one's failure as the reason for its choice."""
    choice = f"{runtime_title(failed.device.backend)} failed in this job"
    return replace(following, choice=choice)
