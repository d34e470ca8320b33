"""The cache of a checkpoint is rebuilt on a thread of its own, while queries are answered."""

from threading import Thread

from engine.api.machine_messages import CacheListed, CacheRebuilding, RebuildCache
from engine.api.messages import QueryFailed
from engine.jobs.rebuilding import rebuild
from engine.jobs.runner import JobRunner
from engine.server.failures import error_info
from engine.server.outbox import Put


def rebuild_beside(query: RebuildCache, runner: JobRunner, put: Put) -> None:
    """Rebuild on another thread; the answer is sent from there."""
    Thread(target=_rebuild, args=(query, runner, put), name="rebuild", daemon=True).start()


def _rebuild(query: RebuildCache, runner: JobRunner, put: Put) -> None:
    def tell(done: int, total: int) -> None:
        put(CacheRebuilding(query=query.query, done=done, total=total))

    try:
        rebuild(runner, query.names, query.checkpoint, tell)
        put(CacheListed(query=query.query, artifacts=runner.services.cache.listed()))
    except Exception as error:  # noqa: BLE001 (the boundary that reports: the engine goes on)
        put(QueryFailed(query=query.query, error=error_info(error)))
