"""The failures of a runtime, and the end of a run that a user stops."""


class BackendError(Exception):
    """A runtime refused or failed. `out_of_memory` marks the one cause the engine can act on."""

    def __init__(self, message: str, *, out_of_memory: bool = False) -> None:
        super().__init__(message)
        self.out_of_memory = out_of_memory


class RefitError(BackendError):
    """A runtime refused `Graph.changed`; it can still run the artifact's own weights."""


class RunCancelled(Exception):  # noqa: N818 (a decision, not a fault)
    """A run, load or compile was stopped through its `Cancellation`."""
