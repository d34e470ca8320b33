"""Returns the memory that this process has freed to the operating system."""

import gc
import sys


def return_free_memory() -> None:
    """Collect garbage, and have the allocator return free memory to the operating system."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        # Absent in C libraries other than GNU's, which do not keep freed memory.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
