"""The places of a network's weights."""

from enum import StrEnum


class WeightPlacement(StrEnum):
    """The place of weights that must be converted: memory, or a mapped working copy.

    MEMORY_THEN_COPY converts in memory and writes a working copy while the job runs, so that the
    next start converts nothing. IN_PLACE is a working copy that the runtime reads where it is:
    little is packed for its kernels, which are slower then, and round otherwise. STREAMED is one
    from which a device with memory of its own gets weights in each run; numbers are the same.
    """

    MEMORY = "memory"
    MEMORY_THEN_COPY = "memory_then_copy"
    WORKING_COPY = "working_copy"
    IN_PLACE = "in_place"
    STREAMED = "streamed"

    @property
    def maps(self) -> bool:
        """True if converted weights are mapped from a working copy from the start."""
        return self is WeightPlacement.WORKING_COPY or self.is_last

    @property
    def is_last(self) -> bool:
        """True if the runtime holds no more weights than it has room for, and steps take longer."""
        return self in (WeightPlacement.IN_PLACE, WeightPlacement.STREAMED)
