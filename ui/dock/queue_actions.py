"""The actions on selected jobs of the queue: their icons, and the states they fit."""

from collections.abc import Callable, Sequence

import msgspec

from app.commands.queue import QueueCommands
from app.queue.jobs import Job, JobState
from ui.action_names import ActionName

_WAITING = frozenset({JobState.WAITING})
_FAILED = frozenset({JobState.FAILED})
_ANY = frozenset(JobState)
_OF_MADE = frozenset({ActionName.DUPLICATE_JOB, ActionName.EDIT_JOB})


class QueueAction(msgspec.Struct, frozen=True):
    """An action on those of the selected jobs that are in one of its states."""

    name: ActionName
    icon: str
    states: frozenset[JobState]
    act: Callable[[Sequence[str]], object]
    # The action needs settings that the form has.
    of_made: bool = False

    def suits(self, job: Job) -> bool:
        """Return True if the action does something with a job."""
        return job.state in self.states and not (self.of_made and job.generation is None)

    def fits(self, jobs: Sequence[Job]) -> bool:
        """Return True if the action does something with one of the jobs."""
        return any(map(self.suits, jobs))


def queue_actions(commands: QueueCommands) -> tuple[QueueAction, ...]:
    """Return the actions, in the order of their buttons."""

    def up(jobs: Sequence[str]) -> None:
        commands.move(jobs, -1)

    def down(jobs: Sequence[str]) -> None:
        commands.move(jobs, 1)

    def edit(jobs: Sequence[str]) -> None:
        commands.edit(jobs[0])

    name = ActionName
    table = (
        (name.MAKE_NEXT, "front", _WAITING, commands.to_front),
        (name.MAKE_EARLIER, "up", _WAITING, up),
        (name.MAKE_LATER, "down", _WAITING, down),
        (name.DUPLICATE_JOB, "copy", _ANY, commands.duplicate),
        (name.EDIT_JOB, "create", _ANY, edit),
        (name.RETRY_JOB, "restore", _FAILED, commands.retry),
        (name.REMOVE_JOB, "trash", _ANY, commands.remove),
    )
    return tuple(
        QueueAction(name, icon, states, act, name in _OF_MADE) for name, icon, states, act in table
    )
