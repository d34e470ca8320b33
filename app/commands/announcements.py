"""Notices of events: failed jobs, warnings, crashes, work that is left from last time."""

import msgspec
from PySide6.QtCore import QObject

from app.commands.jobs import JobCommands
from app.commands.state import AppState
from app.engine.process import EngineState
from app.notices.kinds import actions
from app.notices.remedies import NoticeAction, advice
from app.notices.wording import worded, worded_reason
from app.queue.jobs import Job, JobState
from engine.api.messages import JobFinished, JobWarned
from engine.api.values import ErrorCode, ErrorInfo

# Warnings that a person is told at once, and those that are told with the finished picture; the
# others are in the picture's record.
_FAILED_DEVICE = (ErrorCode.BACKEND_FAILED, ErrorCode.OUT_OF_MEMORY)
_OF_ITS_FILES = (ErrorCode.LORA_NOT_FOUND, ErrorCode.LORA_REMARK, ErrorCode.EMBEDDING_REMARK)


class Announcements(QObject):
    """Turns events of the engine and the queue into notices."""

    def __init__(self, state: AppState, jobs: JobCommands, parent: QObject) -> None:
        super().__init__(parent)
        self._client, self._queue, self._notices = state.client, state.queue, state.notices
        self._jobs = jobs
        # Warnings about LoRAs and embeddings that were told: once is enough for a hundred pictures.
        self._told: set[ErrorInfo] = set()
        # The same of runtime packs: the engine may start many times.
        self._told_packs: set[str] = set()
        # The notices of devices that failed for a job, which another one took over.
        self._warned: dict[str, list[int]] = {}
        # The notice that the engine was started again.
        self._crash: int | None = None
        state.client.engine_crashed.connect(self._on_engine_crashed)
        state.client.engine_state_changed.connect(self._on_engine_state_changed)
        state.client.job_warned.connect(self._on_job_warned)
        state.client.job_finished.connect(self._on_job_finished)
        state.queue.job_changed.connect(self._tell_failure)
        state.queue.journal_failed.connect(state.notices.tell_error)
        state.background.failed.connect(state.notices.tell_error)

    def tell_what_was_left(self, *problems: ErrorInfo | None) -> None:
        """Add notices of unreadable files, and of failed and waiting jobs of the last session.

        The latest is in sight: what was lost of a person's is news, what failed was told before.
        """
        for job in self._queue.jobs:
            self._tell_failure(job)
        for problem in filter(None, problems):
            self._notices.tell_error(problem)
        waiting = self._jobs.waiting
        if waiting:
            resume = (NoticeAction.RESUME,) if self._queue.paused else ()
            buttons = (*resume, NoticeAction.CANCEL_ALL)
            self._notices.tell(self._left(waiting), actions=buttons)

    def _left(self, waiting: int) -> str:
        """Return the sentence about pictures that wait from last time."""
        if self._queue.paused:
            text = (
                self.tr("{n} pictures from last time wait: the queue is paused.")
                if waiting > 1
                else self.tr("A picture from last time waits: the queue is paused.")
            )
        elif waiting > 1:
            text = self.tr("Continuing {n} pictures from last time.")
        else:
            text = self.tr("Continuing a picture from last time.")
        return text.format(n=waiting)

    def _tell_failure(self, job: Job) -> None:
        if job.state.is_over:
            warned = self._warned.pop(job.id, ())
            if job.state is JobState.FAILED:
                # The last word is enough: no other device took over for good.
                for number in warned:
                    self._notices.dismiss(number)
        if job.state is JobState.FAILED and job.error is not None:
            self._notices.tell_error(job.error, job=job.id)

    def _on_engine_crashed(self, error: ErrorInfo) -> None:
        # The window shows an engine that was given up in a place of its own.
        if self._client.engine_state is not EngineState.STOPPED:
            again = self.tr("It was started again.")
            hint = " ".join(filter(None, (again, worded(error.advice))))
            crash = msgspec.structs.replace(error, advice=hint)
            self._crash = self._notices.tell_error(crash)

    def _on_engine_state_changed(self, state: EngineState) -> None:
        """Tell of runtime packs that the engine runs without."""
        if state is EngineState.STOPPED and self._crash is not None:
            # It was given up, and not started again.
            self._notices.dismiss(self._crash)
        if state is not EngineState.READY:
            return
        for problem in self._client.pack_problems:
            if problem not in self._told_packs:
                self._told_packs.add(problem)
                hint = self.tr("“Runtimes” can repair it; pictures are made without it.")
                self._notices.tell(worded_reason(problem), hint)

    def _on_job_warned(self, event: JobWarned) -> None:
        warning = event.warning
        if warning.code is ErrorCode.PREPARING:
            self._notices.tell(worded(warning.text), worded(warning.advice))
        elif warning.code in _FAILED_DEVICE:
            number = self._notices.tell_error(warning)
            self._warned.setdefault(event.job, []).append(number)

    def _on_job_finished(self, event: JobFinished) -> None:
        """Tell of LoRAs and embeddings that were not used as the picture's settings say."""
        found = (warning for warning in event.warnings if warning.code in _OF_ITS_FILES)
        new = tuple(dict.fromkeys(warning for warning in found if warning not in self._told))
        if not new:
            return
        self._told.update(new)
        offered = (action for warning in new for action in actions(warning, of_a_job=False))
        buttons = tuple(dict.fromkeys(offered))
        if len(new) == 1:
            self._notices.tell(worded(new[0].text), advice(new[0]), actions=buttons)
            return
        message = self.tr("Not all LoRAs and embeddings are in this picture as its settings say.")
        details = tuple(f"{worded(remark.text)} {worded(remark.advice)}".strip() for remark in new)
        self._notices.tell(message, details=details, actions=buttons)
