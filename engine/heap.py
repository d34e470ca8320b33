"""A process's heap, kept free of the holes that large blocks leave."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

# M_MMAP_THRESHOLD of <malloc.h>; glibc begins with 128 KiB.
_MMAP_THRESHOLD = -3
# M_ARENA_MAX of <malloc.h>; glibc begins with eight for each core.
_MOST_ARENAS = -8
# The bytes of a network's results that lie outside the heap; smaller blocks come and go too often.
LARGE_RESULT = 1 << 20


def keep_heap_compact(large: int, most_arenas: int = 0) -> None:
    """Have blocks of `large` bytes or more lie outside the heap, and go back once freed.

    glibc raises the size from which they do to that of the largest freed block, up to 32 MB
    (mallopt(3)). Such blocks then lie among small ones, and their room is seldom returned: in half
    an hour of the window's use the free part of its heap grew from 8 to 70 MB, and a first step of
    SDXL with OpenVINO at 512 x 512 left 72 MB of buffers that it had outgrown.

    `most_arenas` bounds the arenas that glibc makes for threads, 0 as it likes. What a thread freed
    in its own is no use to others: of the window's many threads that seldom work, each keeps its
    peak. With two in all they held 3 MB after four minutes of the window's use, otherwise 9 to 12.
    """
    if sys.platform != "linux":
        return
    import ctypes

    # Absent in other C libraries, which have no such threshold.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, large)
        if most_arenas:
            mallopt(_MOST_ARENAS, most_arenas)


@contextmanager
def importing() -> Generator[None]:
    """Collect no garbage while modules are imported.

    Nearly all that a module makes stays, so that to look through it again and again is in vain: it
    took a seventh of the import of all that a picture needs.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
