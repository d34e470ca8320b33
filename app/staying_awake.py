"""Keeping the computer from falling asleep by itself: asked of each system in its own way.

The screen may go dark, and a person may send the computer to sleep or close its lid.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import wintypes

from app.session_bus import BusCall, BusConnection, bus_address

# Lets the computer sleep again.
Release = Callable[[], None]

_REASON = "Pictures are made or files are downloaded"
# "Suspend" of the flags that GNOME's session manager takes, which Cinnamon and others have, too.
_SUSPEND = 4
_GNOME = BusCall(
    "org.gnome.SessionManager",
    "/org/gnome/SessionManager",
    "org.gnome.SessionManager",
    "Inhibit",
    ("safelight", 0, _REASON, _SUSPEND),
)
# KDE's, Xfce's and MATE's.
_OTHERS = BusCall(
    "org.freedesktop.PowerManagement",
    "/org/freedesktop/PowerManagement/Inhibit",
    "org.freedesktop.PowerManagement.Inhibit",
    "Inhibit",
    ("Safelight", _REASON),
)
# Windows, winnt.h and minwinbase.h.
_SIMPLE_STRING, _SYSTEM_REQUIRED = 1, 1


def stay_awake(variables: Mapping[str, str] = os.environ) -> Release | None:
    """Keep the computer awake until the returned function is called, or this process ends.

    None where nobody can be asked. May take a while: not for the GUI thread.
    """
    try:
        if sys.platform == "win32":
            return _by_request()
        if sys.platform == "darwin":
            return by_program(("/usr/bin/caffeinate", "-i", "-w", str(os.getpid())))
        return _by_bus(bus_address(variables))
    except OSError:
        return None


@contextmanager
def staying_awake() -> Generator[None]:
    """Keep the computer awake within the block, where somebody can be asked for it."""
    release = stay_awake()
    try:
        yield
    finally:
        if release is not None:
            release()


def by_program(command: Sequence[str]) -> Release:
    """Stay awake for as long as a program runs. Raises OSError if it does not start."""
    nobody = subprocess.DEVNULL
    program = subprocess.Popen(command, stdin=nobody, stdout=nobody, stderr=nobody)

    def release() -> None:
        program.terminate()
        program.wait()

    return release


def _by_bus(address: str) -> Release | None:
    connection = BusConnection(address)
    for call in (_GNOME, _OTHERS):
        if connection.has_owner(call.name):
            connection.send(call)
            return connection.close
    connection.close()
    return None


class _Reason(ctypes.Structure):
    """REASON_CONTEXT of the Windows API, with a text; the rest is room for its other form."""

    _fields_ = (
        ("version", ctypes.c_ulong),
        ("flags", ctypes.c_ulong),
        ("text", ctypes.c_wchar_p),
        ("unused", ctypes.c_void_p * 2),
    )


def _by_request() -> Release | None:
    if sys.platform != "win32":
        return None
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.PowerCreateRequest.argtypes = (ctypes.POINTER(_Reason),)
    kernel.PowerCreateRequest.restype = wintypes.HANDLE
    kernel.PowerSetRequest.argtypes = (wintypes.HANDLE, ctypes.c_int)
    kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    reason = _Reason(version=0, flags=_SIMPLE_STRING, text=_REASON)
    request = kernel.PowerCreateRequest(ctypes.byref(reason))
    kernel.PowerSetRequest(request, _SYSTEM_REQUIRED)

    def release() -> None:
        kernel.CloseHandle(request)

    return release
