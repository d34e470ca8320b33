"""The memory of a job on a device: the device's own and the host's, within the user's limits."""

import msgspec

from backends import hardware
from backends.base import Device, MemoryInfo
from engine.api.remedies import RaiseMemoryLimit
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.compile.compiler import Compiler
from engine.errors import EngineError
from engine.jobs.services import JobServices
from engine.memory.own_memory import device_share, host_share
from engine.memory.plan import MemoryNeeds, MemoryPlan, budget_of, plan_memory


class MemoryAllowance(msgspec.Struct, frozen=True):
    """The memory limits that the user sets for a job (None: no limit), and its previews' share.

    `device_limit_bytes` is for a device with memory of its own; `limit_bytes` is for the host's
    memory, which all other devices use.
    """

    limit_bytes: int | None = None
    device_limit_bytes: int | None = None
    preview_bytes: int = 0

    def of(self, memory: MemoryInfo) -> int | None:
        """Return the limit of the memory that a device computes in."""
        return self.limit_bytes if memory.integrated else self.device_limit_bytes


def memory_of_job(
    needs: MemoryNeeds,
    *,
    compiler: Compiler,
    services: JobServices,
    allowance: MemoryAllowance,
    pictures: int,
) -> MemoryPlan:
    """Plan the memory of a job by what is free now, the user's limits, and what ran out before."""
    memory = compiler.memory()
    needs, host = msgspec.structs.replace(needs, last=compiler.last_placement), None
    if not memory.integrated:
        host = host_share(needs, hardware.host_memory().free, allowance.limit_bytes)
        needs = device_share(needs)
    free = services.available_bytes(memory)
    budget = budget_of(free, allowance.of(memory))
    return plan_memory(
        needs,
        pictures=pictures,
        more_jobs=services.residency is not None,
        free_bytes=free,
        limit_bytes=services.shortages.within(compiler.device, budget),
        host=host,
    )


def require_host_room(
    plan: MemoryPlan, size: tuple[int, int], device: Device, allowance: MemoryAllowance
) -> None:
    """Raise EngineError(OUT_OF_MEMORY) if a device has its own memory, and the host's is too small.

    That is so only under a limit: else more of it may become free.
    """
    if plan.host is None or plan.host.fits or allowance.limit_bytes is None:
        return
    width, height = size
    raise EngineError(
        ErrorCode.OUT_OF_MEMORY,
        sentence(
            "A picture of {width} × {height} needs about {peak_bytes:.2f} GB of this computer's "  # noqa: RUF001
            "memory, beside that of {device}; {most:.2f} GB may be used.",
            width=width,
            height=height,
            peak_bytes=plan.host.peak_bytes / 1e9,
            device=device.name,
            most=allowance.limit_bytes / 1e9,
        ),
        remedies=(RaiseMemoryLimit(),),
    )


def idle_limit_warning(
    device: Device, memory: MemoryInfo, allowance: MemoryAllowance
) -> ErrorInfo | None:
    """Return the warning that a limit of the device's memory does nothing; None where it acts.

    A device that shares the host's memory has none of its own to limit.
    """
    if allowance.device_limit_bytes is None or not memory.integrated:
        return None
    return ErrorInfo(
        ErrorCode.NOT_AVAILABLE,
        sentence(
            "{device} has no memory of its own, so the limit of the device's memory does nothing.",
            device=device.name,
        ),
        sentence("The memory limit is the one that acts here."),
    )
