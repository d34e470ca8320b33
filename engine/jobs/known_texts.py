"""Texts of a job that text encoders have encoded before, so that no encoder is loaded for them."""

from collections.abc import Sequence

from backends.base import Precision
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.kept_results import KeptResults
from engine.jobs.reporting import SilentReporter
from engine.memory.plan import MemoryPlan
from engine.pipeline.network_pool import NetworkPool
from engine.pipeline.read_job import ReadJob
from engine.pipeline.stages import RunContext, Stages


def texts_are_known(
    read: ReadJob,
    compiler: Compiler,
    memory: MemoryPlan,
    precisions: Sequence[Precision],
    results: KeptResults,
) -> bool:
    """Return True if the results of all texts of a job are kept, for networks planned so.

    They count as unknown where the job has pictures whose prompts are not read yet.
    """
    if len(read.first.pictures) < read.job.count:
        return False
    pool = NetworkPool(compiler, memory, CancelToken(), results=results)
    stages = Stages(pool, tuple(precisions), RunContext(SilentReporter(), CancelToken()))
    texts = dict.fromkeys(read.first.texts)
    return all(stages.recalled(text.encode) is not None for text in texts)
