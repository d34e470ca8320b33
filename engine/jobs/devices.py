"""Which devices there are, and which a request may run on, in order of preference."""

from backends.base import Backend, Device
from backends.registry import BACKENDS, BackendReference, find
from engine.api.messages import DeviceInfo
from engine.api.values import ErrorCode
from engine.errors import EngineError


def list_devices() -> tuple[DeviceInfo, ...]:
    """What every backend sees, usable or not."""
    found: list[DeviceInfo] = []
    for reference in BACKENDS:
        backend = reference.create()
        for device in backend.probe():
            memory = backend.memory(device)
            found.append(
                DeviceInfo(
                    backend=device.backend,
                    name=device.name,
                    precisions=tuple(precision.value for precision in device.precisions),
                    automatic=reference.automatic and device.automatic,
                    runtime=backend.fingerprint(device) if device.usable else "",
                    memory_total_bytes=memory.total,
                    memory_free_bytes=memory.free,
                    unusable=device.unusable or "",
                )
            )
    return tuple(found)


def candidates(wanted: str) -> list[tuple[Backend, Device]]:
    """The usable devices of the wanted backend, or with "auto" of all, the preferred first.

    Raises EngineError: BACKEND_UNKNOWN, or BACKEND_UNAVAILABLE with the reasons.
    """
    references = _references(wanted)
    found = [
        (backend, device)
        for backend in (reference.create() for reference in references)
        for device in backend.probe()
        if device.automatic or wanted != "auto"
    ]
    usable = [(backend, device) for backend, device in found if device.usable]
    if not usable:
        reasons = "; ".join(f"{device.backend}: {device.unusable}" for _, device in found)
        raise EngineError(
            ErrorCode.BACKEND_UNAVAILABLE,
            f"No device can be used ({reasons}).",
            "Try --backend auto; `safelight doctor` says what is missing.",
        )
    return usable


def _references(wanted: str) -> list[BackendReference]:
    if wanted == "auto":
        return [reference for reference in BACKENDS if reference.automatic]
    reference = find(wanted)
    if reference is None:
        names = ", ".join(reference.name for reference in BACKENDS)
        raise EngineError(
            ErrorCode.BACKEND_UNKNOWN,
            f"There is no backend {wanted}.",
            f"The backends are {names}; auto chooses for you.",
        )
    return [reference]
