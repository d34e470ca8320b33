"""Loads the checkpoints of a request, the first one with its chosen components."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from engine.api.checkpoints import Gap
from engine.api.remedies import ChooseCheckpoint
from engine.api.request import GenerateRequest
from engine.api.second_passes import LATENT_UPSCALERS, SecondPass
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.identify import identify, require_complete, supply
from engine.families.refiner_fit import refiner_for, share_latents
from engine.pipeline.job_checkpoints import JobCheckpoints

# Returns the components that a checkpoint lacks, with files that have them.
FindGaps = Callable[[IdentifiedCheckpoint], Sequence[Gap]]


def load_checkpoints(
    request: GenerateRequest, read: ReadIndex = read_index, find_gaps: FindGaps = lambda _: ()
) -> JobCheckpoints:
    """Return the complete checkpoints of a request, the first one with its chosen components.

    Raises EngineError; if the first one lacks components, it names the files that `find_gaps`
    returns.
    """
    if request.checkpoint is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_NOT_FOUND,
            sentence("No model is chosen."),
            remedies=(ChooseCheckpoint(),),
        )
    found = identify(Path(request.checkpoint), read, request.override)
    first = supply(found, request.components, read)
    require_complete(first, find_gaps(first) if first.missing else ())
    checkpoints = JobCheckpoints(first, tuple(_seconds(request.second_passes, first, read)))
    chosen = request.refiner and request.refiner.checkpoint
    if not chosen:
        return checkpoints
    refiner = refiner_for(checkpoints.runs[-1], identify(Path(chosen), read))
    return msgspec.structs.replace(checkpoints, refiner=refiner)


def _seconds(
    wanted: Sequence[SecondPass], first: IdentifiedCheckpoint, read: ReadIndex
) -> Iterator[IdentifiedCheckpoint | None]:
    """Yield the checkpoints of second passes; None for a pass without one of its own.

    Passes that name the same file have the same one, so that its networks are loaded once. Raises
    EngineError(CHECKPOINT_MISMATCH) where a latent is to be enlarged for a checkpoint with other
    latents.
    """
    before, known = first, {first.path: first}
    for number, second in enumerate(wanted, 1):
        path = first.path if second.checkpoint is None else Path(second.checkpoint).absolute()
        if path not in known:
            own = replace(identify(path, read), network_prefix=f"second_{number}_")
            require_complete(own)
            known[path] = own
        following = known[path]
        if second.upscaler in LATENT_UPSCALERS and not share_latents(before, following):
            raise _other_latents(before, following)
        yield None if following is first else following
        before = following


def _other_latents(before: IdentifiedCheckpoint, following: IdentifiedCheckpoint) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} cannot draw on latents of {path_2}: they are of another family.",
            path=following.path.name,
            path_2=before.path.name,
        ),
        sentence(
            "Let an upscaler's file, lanczos or the like enlarge the picture before that pass."
        ),
    )
