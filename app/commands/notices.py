"""Commands for notices: dismiss them, and do what they offer."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from app.commands.checkpoints import CheckpointCommands
from app.commands.failed_files import is_beside_checkpoint
from app.commands.jobs import JobCommands
from app.commands.queue import QueueCommands
from app.commands.retries import (
    Change,
    Retries,
    inverted,
    next_smaller,
    smaller,
    unlimited,
    with_new_seed,
)
from app.commands.state import AppState
from app.engine.device_state import DeviceState
from app.notices.notices import Notice
from app.notices.remedies import OF_A_JOB, NoticeAction
from app.notices.report import error_report
from app.queue.jobs import Job, JobRequest
from app.redaction import private_texts
from engine.api.machine import DeviceInfo
from engine.api.remedies import PartFile
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo

_CHANGES: Mapping[NoticeAction, Change] = MappingProxyType(
    {
        NoticeAction.RETRY_SMALLER: smaller,
        NoticeAction.RETRY_UNLIMITED: unlimited,
        NoticeAction.RETRY_INVERTED: inverted,
        NoticeAction.RETRY_NEW_SEED: with_new_seed,
    }
)
# Actions after which a failed picture is still to be made, by another button of its notice.
_BEFORE_A_RETRY = frozenset(
    {
        NoticeAction.ABOUT_CHECKPOINT,
        NoticeAction.CHECK_DEVICES,
        NoticeAction.FREE_SPACE,
        NoticeAction.LORA_FOLDERS,
        NoticeAction.RUNTIMES,
        NoticeAction.UPDATES,
    }
)


class NoticeCommands:
    """Runs the actions of a notice's buttons."""

    def __init__(
        self,
        state: AppState,
        jobs: JobCommands,
        in_queue: QueueCommands,
        checkpoint: CheckpointCommands,
        devices: DeviceState,
        save_in: Callable[[Path], object],
    ) -> None:
        """`save_in` has new pictures saved in another folder from now on."""
        self._state, self._notices, self._queue = state, state.notices, state.queue
        self._jobs, self._in_queue, self._devices = jobs, in_queue, devices
        self._checkpoint, self._save_in = checkpoint, save_in
        self._retries = Retries(state.queue, state.view, state.notices, state.background)

    def dismiss(self, notice: Notice) -> None:
        """Remove a notice and its failed jobs, so that no later start reports them."""
        self._notices.dismiss(notice.number)
        if notice.error is not None:
            for job in notice.subjects:
                self._queue.dismiss(job)

    def act(self, notice: Notice, action: NoticeAction) -> None:
        """Run an action of a notice and remove the notice, unless its picture is still to be made.

        Actions that need a choice first, or another part of the window, are left to the window.
        """
        if action is NoticeAction.EDIT:
            self._edit(notice)
            self.dismiss(notice)
        elif action in OF_A_JOB:
            self._notices.dismiss(notice.number)
        elif not (notice.subjects and action in _BEFORE_A_RETRY):
            self.dismiss(notice)
        if action in _CHANGES:
            self._retries.changed(notice, _CHANGES[action])
        else:
            self._run(notice, action)

    def undo_latest(self) -> None:
        """Revert the latest change that was told, also after its notice left."""
        notice = self._notices.latest_change
        if notice is not None:
            self.dismiss(notice)
            self._notices.revert(notice)

    def save_elsewhere(self, notice: Notice, folder: Path) -> None:
        """Save pictures to another folder from now on, first those of the notice."""
        self._notices.dismiss(notice.number)
        self._save_in(folder)
        self._retries.again(notice, folder)

    def use_found(self, notice: Notice, file: Path) -> None:
        """Use the new place of a checkpoint that was missing, first for the notice's pictures."""
        missing = self.missing_checkpoint(notice)
        self._notices.dismiss(notice.number)
        if missing is None or missing == self._state.form.checkpoint:
            self._checkpoint.open(file)

        def found(job: Job) -> JobRequest:
            if job.upscale is not None:
                return msgspec.structs.replace(job.upscale, upscaler=str(file))
            return msgspec.structs.replace(job.request, checkpoint=str(file))

        self._retries.changed(notice, found)

    def use_other(self, notice: Notice, file: Path) -> None:
        """Use another checkpoint, first for the notice's pictures; the form's, if it has theirs."""
        self._notices.dismiss(notice.number)
        jobs, chosen = self._retries.jobs(notice), str(self._state.form.checkpoint)
        if not jobs or any(_checkpoint_of(job) == chosen for job in jobs):
            self._checkpoint.open(file)
        declared = self._checkpoint.declared(file)

        def changed(job: Job) -> JobRequest:
            if job.upscale is not None:
                return msgspec.structs.replace(job.upscale, upscaler=str(file))
            return msgspec.structs.replace(
                job.request,
                checkpoint=str(file),
                override=declared.override,
                components=declared.components,
            )

        self._retries.changed(notice, changed)

    def supply(self, notice: Notice, files: Sequence[PartFile]) -> None:
        """Take parts from files, now for the notice's pictures and later for their checkpoint."""
        self._notices.dismiss(notice.number)
        given = {file.component: file.path for file in files}
        form = self._state.form
        chosen = str(form.checkpoint)
        wanted = {_checkpoint_of(job) for job in self._retries.jobs(notice)}
        if not wanted or chosen in wanted:
            parts = msgspec.structs.replace(form.declaration.components, **given)
            declared = msgspec.structs.replace(form.declaration, components=parts)
            self._checkpoint.declare(declared)

        def supplied(job: Job) -> GenerateRequest | None:
            request = job.generation
            if request is None:
                return None
            parts = msgspec.structs.replace(request.components, **given)
            return msgspec.structs.replace(request, components=parts)

        self._retries.changed(notice, supplied)

    def smaller_sizes(self, notice: Notice) -> frozenset[tuple[int, int]]:
        """Return the smaller sizes to which a notice's pictures may change; empty if unknown."""
        return frozenset(filter(None, map(next_smaller, self._retries.jobs(notice))))

    def other_device(self, notice: Notice) -> DeviceInfo | None:
        """Return the first device on which a notice's pictures did not fail; None if none is."""
        jobs = self._retries.jobs(notice)
        return next(iter(self._in_queue.other_devices(jobs[0])), None) if jobs else None

    @property
    def failed_hardware(self) -> str:
        """The name of the hardware that "auto" takes, on which most pictures fail."""
        chosen = self._devices.chosen
        return chosen.name if chosen is not None else ""

    def is_about_checkpoint(self, notice: Notice) -> bool:
        """Return False for a failure of another file that a picture needs."""
        jobs, error = self._retries.jobs(notice), notice.error
        return not (jobs and error is not None and is_beside_checkpoint(jobs[0], error))

    def missing_checkpoint(self, notice: Notice) -> Path | None:
        """Return the file that a notice misses: that of its jobs, or of the form."""
        if notice.error is None or notice.error.code is not ErrorCode.CHECKPOINT_NOT_FOUND:
            return None
        if not self.is_about_checkpoint(notice):
            return None
        jobs = self._retries.jobs(notice)
        if not jobs:
            return self._state.form.checkpoint
        missing = _checkpoint_of(jobs[0])
        return Path(missing) if missing else None

    def report(self, notice: Notice) -> str:
        """Return the report of a notice's failure, without what is private to the user."""
        return self.report_of(notice.error) if notice.error is not None else ""

    def report_of(self, error: ErrorInfo) -> str:
        """Return the report of a failure, without what is private to the user."""
        requests = (job.generation for job in self._queue.jobs)
        form = self._state.form
        return error_report(error, private_texts(form.prompt, form.negative_prompt, requests))

    def _edit(self, notice: Notice) -> None:
        jobs = self._retries.jobs(notice)
        if jobs:
            self._in_queue.edit(jobs[0].id)

    def _run(self, notice: Notice, action: NoticeAction) -> None:
        acts: dict[NoticeAction, Callable[[], object]] = {
            NoticeAction.RETRY: lambda: self._retries.again(notice),
            NoticeAction.RETRY_ON_ANOTHER: lambda: self._on_another(notice),
            NoticeAction.FREE_MEMORY: lambda: self._free_memory(notice),
            NoticeAction.CHECK_DEVICES: self._devices.check_again,
            NoticeAction.MAKE_AGAIN: self._jobs.make_again,
            NoticeAction.CANCEL_ALL: self._jobs.cancel_all,
            NoticeAction.RESUME: lambda: self._in_queue.pause(paused=False),
        }
        if action in acts:
            acts[action]()
        else:
            self._notices.revert(notice)

    def _on_another(self, notice: Notice) -> None:
        device = self.other_device(notice)
        if device is not None:
            self._in_queue.retry_on(notice.subjects, device.backend)

    def _free_memory(self, notice: Notice) -> None:
        """Start the engine anew, which keeps nothing in memory, and make the pictures again."""
        self._state.client.restart_engine()
        self._retries.again(notice)


def _checkpoint_of(job: Job) -> str | None:
    """Return the file of a job's model: a checkpoint, or an upscaler."""
    if job.upscale is not None:
        return job.upscale.upscaler
    return job.generation.checkpoint if job.generation is not None else None
