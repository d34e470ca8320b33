"""Prepares the networks of a checkpoint anew, so that its next picture need not wait."""

from collections.abc import Callable, Collection

from engine.api.request import GenerateRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.errors import EngineError
from engine.jobs.job_estimate import JobEstimate
from engine.jobs.runner import JobRunner

# Called with the numbers of networks that are prepared, and of all.
Tell = Callable[[int, int], None]


def rebuild(runner: JobRunner, names: Collection[str], checkpoint: str, tell: Tell) -> None:
    """Delete artifacts by their names, then load each network of a usual picture once.

    Raises EngineError; NOT_AVAILABLE while a job runs.
    """
    if runner.activity.is_busy:
        message = sentence("Nothing is prepared while pictures are made.")
        raise EngineError(ErrorCode.NOT_AVAILABLE, message)
    # Networks that stay loaded would keep their files.
    runner.release()
    if names:
        runner.services.cache.remove(names)
    with runner.services.cache.holding():
        _prepare(runner.estimate(GenerateRequest(prompt="", checkpoint=checkpoint)), tell)


def _prepare(estimate: JobEstimate, tell: Tell) -> None:
    total = len(estimate.networks)
    tell(0, total)
    for done, network in enumerate(estimate.networks, 1):
        placement = estimate.memory.placement
        estimate.prepared(network).load(placement, _ignore, CancelToken()).close()
        tell(done, total)


def _ignore(_done: int, _total: int) -> None:
    """Ignore the bytes of converted weights."""
