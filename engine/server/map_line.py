"""The maps that are asked for, made one by one on a thread of their own."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Condition, Thread

from engine.api.map_messages import MakeMap, MapMade
from engine.api.messages import QueryFailed
from engine.cancel import CancelToken
from engine.errors import Cancelled
from engine.server.failures import error_info
from engine.server.outbox import Put

# Memory is released after this long without a map.
REST_AFTER_S = 60.0


class MapLine:
    """Makes maps in the order they were asked for. Any thread may use it."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._changed = Condition()
        self._waiting: OrderedDict[int, MakeMap] = OrderedDict()
        self._running: tuple[int, CancelToken] | None = None

    def start(
        self, work: Callable[[MakeMap, CancelToken], MapMade], rest: Callable[[], None]
    ) -> None:
        """Begin to make maps; `rest` is called once each time that none was asked for long."""
        Thread(target=self._run, args=(work, rest), name="maps", daemon=True).start()

    def add(self, query: MakeMap) -> None:
        """Have a map made, after those that were asked for before."""
        with self._changed:
            self._waiting[query.query] = query
            self._changed.notify_all()

    def cancel(self, query: int) -> None:
        """Answer a waiting query at once, ask a running one to stop, ignore another."""
        with self._changed:
            if self._waiting.pop(query, None):
                self._put(QueryFailed(query=query, error=Cancelled().info), wait=False)
            elif self._running and self._running[0] == query:
                # A runtime's cancel may block, and the caller must not.
                Thread(target=self._running[1].cancel, name="cancel", daemon=True).start()

    def _run(
        self, work: Callable[[MakeMap, CancelToken], MapMade], rest: Callable[[], None]
    ) -> None:
        while True:
            query, token = self._next(rest)
            try:
                self._put(work(query, token))
            except Exception as error:  # noqa: BLE001 (the boundary that reports: the engine goes on)
                self._put(QueryFailed(query=query.query, error=error_info(error)))

    def _next(self, rest: Callable[[], None]) -> tuple[MakeMap, CancelToken]:
        with self._changed:
            self._running = None
            idle = not self._changed.wait_for(lambda: bool(self._waiting), REST_AFTER_S)
        if idle:
            rest()
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting))
            _, query = self._waiting.popitem(last=False)
            token = CancelToken()
            self._running = query.query, token
            return query, token
