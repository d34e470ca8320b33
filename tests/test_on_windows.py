"""Calls of Windows' own functions, and what came of them: only Windows can tell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backends import hardware
from engine.checkpoints.index import Stamp
from engine.lora.files_below import list_one
from engine.packs import this_machine

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="calls functions of Windows")

_NORMAL_PRIORITY_CLASS = 0x20
# Prints the priority class, and what of the power throttling is set and to what.
_PRIORITY = """
import ctypes
from ctypes import wintypes
from engine.priority import yield_to_others
yield_to_others()
kernel, own = ctypes.WinDLL("kernel32"), wintypes.HANDLE(-1)
throttling = (ctypes.c_uint32 * 3)(1, 0, 0)
size = wintypes.DWORD(ctypes.sizeof(throttling))
assert kernel.GetProcessInformation(own, 4, ctypes.byref(throttling), size)
print(kernel.GetPriorityClass(own), *throttling[1:])
"""
_HANDLES = """
import ctypes, msvcrt, os
from ctypes import wintypes
from engine.stdio import take_stdio
pipes = take_stdio()
kernel = ctypes.WinDLL("kernel32")
kernel.GetStdHandle.argtypes, kernel.GetStdHandle.restype = (wintypes.DWORD,), wintypes.HANDLE
same = [kernel.GetStdHandle(-10 - number) == msvcrt.get_osfhandle(number) for number in (0, 1)]
os.write(pipes.events, repr(same).encode())
"""
# Makes a folder by the C library, named in UTF-8 as native runtimes do.
_FOLDER = """
import ctypes, sys
from engine.packs import use_packs
use_packs()
print(ctypes.CDLL("ucrtbase")._mkdir(sys.argv[1].encode()))
"""


def said(program: Path, code: str, *arguments: str) -> str:
    done = subprocess.run(
        [program, "-I", "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return done.stdout.decode().strip()


def test_the_engine_may_use_the_fast_cores_of_a_hybrid_processor() -> None:
    """Processes have them that are of the normal class and ask the system for speed."""
    assert said(Path(sys.executable), _PRIORITY) == f"{_NORMAL_PRIORITY_CLASS} 1 0"


def test_windows_knows_the_streams_that_take_the_place_of_the_pipes() -> None:
    """The C library tells it of those of console programs alone, and pythonw is none."""
    assert said(Path(sys.executable).with_name("pythonw.exe"), _HANDLES) == "[True, True]"


def test_native_runtimes_find_folders_with_any_letters(tmp_path: Path) -> None:
    folder = tmp_path / "Zoë 模型"
    assert said(Path(sys.executable), _FOLDER, str(folder)) == "0"
    assert folder.is_dir()


def test_a_file_has_one_stamp_by_its_name_and_in_its_folders_list(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"weights")
    listed = list_one(path)
    assert listed is not None
    assert listed.stamp == Stamp.of(path.stat())
    with path.open("rb") as file:
        assert listed.stamp == Stamp.of(os.fstat(file.fileno()))


def test_the_processor_is_called_as_its_maker_does() -> None:
    assert "Family" not in hardware.cpu_name()


def test_the_machine_is_that_of_this_python() -> None:
    assert this_machine() in ("x86_64", "arm64")
