"""The computer stays awake while the queue makes pictures."""

from PySide6.QtCore import QObject, QTimer

from app.background import Background
from app.queue.job_queue import JobQueue
from app.staying_awake import Release, stay_awake

# Between two jobs, and while an engine starts anew, it stays awake for so long.
_REST_MS = 30_000


class Wakefulness(QObject):
    """Keeps the computer from falling asleep by itself while a job runs, and a little longer."""

    def __init__(self, queue: JobQueue, background: Background, rest_ms: int = _REST_MS) -> None:
        super().__init__(queue)
        self._queue, self._background = queue, background
        self._release: Release | None = None
        # Asked for, and neither answered nor given up since.
        self._is_asked = False
        self._rest = QTimer(self, singleShot=True, interval=rest_ms)
        self._rest.timeout.connect(self._give_up)
        for signal in (queue.job_added, queue.job_changed, queue.job_removed):
            signal.connect(self._follow)

    def end(self) -> None:
        """Let the computer sleep again, at once."""
        self._rest.stop()
        self._give_up()

    def _follow(self, *_: object) -> None:
        if self._queue.running is None:
            if self._is_asked and not self._rest.isActive():
                self._rest.start()
            return
        self._rest.stop()
        if not self._is_asked:
            self._is_asked = True
            self._background.run(stay_awake, self._on_awake)

    def _on_awake(self, release: Release | None) -> None:
        if release is not None and (not self._is_asked or self._release is not None):
            release()
        elif release is not None:
            self._release = release

    def _give_up(self) -> None:
        self._is_asked = False
        if self._release is not None:
            self._release()
            self._release = None
