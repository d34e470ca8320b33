"""The work of other programs, which disturbs the measurement of a device."""

import os
import time

from backends.hardware import processor_times

# The share of all processors' time from which on other programs' work disturbs. A desktop at rest
# takes some hundredths; this share makes a run on all processors a sixth longer, and more where a
# thread that has to wait holds up the others.
_MUCH = 0.15
# The steps in which systems count a processor's time are at most a 64th of a second, Windows'.
_STEP_S = 1 / 64


class OtherPrograms:
    """The time that other processes take of the processors, from its making on."""

    def __init__(self) -> None:
        self._begin, self._own_s = processor_times(), time.process_time()

    def were_busy(self) -> bool:
        """True if they took much; False where the system does not tell, or not finely enough."""
        end, own_s = processor_times(), time.process_time() - self._own_s
        if self._begin is None or end is None:
            return False
        unsure_s = _STEP_S * (os.cpu_count() or 1)
        others_s = end.busy_s - self._begin.busy_s - own_s - unsure_s
        return others_s > _MUCH * (end.all_s - self._begin.all_s)
