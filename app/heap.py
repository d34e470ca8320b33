"""The window's heap, kept free of the holes that pictures leave."""

import sys

# M_MMAP_THRESHOLD of <malloc.h>. Thumbnails of 160 pixels have 100 KiB; glibc begins with 128.
_MMAP_THRESHOLD, _LARGE = -3, 64 << 10


def keep_heap_compact() -> None:
    """Have large blocks lie outside the heap for good, and return to the system once freed.

    glibc raises the size from which they do to that of the largest freed block, up to 32 MB
    (mallopt(3)). Pictures then lie among small blocks, and their room is seldom returned: in half
    an hour of use the free part of the heap grew from 8 to 70 MB.
    """
    if sys.platform != "linux":
        return
    import ctypes

    # Absent in other C libraries, which have no such threshold.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)
