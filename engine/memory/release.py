"""Gives back to the system what this process has freed."""

import gc
import sys


def return_free_memory() -> None:
    """Free what nobody refers to any more, and have the allocator keep none of it for later."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        # Absent in C libraries other than GNU's, which do not keep it.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
