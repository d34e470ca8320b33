"""Large blocks never come to lie in the heap of the window or of the engine; threads share it."""

import platform
import subprocess
import sys

import pytest

# Frees a block of a picture's size, takes another, and says how many lie outside the heap.
CODE = """
import ctypes, os, sys
def say_outside():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    class Figures(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks".split()]
        _fields_ += [(name, ctypes.c_size_t) for name in "hblkhd a b c d e".split()]
    libc.mallinfo2.restype = Figures
    libc.free(libc.malloc(1 << 20))
    before = libc.mallinfo2().hblks
    libc.malloc(1 << 20)
    print("outside", libc.mallinfo2().hblks - before, file=sys.stderr, flush=True)
START
say_outside()
"""
# The engine's main function, without serving.
ENGINE = """
from engine.server import process
process.Engine.serve = lambda _engine: say_outside() or 0
process.run_engine(None)
"""
STARTS = {
    "function": "from engine.heap import keep_heap_compact; keep_heap_compact(64 << 10)",
    "engine": ENGINE,
    "command": "from app.cli import run; run(['inspect', 'no such file'])",
}

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")


def blocks_outside(start: str) -> int:
    code = CODE.replace("START", start)
    command = [sys.executable, "-c", code]
    made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return int(made.stderr.split(b"outside ")[-1].split()[0])


@pytest.mark.parametrize("start", STARTS)
def test_a_large_block_lies_outside_the_heap_though_one_was_freed(start: str) -> None:
    assert blocks_outside(STARTS[start]) == 1


def test_a_heap_as_glibc_begins_it_holds_a_large_block() -> None:
    assert blocks_outside("") == 0


# Eight threads at once allocate what an arena must hold.
THREADS = """
import ctypes, re, threading
from engine.heap import keep_heap_compact
START
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
all_there = threading.Barrier(8)
def allocate():
    all_there.wait()
    libc.malloc(1000)
    all_there.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w")))
libc.fflush(None)
"""


def arenas(start: str) -> int:
    code = THREADS.replace("START", start)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return told.stdout.count(b"<heap nr=")


def test_threads_share_as_many_arenas_as_are_allowed() -> None:
    assert arenas("keep_heap_compact(64 << 10, 2)") == 2
    assert arenas("") > 2
