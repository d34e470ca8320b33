"""The checkpoints that a job draws with."""

from collections.abc import Callable

import msgspec

from engine.families.checkpoint import IdentifiedCheckpoint


class JobCheckpoints(msgspec.Struct, frozen=True, eq=False):
    """The checkpoints of a job: of its first run, of its second passes, and the refiner.

    `seconds` has an entry for each second pass of the request: its own checkpoint, or None where
    the first one draws it. Passes of one file have the same checkpoint. The refiner finishes the
    last run.
    """

    first: IdentifiedCheckpoint
    seconds: tuple[IdentifiedCheckpoint | None, ...] = ()
    refiner: IdentifiedCheckpoint | None = None

    @property
    def runs(self) -> tuple[IdentifiedCheckpoint, ...]:
        """The checkpoint of each run: of the first, then of each second pass."""
        return self.first, *(own or self.first for own in self.seconds)

    def refiner_of(self, checkpoint: IdentifiedCheckpoint) -> IdentifiedCheckpoint | None:
        """Return the refiner if it finishes a run of this checkpoint; else None."""
        return self.refiner if checkpoint is self.runs[-1] else None

    def with_each(
        self, change: Callable[[IdentifiedCheckpoint], IdentifiedCheckpoint], *, refiner: bool
    ) -> "JobCheckpoints":
        """Return the checkpoints with a change to each of them, or to all but the refiner."""
        every = {id(checkpoint): checkpoint for checkpoint in self.runs}
        changed = {key: change(checkpoint) for key, checkpoint in every.items()}
        return JobCheckpoints(
            changed[id(self.first)],
            tuple(own and changed[id(own)] for own in self.seconds),
            change(self.refiner) if refiner and self.refiner else self.refiner,
        )
