"""A process's heap, kept free of the holes that large blocks leave."""

import sys

# M_MMAP_THRESHOLD of <malloc.h>; glibc begins with 128 KiB.
_MMAP_THRESHOLD = -3
# The bytes of a network's results that lie outside the heap; smaller blocks come and go too often.
LARGE_RESULT = 1 << 20


def keep_heap_compact(large: int) -> None:
    """Have blocks of `large` bytes or more lie outside the heap, and go back once freed.

    glibc raises the size from which they do to that of the largest freed block, up to 32 MB
    (mallopt(3)). Such blocks then lie among small ones, and their room is seldom returned: in half
    an hour of the window's use the free part of its heap grew from 8 to 70 MB, and a first step of
    SDXL with OpenVINO at 512 x 512 left 72 MB of buffers that it had outgrown.
    """
    if sys.platform != "linux":
        return
    import ctypes

    # Absent in other C libraries, which have no such threshold.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, large)
