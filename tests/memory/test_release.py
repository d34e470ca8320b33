"""Freed memory goes back to the system when asked for."""

import platform
import subprocess
import sys

import pytest

# Blocks below the size at which the allocator asks the system for each, with one kept above them.
_PROBE = """
import sys
from backends.hardware import private_bytes
from engine.memory.release import return_free_memory

class Knot:
    pass

blocks = [bytearray(b"x") * 65536 for _ in range(1600)]
knot = Knot()
knot.itself, knot.blocks = knot, blocks
top = bytearray(b"x") * 65536
del blocks, knot
before = private_bytes()
return_free_memory()
print(before - private_bytes(), len(top))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="GNU's allocator keeps what is freed")
def test_memory_that_was_freed_is_given_back() -> None:
    run = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    given_back = int(run.stdout.split()[0])
    assert given_back > 80e6
