"""Memory and a stream on an NVIDIA card, through the driver's own library and ctypes.

The driver includes the library, so nothing needs to be installed: the runtime library (libcudart)
changes with each toolkit, and NVIDIA's Python package (cuda-bindings) is 31 MB for the dozen
functions below. TensorRT computes in the card's primary context, which both share. Functions:
cuda.h of CUDA 13.
"""

import ctypes
import sys
from collections.abc import Mapping
from contextlib import suppress
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

from backends.base import Array, BackendError

_LIBRARIES = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
_OUT_OF_MEMORY = 2
# The stream does not wait for other work on the card.
_NON_BLOCKING = 1

# Argument types of each function, under the names that cuda.h defines; CUdeviceptr is 64 bits wide.
FUNCTIONS: Mapping[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDeviceGetByPCIBusId": (POINTER(c_int), c_char_p),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuDevicePrimaryCtxRelease_v2": (c_int,),
    "cuCtxSetCurrent": (c_void_p,),
    "cuMemAlloc_v2": (POINTER(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemcpyHtoDAsync_v2": (c_uint64, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoHAsync_v2": (c_void_p, c_uint64, c_size_t, c_void_p),
    "cuStreamCreate": (POINTER(c_void_p), c_uint),
    "cuStreamSynchronize": (c_void_p,),
    "cuStreamDestroy_v2": (c_void_p,),
}


def _load() -> ctypes.CDLL:
    error = OSError()
    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError as fault:
            error = fault
            continue
        for function, arguments in FUNCTIONS.items():
            getattr(library, function).argtypes = arguments
        return library
    raise BackendError(f"NVIDIA's driver is not there: {error}")


class CudaStream:
    """A CUDA stream on one card. For one thread at a time, which calls `enter` first."""

    def __init__(self, address: str) -> None:
        """Open the card at the bus address `address`, "0000:01:00.0". Raises BackendError."""
        self._library = _load()
        self._context, self._stream, device = c_void_p(), c_void_p(), c_int()
        self._call("cuInit", 0)
        self._call("cuDeviceGetByPCIBusId", ctypes.byref(device), address.encode())
        self._device = device.value
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), self._device)
        self.enter()
        self._call("cuStreamCreate", ctypes.byref(self._stream), _NON_BLOCKING)

    @property
    def handle(self) -> int:
        """The stream's handle for TensorRT."""
        return self._stream.value or 0

    def enter(self) -> None:
        """Make the card this thread's current one."""
        self._call("cuCtxSetCurrent", self._context)

    def allocate(self, nbytes: int) -> int:
        """Allocate memory on the card. Raises BackendError, with `out_of_memory` if it is full."""
        pointer = c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(pointer), max(1, nbytes))
        return pointer.value

    def free(self, pointer: int) -> None:
        """Free memory on the card."""
        self._call("cuMemFree_v2", pointer)

    def upload(self, array: Array, pointer: int) -> None:
        """Copy a contiguous array to the card; it must live until `wait`."""
        self._call("cuMemcpyHtoDAsync_v2", pointer, array.ctypes.data, array.nbytes, self._stream)

    def download(self, pointer: int, array: Array) -> None:
        """Fill a contiguous array from the card; it is complete after `wait`."""
        self._call("cuMemcpyDtoHAsync_v2", array.ctypes.data, pointer, array.nbytes, self._stream)

    def wait(self) -> None:
        """Wait until the stream's work is done. Raises BackendError if any of it failed."""
        self._call("cuStreamSynchronize", self._stream)

    def close(self) -> None:
        """Release the stream and the context; nothing is left of them on a card that is lost."""
        with suppress(BackendError):
            self._call("cuStreamDestroy_v2", self._stream)
        with suppress(BackendError):
            self._call("cuDevicePrimaryCtxRelease_v2", self._device)

    def _call(self, function: str, *arguments: object) -> None:
        code = getattr(self._library, function)(*arguments)
        if code:
            text = c_char_p()
            self._library.cuGetErrorString(code, ctypes.byref(text))
            said = (text.value or b"an unknown error").decode(errors="replace")
            message = f"{function}: {said} ({code})"
            raise BackendError(message, out_of_memory=code == _OUT_OF_MEMORY)
