"""Commands for the jobs of the queue: their order, copies, changes and removal; the pause."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.commands.removal import tell_removed
from app.commands.retries import (
    Change,
    Retries,
    may_need_smaller,
    next_smaller,
    smaller,
    with_new_seed,
)
from app.commands.state import AppState
from app.engine.device_state import DeviceState
from app.form.generation import COMMON_SUGGESTIONS, EffectiveSettings
from app.form.kept_settings import settings_of
from app.library.upscale_outlooks import UpscaleOutlooks
from app.notices.remedies import NoticeAction
from app.queue.counted_seeds import with_counted_seed
from app.queue.drawing import Drawing, drawings, usual_strength
from app.queue.jobs import Job, JobRequest, JobState
from app.queue.pace import Pace
from app.queue.time_left import PassSteps
from app.queue.under_way import Tally, UnderWay
from engine.api.checkpoints import CheckpointInfo, SuggestedSettings
from engine.api.features import Features
from engine.api.machine import DeviceInfo
from engine.api.request import GenerateRequest
from engine.api.upscaling import UpscaleRequest
from engine.api.values import SamplerName
from engine.errors import EngineError

# A request that lets the engine choose the device.
_ANY = "auto"
# The topic of notices on the order: jobs are moved by several steps.
_ORDER = "order of the queue"


class QueueCommands(QObject):
    """Acts on jobs by their ids; what a command does not fit is left as it is.

    Removed jobs stay in the list as cancelled ones until the next start, so that they can be put
    back in their places.
    """

    def __init__(
        self,
        state: AppState,
        pace: Pace,
        devices: DeviceState,
        upscales: UpscaleOutlooks,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._upscales, self._changes = upscales, state.changes
        self._queue, self._form, self._view = state.queue, state.form, state.view
        self._checkpoints, self._notices = state.checkpoints, state.notices
        self._pace, self._devices = pace, devices
        self._retries = Retries(state.queue, state.view, state.notices, state.background)

    def to_front(self, jobs: Sequence[str]) -> None:
        """Put waiting jobs before all others that wait."""
        moved = frozenset(jobs)
        first = next((job.id for job in self._waiting() if job.id not in moved), None)
        if first is not None:
            self.place(jobs, first)

    def move(self, jobs: Sequence[str], by: int) -> None:
        """Move waiting jobs, together, one place up (`by` is -1) or down (1)."""
        named = frozenset(jobs)
        waiting = [job.id for job in self._waiting()]
        places = [place for place, name in enumerate(waiting) if name in named]
        if not places:
            return
        rest = [name for name in waiting if name not in named]
        target = max(0, places[0] - 1) if by < 0 else places[0] + 1
        moved = [waiting[place] for place in places]
        self.place(moved, rest[target] if target < len(rest) else None)

    def place(self, jobs: Sequence[str], before: str | None) -> None:
        """Put waiting jobs before another job, which can be undone; with None behind all others."""
        order = [job.id for job in self._waiting()]
        self._queue.move(jobs, before)
        known, named = frozenset(order), frozenset(jobs) - {before}
        rest = [name for name in order if name not in named]
        at = rest.index(before) if before in known else len(rest)
        # The queue itself has the other order a moment later.
        if [*rest[:at], *(name for name in jobs if name in known & named), *rest[at:]] == order:
            return

        def undo() -> None:
            since = [job.id for job in self._waiting() if job.id not in known]
            self._queue.move([*order, *since], None)

        self._notices.tell(
            self.tr("The queue has another order."),
            actions=(NoticeAction.UNDO_CHANGE,),
            topic=_ORDER,
            undo=undo,
        )

    def duplicate(self, jobs: Sequence[str]) -> None:
        """Queue each job once more, behind it, with a new seed; of a variation another one."""
        try:
            self._queue.check_room(len(jobs))
        except EngineError as error:
            self._notices.tell_error(error.info)
            return
        self._queue.in_turns(self._duplicate(self._named(jobs)))

    def _duplicate(self, jobs: Iterable[Job]) -> Iterator[None]:
        for job in jobs:
            if job.generation is not None:
                copies = self._queue.submit(with_counted_seed(job.generation, None), job.folder)
                self._put_behind(job.id, copies)
            yield

    def edit(self, job_id: str) -> None:
        """Fill the form with a job's settings; a job that waits leaves the queue. Can be undone."""
        job = self._queue.job(job_id)
        request = job.generation if job is not None else None
        if job is None or request is None:
            return
        before = self._form.form
        waits = job.state is JobState.WAITING
        if request.checkpoint is not None:
            self._checkpoints.add(Path(request.checkpoint))
        # What left the queue comes back as the one picture that it was.
        count = 1 if waits else self._form.count
        self._form.load_request(msgspec.structs.replace(settings_of(request), count=count))
        after = self._form.form
        if waits:
            self._queue.cancel(job.id)

        def undo() -> None:
            self._changes.undo(before, after)
            if waits:
                self._queue.retry(job.id)

        message = self.tr("This picture's settings are in the form.")
        left = self.tr("It left the queue; Generate puts it back as you change it.")
        self._notices.tell(
            message, left if waits else "", actions=(NoticeAction.UNDO_CHANGE,), undo=undo
        )

    def retry(self, jobs: Sequence[str]) -> None:
        """Queue failed jobs again in their places; a picture that was finished is only saved."""
        failed = self._named(jobs, JobState.FAILED)
        self._forget_failures(failed)
        self._retries.once_more(job.id for job in failed)

    def retry_smaller(self, jobs: Sequence[str]) -> None:
        """Queue failed jobs again, each at its next smaller size."""
        self._retry_with(smaller, jobs)

    def retry_with_new_seed(self, jobs: Sequence[str]) -> None:
        """Queue failed jobs again, each with a seed drawn by chance."""
        self._retry_with(with_new_seed, jobs)

    def retry_on(self, jobs: Sequence[str], backend: str) -> None:
        """Queue failed jobs again, to be computed by a device."""
        self._retry_with(lambda job: msgspec.structs.replace(job.request, backend=backend), jobs)

    def _retry_with(self, change: Change, jobs: Sequence[str]) -> None:
        def retries() -> Iterator[None]:
            retried: list[Job] = []
            for job in self._named(jobs, JobState.FAILED):
                request = change(job)
                if request is not None:
                    retried.append(job)
                    yield self._queue.retry(job.id, request)
            self._forget_failures(retried)

        self._queue.in_turns(retries())
        self._view.follow()

    def other_devices(self, job: Job) -> tuple[DeviceInfo, ...]:
        """Return the devices that can compute but for the one that a job asks for, or gets."""
        chosen, named = self._devices.chosen, job.request.backend
        own = chosen.backend if named == _ANY and chosen is not None else named
        devices = self._devices.devices
        return tuple(device for device in devices if not device.unusable and device.backend != own)

    def smaller_size(self, job: Job) -> tuple[int, int] | None:
        """Return the next smaller size of a job in pixels; None if there is none, or no use."""
        return next_smaller(job) if may_need_smaller(job) else None

    def remove(self, jobs: Sequence[str]) -> None:
        """Take waiting jobs off the queue, which can be undone, and dismiss those that are over."""
        waiting = self._named(jobs, JobState.WAITING)
        running = self._named(jobs, JobState.RUNNING)
        over = self._named(jobs, JobState.FAILED, JobState.DONE)
        self._queue.in_turns(self._queue.cancel(job.id) for job in (*waiting, *running))
        self._queue.in_turns(self._queue.dismiss(job.id) for job in over)
        self._forget_failures(over)
        if waiting:
            tell_removed(self._queue, self._notices, waiting)

    def clear(self, state: JobState) -> None:
        """Remove the jobs that are over in one state: the finished or the failed ones."""
        gone = [job for job in self._queue.jobs if job.state is state]
        self._queue.clear(state)
        self._forget_failures(gone)

    def pause(self, *, paused: bool) -> None:
        """Start no further picture, or go on."""
        self._queue.pause(paused=paused)

    def seconds(self, request: JobRequest) -> float | None:
        """Return the expected seconds for a picture of a job; None if its checkpoint is new."""
        if isinstance(request, UpscaleRequest):
            return self._upscales.seconds(request)
        return self._pace.seconds(request.checkpoint or "", self._drawings(request))

    def pass_steps(self, request: JobRequest) -> tuple[PassSteps, ...]:
        """Return the steps of each pass of a job's picture; none for one that is enlarged."""
        if isinstance(request, UpscaleRequest):
            return ()
        return tuple(
            PassSteps(each.steps, each.predictions * each.seen / max(1, each.steps))
            for each in self._drawings(request)
        )

    def _drawings(self, request: GenerateRequest) -> tuple[Drawing, ...]:
        info = self._info(request)
        strength = usual_strength(request, info.features if info is not None else Features())
        suggested = self._suggested(request.sampler, info)
        width, height = self.shape(request)
        settled = EffectiveSettings(
            width=width,
            height=height,
            steps=request.steps or suggested.steps,
            guidance=suggested.guidance if request.guidance is None else request.guidance,
            sampler=request.sampler or suggested.sampler,
            schedule=request.schedule or suggested.schedule,
            strength=strength,
        )
        return drawings(request, settled, self._checkpoints.features)

    def _suggested(
        self, sampler: SamplerName | None, info: CheckpointInfo | None
    ) -> SuggestedSettings:
        """Return the settings that a checkpoint suggests; the form's where it is not known."""
        suggested = self._form.suggestions.settings
        if info is not None:
            suggested = info.suggested or COMMON_SUGGESTIONS.settings
        alike = (entry for entry in suggested if entry.sampler is sampler)
        return next(alike, suggested[0])

    def _info(self, request: GenerateRequest) -> CheckpointInfo | None:
        answer = self._checkpoints.answer(Path(request.checkpoint or ""))
        return answer if isinstance(answer, CheckpointInfo) else None

    @property
    def under_way(self) -> Tally:
        """The jobs that are not over, which are counted from the first question on."""
        return self._counted.tally

    @property
    def states(self) -> Counter[JobState]:
        """The number of jobs in each state, which are counted from the first question on."""
        return self._counted.states

    @cached_property
    def _counted(self) -> UnderWay:
        return UnderWay(self._queue, self)

    def total_seconds(self, tally: Tally) -> float | None:
        """Return the expected seconds for a picture of each job; None if a checkpoint is new.

        Equal pictures are estimated once: a queue may hold thousands.
        """
        total = 0.0
        for alike in tally:
            seconds = self.seconds(alike.request)
            if seconds is None:
                return None
            total += seconds * alike.count
        return total

    def shape(self, request: JobRequest) -> tuple[int, int]:
        """Return a picture's width and height in pixels, as far as its checkpoint is known."""
        if isinstance(request, UpscaleRequest):
            return self._upscales.shape(request)
        info = self._info(request)
        side = info.default_size if info is not None else None
        side = side or self._form.suggestions.side
        return request.width or side, request.height or side

    def _forget_failures(self, jobs: Iterable[Job]) -> None:
        gone = {job.id for job in jobs}
        for notice in self._notices.notices:
            of_one = len(set(notice.subjects)) == 1
            if notice.error is not None and of_one and gone.issuperset(notice.subjects):
                self._notices.dismiss(notice.number)

    def _waiting(self) -> list[Job]:
        return [job for job in self._queue.jobs if job.state is JobState.WAITING]

    def _put_behind(self, job: str, copies: Sequence[str]) -> None:
        """Move copies behind a job; behind all others if it does not wait, or no longer does."""
        waiting = [other.id for other in self._waiting()]
        if job in waiting:
            behind = waiting[waiting.index(job) + 1 :]
            self._queue.move(copies, next(iter(behind), None))

    def _named(self, jobs: Sequence[str], *states: JobState) -> list[Job]:
        found = filter(None, map(self._queue.job, jobs))
        return [job for job in found if not states or job.state in states]
