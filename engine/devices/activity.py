"""The activity of jobs, which disturbs measurements of devices."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobActivity:
    """The jobs that have begun since the start, and whether one of them runs now.

    Two equal values that are not busy mean that no job ran between them.
    """

    begun: int = 0
    is_busy: bool = False

    def begin(self) -> "JobActivity":
        """The activity once the next job has begun."""
        return JobActivity(self.begun + 1, is_busy=True)

    def end(self) -> "JobActivity":
        """The activity once the job has ended."""
        return JobActivity(self.begun)
