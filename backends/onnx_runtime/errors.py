"""ONNX Runtime's exceptions as ours, whatever provider they come from."""

# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the runtime ships no complete types)

import re
from collections.abc import Generator
from contextlib import contextmanager

from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from backends.base import BackendError, RunCancelled

_RUNTIME_ERRORS = (
    runtime.DeviceReset,
    runtime.EngineError,
    runtime.EPFail,
    runtime.Fail,
    runtime.InvalidArgument,
    runtime.InvalidGraph,
    runtime.InvalidProtobuf,
    runtime.NoModel,
    runtime.NoSuchFile,
    runtime.NotFound,
    runtime.NotImplemented,
    runtime.RuntimeException,
    RuntimeError,
    OSError,  # a weights file that is no longer there
    ValueError,  # or is empty now
)
_OUT_OF_MEMORY = re.compile(r"allocate|out[ _]?of[ _]?\w*[ _]?memory|8007000e", re.IGNORECASE)


@contextmanager
def translated_errors() -> Generator[None]:
    """Within the block ONNX Runtime's exceptions become BackendError or RunCancelled."""
    try:
        yield
    except runtime.ModelLoadCanceled as error:
        raise RunCancelled from error
    except _RUNTIME_ERRORS as error:
        message = str(error)
        if "terminate flag" in message:
            raise RunCancelled from error
        raise BackendError(message, out_of_memory=bool(_OUT_OF_MEMORY.search(message))) from error
    except MemoryError as error:
        raise BackendError("out of memory", out_of_memory=True) from error
