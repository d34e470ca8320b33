"""Large blocks never come to lie in the window's heap."""

import platform
import subprocess
import sys

import pytest

# Frees a block of a picture's size, takes another, and says how many lie outside the heap.
CODE = """
import ctypes
from app.heap import keep_heap_compact
KEEP and keep_heap_compact()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
class Figures(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks".split()]
    _fields_ += [(name, ctypes.c_size_t) for name in "hblkhd a b c d e".split()]
libc.mallinfo2.restype = Figures
libc.free(libc.malloc(1 << 20))
before = libc.mallinfo2().hblks
libc.malloc(1 << 20)
print(libc.mallinfo2().hblks - before)
"""


def blocks_outside(*, keep: bool) -> int:
    code = CODE.replace("KEEP", str(keep))
    return int(subprocess.check_output([sys.executable, "-c", code], text=True))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_a_large_block_lies_outside_the_heap_though_one_was_freed() -> None:
    assert blocks_outside(keep=True) == 1
    assert blocks_outside(keep=False) == 0
