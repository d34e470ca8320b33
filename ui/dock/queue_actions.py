"""The actions on selected jobs of the queue: their words, icons, keys, and the states they fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence

from app.commands.queue import QueueCommands
from app.queue.jobs import Job, JobState

translate = QCoreApplication.translate

_WAITING = frozenset({JobState.WAITING})
_FAILED = frozenset({JobState.FAILED})
_ANY = frozenset(JobState)
_OF_MADE = frozenset({"copy", "create"})


@dataclass(frozen=True, slots=True)
class QueueAction:
    """An action on those of the selected jobs that are in one of its states."""

    # Also that of its icon.
    name: str
    text: str
    key: QKeySequence
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

    table = (
        ("front", translate("queue", "Make it next"), "Alt+Home", _WAITING, commands.to_front),
        ("up", translate("queue", "Make it earlier"), "Alt+Up", _WAITING, up),
        ("down", translate("queue", "Make it later"), "Alt+Down", _WAITING, down),
        ("copy", translate("queue", "Duplicate"), "D", _ANY, commands.duplicate),
        ("create", translate("queue", "Edit in the form"), "E", _ANY, edit),
        ("restore", translate("queue", "Try again"), "R", _FAILED, commands.retry),
        ("trash", translate("queue", "Remove"), "Del", _ANY, commands.remove),
    )
    return tuple(
        QueueAction(name, text, QKeySequence(key), states, act, name in _OF_MADE)
        for name, text, key, states, act in table
    )
