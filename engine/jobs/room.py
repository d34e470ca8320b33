"""The refusal of a job that cannot fit, before the work begins; it says in numbers what would."""

from collections.abc import Callable, Iterable

import msgspec

from engine.api.limits import MIN_SIDE
from engine.api.remedies import MakeSmaller, RaiseMemoryLimit
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.memory.plan import MemoryNeeds, MemoryPlan
from engine.weights.rounding import Rounding

# Plans the memory of needs, with the memory that is free now.
Planning = Callable[[MemoryNeeds], MemoryPlan]
# The step in pixels by which smaller pictures are tried.
_STEP = 64
_GB = 1e9
# The part of a step's memory that is the text's and stays as it is in smaller pictures: that of
# Flux.1 with 512 tokens at 1024x1024.
_OF_TEXT = 0.12


class Fitting(msgspec.Struct, frozen=True):
    """The advice about a smaller picture; `size` is its width and height, None if none fits."""

    advice: Sentence
    size: tuple[int, int] | None = None


def no_room(
    plan: MemoryPlan,
    size: tuple[int, int],
    most_bytes: int,
    advice: "Sentence | Fitting",
    *,
    is_limited: bool,
) -> EngineError:
    """Return the error OUT_OF_MEMORY for a plan of a picture of this size that cannot fit.

    `most_bytes` may be used, by the user's limit where it `is_limited`.
    """
    width, height = size
    fitting = advice if isinstance(advice, Fitting) else Fitting(advice)
    smaller = (MakeSmaller(width=width, height=height, fitting=fitting.size),)
    if isinstance(advice, Fitting) and advice.size is None:
        smaller = ()
    return EngineError(
        ErrorCode.OUT_OF_MEMORY,
        sentence(
            "A picture of {width} × {height} needs about {peak_bytes:.2f} GB of "  # noqa: RUF001
            "memory; {most:.2f} GB may be used.",
            width=width,
            height=height,
            peak_bytes=plan.peak_bytes / _GB,
            most=most_bytes / _GB,
        ),
        fitting.advice,
        remedies=(*smaller, RaiseMemoryLimit()) if is_limited else smaller,
    )


def fitting_bits(plans: Iterable[tuple[Rounding, MemoryPlan]], most_bytes: int) -> Sentence | None:
    """Return the first rounding whose plan fits into so many bytes; None where none does."""
    for rounding, plan in plans:
        if plan.peak_bytes <= most_bytes:
            return sentence(
                "With weights in {bits} bits it needs about {peak_bytes:.2f} GB.",
                bits=min(rounding),
                peak_bytes=plan.peak_bytes / _GB,
            )
    return None


def fitting_size(
    needs: MemoryNeeds, planning: Planning, size: tuple[int, int], most_bytes: int
) -> Fitting:
    """Return the largest picture of the same shape that fits into so many bytes.

    Where not even the smallest fits, its bytes are told.
    """
    width, height = size
    least = planning(needs).peak_bytes
    for longest in range(max(size) // _STEP * _STEP, MIN_SIDE, -_STEP):
        share = longest / max(size)
        sides = [int(side * share) // _STEP * _STEP for side in size]
        if share >= 1 or min(sides) < MIN_SIDE:
            continue
        least = planning(_shrunk(needs, sides[0] * sides[1] / (width * height))).peak_bytes
        if least <= most_bytes:
            would = sentence(
                "A picture of {width} × {height} would fit.",  # noqa: RUF001
                width=sides[0],
                height=sides[1],
            )
            return Fitting(would, (sides[0], sides[1]))
    return Fitting(sentence("Smaller pictures need {least:.2f} GB, too.", least=least / _GB))


def _shrunk(needs: MemoryNeeds, share: float) -> MemoryNeeds:
    """Return the needs of a picture of this share of the area."""
    whole = int(needs.vae_run_bytes * share)
    of_step = share + _OF_TEXT * (1 - share)
    later = (
        msgspec.structs.replace(second, step_bytes=int(second.step_bytes * of_step))
        for second in needs.later
    )
    return msgspec.structs.replace(
        needs,
        step_bytes=int(needs.step_bytes * of_step),
        vae_run_bytes=whole,
        # A tile is as large in a smaller picture, unless it is all of it.
        vae_tile_bytes=min(needs.vae_tile_bytes, whole),
        later=tuple(later),
        enlarging_bytes=int(needs.enlarging_bytes * share),
    )
