"""Commands for the queue: make pictures, and stop making them."""

from PySide6.QtCore import QObject, Signal

from app.commands.making import Making
from app.commands.removal import tell_removed
from app.commands.state import AppState
from app.form.obstacle import ObstacleState
from app.form.painting import Painting
from app.queue.jobs import Job, JobState


class JobCommands(QObject):
    """Queues the form's request as jobs, and cancels jobs."""

    # `generate` met an obstacle, which may be gone by now.
    refused = Signal()

    def __init__(
        self, state: AppState, obstacle: ObstacleState, painting: Painting, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._state, self._obstacle, self._painting = state, obstacle, painting
        self._making = Making(state, self)
        self._making.submitted.connect(self._on_submitted)
        state.queue.job_added.connect(self._on_job_added)

    @property
    def waiting(self) -> int:
        """The number of jobs that have not begun."""
        return sum(job.state is JobState.WAITING for job in self._state.queue.jobs)

    def make_again(self) -> None:
        """Queue the request whose pictures were last said to exist already."""
        self._making.make_again()

    def generate(self, *, front: bool = False) -> None:
        """Queue the form's request."""
        obstacle = self._obstacle.found
        if obstacle is not None:
            self._state.notices.tell_error(obstacle)
            self.refused.emit()
            return
        self._painting.when_kept(lambda: self._making.generate(front=front))

    def cancel(self) -> None:
        """Stop the running job; without one, take the next one off the queue, with an undo."""
        if self._making.withdraw():
            return
        queue = self._state.queue
        job = queue.running or queue.first_waiting
        # A job that was submitted a moment ago is not in the list yet.
        name = job.id if job is not None else self._making.newest
        if name:
            self._state.progress.stop()
            queue.cancel(name)
        if job is not None and job.state is JobState.WAITING:
            tell_removed(queue, self._state.notices, [job])

    def cancel_all(self) -> None:
        """Stop the running job and empty the queue; the jobs that waited can be put back."""
        waiting = [job for job in self._state.queue.jobs if job.state is JobState.WAITING]
        self._making.withdraw()
        self._state.progress.stop()
        self._state.queue.cancel_all()
        if waiting:
            tell_removed(self._state.queue, self._state.notices, waiting)

    def _on_submitted(self) -> None:
        engine = self._state.engine
        if engine.problem is not None:
            engine.start_again()

    def _on_job_added(self, job: Job) -> None:
        form = self._state.form
        # A kept seed is the user's: the first of the missing pictures may have another one.
        is_newest = job.id == self._making.newest and not form.seed_locked
        if is_newest and job.generation is not None:
            # The form shows the drawn seed, so that the user can keep it.
            form.seed = job.generation.seed
