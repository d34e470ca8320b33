"""The C library's account of the application's heap: what is in use, and what it keeps free.

A window that grows by what it holds leaks; one that grows by what is free has holes.
"""

import ctypes


class _Mallinfo2(ctypes.Structure):
    """`struct mallinfo2` of <malloc.h>, glibc 2.33 and later; bytes and counts."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def heap_mb() -> tuple[float, float]:
    """Return the megabytes in use, large blocks outside the heap among them, and those free.

    Both are 0 with another C library. Python's small objects are in neither: it has its own arenas.
    """
    tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if tell is None:
        return 0.0, 0.0
    tell.restype = _Mallinfo2
    found = tell()
    return (found.uordblks + found.hblkhd) / 2**20, found.fordblks / 2**20
