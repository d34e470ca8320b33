"""Queues the form's request; a picture that exists already is reported, not made twice."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.commands.repeats import Repeats, filled, find_repeats
from app.commands.state import AppState
from app.notices.remedies import NoticeAction
from app.queue.counted_seeds import counted_seed, with_counted_seed
from app.queue.jobs import Job, JobState
from engine.api.checkpoints import CheckpointInfo
from engine.api.request import GenerateRequest
from engine.errors import EngineError

# Further seeds of a batch are compared with the queue only, not with files.
_MOST_LOOKED_FOR = 100
# Only the latest request can be made again.
_TOPIC = "repeats"


class Making(QObject):
    """Queues the form's request; with a locked seed it first looks for pictures that exist."""

    # Jobs were put into the queue.
    submitted = Signal()

    def __init__(self, state: AppState, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._checkpoints, self._queue = state.form, state.checkpoints, state.queue
        self._pictures, self._view, self._notices = state.output_pictures, state.view, state.notices
        self._background = state.background
        # The first job of what was submitted last.
        self.newest = ""
        # Requests of submitted jobs that the queue has not added yet, by job.
        self._untold: dict[str, GenerateRequest] = {}
        # The request whose pictures were last said to exist already.
        self._repeated: GenerateRequest | None = None
        # Numbers of the requests whose existing pictures are being looked for.
        self._looking: set[int] = set()
        self._next = 0
        self._queue.job_added.connect(self._on_job_added)

    def make_again(self) -> None:
        """Queue the request whose pictures were last said to exist already."""
        if self._repeated is not None:
            self._submit(self._repeated, front=False)

    def generate(self, *, front: bool = False) -> None:
        """Queue the form's request."""
        request = self._form.build_request()
        first = counted_seed(request)
        if request.seed is None or first is None:
            self._submit(request, front=front)
            return
        answer = self._checkpoints.answer(self._form.checkpoint)
        digest = answer.digest if isinstance(answer, CheckpointInfo) else None
        wanted = filled(request, self._form.effective)
        seeds = range(first, first + min(request.count, _MOST_LOOKED_FOR))
        pictures = self._pictures.snapshot
        shown = self._view.path
        self._next += 1
        number = self._next
        self._looking.add(number)

        def take(repeats: Repeats) -> None:
            if number in self._looking:
                self._looking.remove(number)
                self._submit_rest(request, first, repeats, front=front)

        self._background.run(lambda: find_repeats(wanted, seeds, digest, pictures, shown), take)

    def withdraw(self) -> bool:
        """Drop requests whose pictures are being looked for; return True if there were any."""
        was_looking = bool(self._looking)
        self._looking.clear()
        return was_looking

    def _submit_rest(
        self, request: GenerateRequest, first: int, saved: Repeats, *, front: bool
    ) -> None:
        """Queue the pictures, of seeds from `first` on, that neither exist nor are queued."""
        wanted = range(first, first + request.count)
        # Other seeds of these settings are other pictures.
        known = {*saved, *self._queued_seeds(request)}.intersection(wanted)
        if known:
            self._repeated = request
            self._tell(saved, len(wanted) - len(known))
        for start, count in _runs([seed for seed in wanted if seed not in known]):
            run = msgspec.structs.replace(request, count=count)
            self._submit(with_counted_seed(run, start), front=front)

    def _queued_seeds(self, request: GenerateRequest) -> set[int]:
        """Return the seeds of this request whose picture is queued, or was made in this session."""
        queued = (job.generation for job in self._queue.jobs if _makes_a_picture(job))
        jobs = [made for made in queued if made is not None]
        bare = with_counted_seed(msgspec.structs.replace(request, count=1), None)
        return {
            seed
            for made in (*jobs, *self._untold.values())
            if (seed := counted_seed(made)) is not None and with_counted_seed(made, None) == bare
        }

    def _tell(self, saved: Repeats, left: int) -> None:
        if saved and not left:
            path = next(iter(saved.values()))
            self._view.choose(path)
            message = self.tr("{name} was made with these very settings and this seed.")
            message = message.format(name=Path(path).name[:80])
        elif not left:
            message = self.tr("This very picture is being made, or was made a moment ago.")
        else:
            message = self.tr("Some of these pictures exist, with these very settings and seeds.")
        hint = self.tr("Made again it would be the same. Let the seed change for another one.")
        self._notices.tell(message, hint, actions=(NoticeAction.MAKE_AGAIN,), topic=_TOPIC)

    def _submit(self, request: GenerateRequest, *, front: bool) -> None:
        try:
            jobs = self._queue.submit(request, self._pictures.folder, front=front)
        except EngineError as error:
            self._notices.tell_error(error.info)
            return
        self.newest = jobs[0]
        first = counted_seed(request)
        if request.seed is not None and first is not None:
            single = msgspec.structs.replace(request, count=1)
            for seed, job in enumerate(jobs, first):
                self._untold[job] = with_counted_seed(single, seed)
        self._view.follow()
        self.submitted.emit()

    def _on_job_added(self, job: Job) -> None:
        self._untold.pop(job.id, None)


def _makes_a_picture(job: Job) -> bool:
    if job.state is JobState.DONE:
        # It may be in the trash by now.
        return any(map(os.path.exists, job.images))
    return not job.state.is_over


def _runs(seeds: Sequence[int]) -> list[tuple[int, int]]:
    """Return ascending seeds as runs without gaps: the first seed and the length of each."""
    runs: list[tuple[int, int]] = []
    for seed in seeds:
        if runs and sum(runs[-1]) == seed:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((seed, 1))
    return runs
