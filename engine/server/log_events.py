"""Lines for the app's log, as events. Prompts are never logged, at any level."""

import logging

from engine.api.messages import LogRecord
from engine.server.failures import speakable
from engine.server.outbox import Put


class EventHandler(logging.Handler):
    """Sends each log record to the app."""

    def __init__(self, put: Put) -> None:
        super().__init__(logging.INFO)
        self._put = put

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record; `logging` calls this on the thread that logs."""
        text = speakable(self.format(record))
        self._put(LogRecord(level=record.levelname.lower(), logger=record.name, text=text))


def log_as_events(put: Put) -> None:
    """Send this process's log records from INFO on, and its Python warnings, to the app."""
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(EventHandler(put))
    logging.captureWarnings(capture=True)
