"""The failures of a runtime, and the end of a run that a user stops."""

import re

# Phrases of C++'s libraries, cuBLAS and cuDNN, Level Zero, OpenCL, Vulkan and Metal, torch's
# allocators, and OpenVINO's for graphics processors.
_FULL_MEMORY = re.compile(
    r"alloc_failed|bad.alloc|out[ _]?of[ _]?(\w+[ _])?memory|not enough memory|insufficient memory"
    r"|allocate memory|out of GPU resources",
    re.IGNORECASE,
)


class BackendError(Exception):
    """A runtime refused or failed. `out_of_memory` marks the one cause the engine can act on."""

    def __init__(self, message: str, *, out_of_memory: bool = False) -> None:
        super().__init__(message)
        self.out_of_memory = out_of_memory


class RefitError(BackendError):
    """A runtime refused `Graph.changed`; it can still run the artifact's own weights."""


class RunCancelled(Exception):  # noqa: N818 (a decision, not a fault)
    """A run, load or compile was stopped through its `Cancellation`."""


def tells_of_full_memory(message: str) -> bool:
    """Return True if a runtime's message says that memory ran out, in words that many use."""
    return _FULL_MEMORY.search(message) is not None
