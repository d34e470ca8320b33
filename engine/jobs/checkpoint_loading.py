"""Loads the checkpoint of a request, with its chosen components and refiner."""

from pathlib import Path

from engine.api.remedies import ChooseCheckpoint
from engine.api.request import GenerateRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families.base import IdentifiedCheckpoint
from engine.families.identify import identify, require_complete, supply
from engine.families.parts_index import PartsIndex
from engine.families.refiner_fit import with_refiner


def load_checkpoint(
    request: GenerateRequest, read: ReadIndex = read_index, parts_index: PartsIndex | None = None
) -> IdentifiedCheckpoint:
    """Return the request's checkpoint, complete with its chosen components and refiner.

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
    return with_refiner(checkpoint, identify(Path(refiner), read)) if refiner else checkpoint
