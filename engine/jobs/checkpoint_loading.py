"""Loads the checkpoint of a request, with its chosen components and refiner."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

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
from engine.families.parts_index import PartsIndex
from engine.families.refiner_fit import share_latents, with_refiner


def load_checkpoint(
    request: GenerateRequest, read: ReadIndex = read_index, parts_index: PartsIndex | None = None
) -> IdentifiedCheckpoint:
    """Return the complete checkpoint, with chosen components, refiner and those of second passes.

    Raises EngineError; if components are missing, it names files of the `parts_index` with them.
    """
    if request.checkpoint is None:
        raise EngineError(
            ErrorCode.CHECKPOINT_NOT_FOUND,
            sentence("No model is chosen."),
            remedies=(ChooseCheckpoint(),),
        )
    found = identify(Path(request.checkpoint), read, request.override)
    checkpoint = supply(found, request.components, read)
    require_complete(checkpoint, parts_index.gaps(checkpoint) if parts_index else ())
    refiner = request.refiner and request.refiner.checkpoint
    later = _second_checkpoints(request.second_passes, checkpoint, read)
    own = (later[-1] if later else None) or checkpoint
    if refiner:
        refined = with_refiner(own, identify(Path(refiner), read))
        checkpoint = refined if own is checkpoint else checkpoint
        later = [refined if second is own else second for second in later]
    return replace(checkpoint, second_checkpoints=tuple(later)) if any(later) else checkpoint


def _second_checkpoints(
    wanted: Sequence[SecondPass], checkpoint: IdentifiedCheckpoint, read: ReadIndex
) -> list[IdentifiedCheckpoint | None]:
    """Return the checkpoints of second passes; None for a pass without one of its own.

    Raises EngineError(CHECKPOINT_MISMATCH) where a latent is to be enlarged for a checkpoint with
    other latents.
    """
    found: list[IdentifiedCheckpoint | None] = []
    before = checkpoint
    for number, second in enumerate(wanted, 1):
        own = None
        if second.checkpoint is not None and Path(second.checkpoint).absolute() != checkpoint.path:
            own = replace(
                identify(Path(second.checkpoint), read), network_prefix=f"second_{number}_"
            )
            require_complete(own)
        following = own or checkpoint
        if second.upscaler in LATENT_UPSCALERS and not share_latents(before, following):
            raise _other_latents(before, following)
        found.append(own)
        before = following
    return found


def _other_latents(before: IdentifiedCheckpoint, following: IdentifiedCheckpoint) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} cannot draw on latents of {path_2}: they are of another family.",
            path=following.path.name,
            path_2=before.path.name,
        ),
        sentence("Let an upscaler's file, lanczos or area enlarge the picture before that pass."),
    )
