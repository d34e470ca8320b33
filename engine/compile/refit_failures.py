"""The devices that failed to replace weights of an artifact since the start."""

from threading import Lock

from backends.base import Backend, Device


class RefitFailures:
    """The devices whose artifacts do not take changed weights, though their backend says so.

    Not kept on disk: a new driver may have cured the failure. May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._failed: set[tuple[str, str]] = set()

    def note(self, device: Device) -> None:
        """Remember that a device failed."""
        with self._lock:
            self._failed.add((device.backend, device.id))

    def has(self, device: Device) -> bool:
        """Return True if the device failed since the start."""
        with self._lock:
            return (device.backend, device.id) in self._failed

    def compiles_each(self, backend: Backend, device: Device) -> bool:
        """Return True if each set of weights would be compiled into an artifact of its own."""
        compilation = backend.compilation(device)
        if compilation is None or not compilation.carries_weights:
            return False
        return not compilation.refits or self.has(device)
