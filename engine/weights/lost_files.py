"""Failures that come of files of weights which are no longer there, or are no longer whole."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from engine.checkpoints.faults import changed, not_found, unreadable
from engine.errors import Cancelled, EngineError
from engine.weights.sources import WeightSource


@contextmanager
def lost_files_named(weights: Collection[WeightSource]) -> Generator[None]:
    """Blame a file of `weights` for a failure within the block, if it was lost or cut short.

    A file may be moved, or its disk be unplugged, between a job's reading and its computing;
    whatever reads it then fails in its own words. Raises EngineError: CHECKPOINT_NOT_FOUND or
    CHECKPOINT_UNREADABLE.
    """
    try:
        yield
    except Cancelled:
        raise
    except (OSError, ValueError, EngineError) as error:
        fault = _fault(weights)
        if fault is None:
            raise
        raise fault from error


def _fault(weights: Collection[WeightSource]) -> EngineError | None:
    ends: dict[Path, int] = {}
    for weight in weights:
        for part in weight.parts():
            ends[part.path] = max(ends.get(part.path, 0), part.offset + part.nbytes)
    for path, end in ends.items():
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return not_found(path)
        except OSError as error:
            return unreadable(path, error)
        if size < end:
            return changed(path)
    return None
