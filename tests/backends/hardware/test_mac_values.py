"""Values of macOS' kernel are read as sysctlbyname(3) gives them."""

import ctypes
from typing import Any

from backends.hardware.host import _mac_value  # pyright: ignore[reportPrivateUsage]

_VALUES = {b"machdep.cpu.brand_string": b"Apple M1\0", b"kern.memorystatus_level": b"\x2a\0\0\0"}
_POINTER = ctypes.POINTER(ctypes.c_size_t)


@ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, _POINTER, ctypes.c_void_p, ctypes.c_size_t
)
def sysctlbyname(name: bytes, to: int, size: Any, *_: object) -> int:
    """Do as the manual page says: -1 for a name that is unknown, or where the room is too small."""
    value = _VALUES.get(name)
    if value is None or len(value) > size[0]:
        return -1
    ctypes.memmove(to, value, len(value))
    size[0] = len(value)
    return 0


def test_a_value_is_read_with_its_size() -> None:
    assert _mac_value(b"machdep.cpu.brand_string", 256, sysctlbyname) == b"Apple M1\0"
    assert _mac_value(b"kern.memorystatus_level", 4, sysctlbyname) == b"\x2a\0\0\0"


def test_nothing_is_read_of_a_name_that_the_kernel_does_not_know() -> None:
    assert _mac_value(b"kern.nonsense", 4, sysctlbyname) == b""
