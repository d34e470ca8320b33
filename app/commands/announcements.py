"""Notices of events: failed jobs, warnings, crashes, work that is left from last time."""

import msgspec
from PySide6.QtCore import QObject

from app.commands.jobs import JobCommands
from app.commands.state import AppState
from app.engine.process import EngineState
from app.notices.remedies import NoticeAction
from app.queue.jobs import Job, JobState
from engine.api.messages import JobWarned
from engine.api.values import ErrorCode, ErrorInfo

# Warnings that a person is told at once; the others are in the picture's record.
_FAILED_DEVICE = (ErrorCode.BACKEND_FAILED, ErrorCode.OUT_OF_MEMORY)


class Announcements(QObject):
    """Turns events of the engine and the queue into notices."""

    def __init__(self, state: AppState, jobs: JobCommands, parent: QObject) -> None:
        super().__init__(parent)
        self._client, self._queue, self._notices = state.client, state.queue, state.notices
        self._jobs = jobs
        state.client.engine_crashed.connect(self._on_engine_crashed)
        state.client.job_warned.connect(self._on_job_warned)
        state.queue.job_changed.connect(self._tell_failure)
        state.queue.journal_failed.connect(state.notices.tell_error)
        state.background.failed.connect(state.notices.tell_error)

    def tell_what_was_left(self, *problems: ErrorInfo | None) -> None:
        """Add notices of unreadable files, and of failed and waiting jobs of the last session."""
        for problem in filter(None, problems):
            self._notices.tell_error(problem)
        for job in self._queue.jobs:
            self._tell_failure(job)
        waiting = self._jobs.waiting
        if waiting:
            self._notices.tell(
                self.tr("Continuing {n} pictures from last time.").format(n=waiting)
                if waiting > 1
                else self.tr("Continuing a picture from last time."),
                actions=(NoticeAction.CANCEL_ALL,),
            )

    def _tell_failure(self, job: Job) -> None:
        if job.state is JobState.FAILED and job.error is not None:
            self._notices.tell_error(job.error, job=job.id)

    def _on_engine_crashed(self, error: ErrorInfo) -> None:
        # The window shows an engine that was given up in a place of its own.
        if self._client.engine_state is not EngineState.STOPPED:
            again = self.tr("It was started again.")
            hint = " ".join(filter(None, (again, error.hint)))
            self._notices.tell_error(msgspec.structs.replace(error, hint=hint))

    def _on_job_warned(self, event: JobWarned) -> None:
        warning = event.warning
        if warning.code is ErrorCode.PREPARING:
            self._notices.tell(warning.message, warning.hint)
        elif warning.code in _FAILED_DEVICE:
            self._notices.tell_error(warning)
