"""The time that each picture of this session took to make."""

from PySide6.QtCore import QObject

from app.engine.client import EngineClient
from engine.api.messages import ImageSaved, JobFinished


class MakingTimes(QObject):
    """Seconds by picture. Files do not hold them: a picture made again is the same file."""

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._paths: dict[str, list[str]] = {}
        self._seconds: dict[str, float] = {}
        client.image_saved.connect(self._on_saved)
        client.job_finished.connect(self._on_finished)

    def seconds(self, path: str) -> float | None:
        """Return how long a picture took; None for one of another session."""
        return self._seconds.get(path)

    def _on_saved(self, event: ImageSaved) -> None:
        # One job runs at a time: pictures of one that failed are of no use.
        self._paths = {event.job: [*self._paths.get(event.job, []), event.path]}

    def _on_finished(self, event: JobFinished) -> None:
        for path in self._paths.pop(event.job, ()):
            self._seconds[path] = event.timings.total_s
