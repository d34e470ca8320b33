"""Translates ONNX Runtime's exceptions, whatever provider they come from."""

# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the runtime ships no complete types)

import re
from collections.abc import Generator
from contextlib import contextmanager

from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from backends.base import BackendError, RunCancelled
from backends.errors import tells_of_full_memory

RUNTIME_ERRORS = (
    # The exception types differ between versions.
    *(
        kind
        for kind in vars(runtime).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ),
    RuntimeError,
    OSError,  # a weights file that is no longer there
    ValueError,  # or is empty now
)
# Phrases of the arena, and Windows' E_OUTOFMEMORY. Dawn, WebGPU's implementation, reports "Invalid
# Buffer" for one that it could not make.
_OUT_OF_MEMORY = re.compile(
    r"allocate|8007000e|\[Invalid Buffer|exceeds the max buffer size"
    r"|available memory of \d+ is smaller",
    re.IGNORECASE,
)
# A card that is gone, hung or reset: DXGI_ERROR_DEVICE_REMOVED, _HUNG, _RESET and
# _DRIVER_INTERNAL_ERROR; phrases of Vulkan and Dawn; CUDA's codes after which no call succeeds.
_LOST = re.compile(
    r"887a00(05|06|07|20)|device[ _](is |was )?lost|CUDA failure (4|46|100|101|700|715|719|999)\b",
    re.IGNORECASE,
)


@contextmanager
def translated_errors() -> Generator[None]:
    """Turn ONNX Runtime's exceptions inside the block into BackendError or RunCancelled."""
    try:
        yield
    except runtime.ModelLoadCanceled as error:
        raise RunCancelled from error
    except RUNTIME_ERRORS as error:
        message = str(error)
        if "terminate flag" in message:
            raise RunCancelled from error
        if _LOST.search(message):
            raise BackendError(f"the graphics processor stopped answering: {message}") from error
        full = _OUT_OF_MEMORY.search(message) is not None or tells_of_full_memory(message)
        raise BackendError(message, out_of_memory=full) from error
    except MemoryError as error:
        raise BackendError("out of memory", out_of_memory=True) from error
