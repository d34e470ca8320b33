"""Failures that another device may cure, and the warnings where it takes over."""

from collections.abc import Callable, Sequence

import msgspec

from backends.base import Device, Precision
from backends.forms import BlockForm
from engine.api.record import ResolvedRequest
from engine.api.remedies import CheckDevices, MakeSmaller
from engine.api.runtime_titles import runtime_title
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo, Phase, PrecisionName, TextWeightBits, WeightBits
from engine.devices.choice import AUTO, Candidate, by_speed
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint
from engine.jobs.job_plan import JobPlan
from engine.jobs.roundings import bits_of
from engine.weights.packing import packing_of

# Failures that another device may not have; the causes of others are request, checkpoint or disk.
CURABLE = frozenset(
    {ErrorCode.BACKEND_FAILED, ErrorCode.OUT_OF_MEMORY, ErrorCode.CACHE_NOT_WRITABLE}
)
# The id of a processor among the devices of each of its backends.
_PROCESSOR = "cpu"
# In order: what is rounded to 8 bits beside blocks differs less than in 16 bits, and less of it.
_FOR_BLOCKS = Precision.INT8, Precision.F32
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


def takeover_warning(error: EngineError, failed: Candidate, following: Candidate) -> ErrorInfo:
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


def suitable(
    candidates: Sequence[Candidate], precision: PrecisionName, *, holds_blocks: bool
) -> list[Candidate]:
    """Return the candidates that offer the wanted precision, and hold blocks where that is asked.

    Those are all candidates if none does.
    """
    found = list(candidates)
    if precision is not PrecisionName.AUTO:
        wanted = Precision(precision.value)
        found = [candidate for candidate in found if wanted in candidate.device.precisions]
    if holds_blocks:
        found = [candidate for candidate in found if candidate.holds_blocks]
    return found or list(candidates)


def preferring_for_blocks(
    candidates: list[Candidate],
    checkpoint: IdentifiedCheckpoint,
    precision: PrecisionName,
    weight_bits: WeightBits,
    *,
    backend: str,
) -> list[Candidate]:
    """Return the candidates, each in the precision that is best for weights in blocks.

    Those take no less memory in 16 bits, so 8 bits beside float32, or float32 itself, are preferred
    where a device's trial took no longer in them. A request that states the precision changes
    nothing. Where its backend is open, too, the candidates come in the order of these times.
    """
    if precision is not PrecisionName.AUTO or not _is_in_blocks(weight_bits, checkpoint):
        return candidates
    found = [_for_blocks(candidate) for candidate in candidates]
    return by_speed(found) if backend == AUTO else found


def _is_in_blocks(bits: WeightBits, checkpoint: IdentifiedCheckpoint) -> bool:
    """Return True if most of the denoiser's numbers are in blocks, or are rounded into them."""
    weights = checkpoint.weights_of(Component.DENOISER)
    form = BlockForm(bits_of(bits, TextWeightBits.SAME).denoiser)
    held = (weight.elements for weight in weights.values() if packing_of(weight, form) is not None)
    return 2 * sum(held) > weights.elements


def _for_blocks(candidate: Candidate) -> Candidate:
    """Return the candidate with the preferred precision for weights in blocks.

    Without a trial that is 8 bits, if they are offered: in 16 bits the same products are rounded.
    """
    offered = candidate.device.precisions
    times = candidate.times or dict.fromkeys({Precision.INT8} & {*offered}, candidate.milliseconds)
    for precision in _FOR_BLOCKS:
        time = times.get(precision)
        if time is not None and time <= candidate.milliseconds:
            others = (other for other in offered if other is not precision)
            device = msgspec.structs.replace(candidate.device, precisions=(precision, *others))
            return msgspec.structs.replace(candidate, device=device, milliseconds=time)
    return candidate


def roomiest_first(
    candidates: Sequence[Candidate], plan_on: Callable[[Candidate], JobPlan]
) -> list[Candidate]:
    """Return the candidates, with one that has room for the job first where the preferred has not.

    Only another runtime of the same hardware goes before it. Runtimes differ in what they hold of
    weights in blocks, in 16 bits or in few, and in whether they stream weights to a card.
    """
    first, *others = candidates
    rivals = [other for other in others if _is_same_hardware(first.device, other.device)]
    if not rivals or _has_room(plan_on, first):
        return [*candidates]
    roomy = next((candidate for candidate in rivals if _has_room(plan_on, candidate)), None)
    if roomy is None:
        return [*candidates]
    title = runtime_title(first.device.backend)
    chosen = msgspec.structs.replace(roomy, choice=f"{title} lacks the memory for this job")
    return [chosen, *(candidate for candidate in candidates if candidate is not roomy)]


def _is_same_hardware(one: Device, other: Device) -> bool:
    """Return True for two runtimes of the processor, or of cards with one name.

    Runtimes number cards in orders of their own, so two cards of one kind count as the same.
    """
    if _PROCESSOR in (one.id, other.id):
        return one.id == other.id
    return one.name == other.name


def _has_room(plan_on: Callable[[Candidate], JobPlan], candidate: Candidate) -> bool:
    """Return True if the job's plan fits; on a processor also if its weights are in no blocks.

    There all runtimes hold such weights alike, and the system pages out what it lacks room for.
    """
    try:
        plan = plan_on(candidate)
    except EngineError:
        return False
    is_processor = candidate.device.id == _PROCESSOR
    return plan.memory.fits or (is_processor and not plan.needs.repacks)


def chosen_after_failure(following: Candidate, failed: Candidate) -> Candidate:
    """Return the next candidate, with the last one's failure as the reason for its choice."""
    choice = f"{runtime_title(failed.device.backend)} failed in this job"
    return msgspec.structs.replace(following, choice=choice)
