"""The activity of jobs, which disturbs the measurement of devices."""

import msgspec


class JobActivity(msgspec.Struct, frozen=True):
    """The number of jobs that have started, and whether one of them runs now.

    If two equal values are not busy, no job ran between them.
    """

    begun: int = 0
    is_busy: bool = False

    def begin(self) -> "JobActivity":
        """Return the activity after another job has started."""
        return JobActivity(self.begun + 1, is_busy=True)

    def end(self) -> "JobActivity":
        """Return the activity after the job has ended."""
        return JobActivity(self.begun)
