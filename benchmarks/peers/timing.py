"""Timing one run of a peer, and saving what it made."""

from collections.abc import Callable, Mapping
from time import perf_counter, process_time
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.child import Answer

Made = TypeVar("Made")


def timed(
    run: Callable[[], Made],
    options: Mapping[str, Any],
    array_of: Callable[[Made], ArrayLike] = np.asarray,
) -> Answer:
    """Run once and return the seconds, and those of processors.

    `save` names a file for the array of what was made.
    """
    start, worked = perf_counter(), process_time()
    made = run()
    seconds, worked = perf_counter() - start, process_time() - worked
    if "save" in options:
        np.save(options["save"], array_of(made))
    return {"seconds": seconds, "processor_s": worked}
