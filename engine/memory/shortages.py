"""Plans for which a device's memory did not suffice, though it had all that they counted on.

What runs take is estimated, and not measured for every runtime and network. Where an estimate is
too low, each job of a queue would fail as the first did, and load its networks twice. A failure
that comes once may have had another cause, so the second in succession counts.
"""

from threading import Lock

import msgspec

from backends.base import Device
from engine.memory.plan import MemoryPlan

# A plan is sought that needs so much less than one that failed.
_SHARE = 0.8
# Budgets that differ by less are the same: what other programs take varies.
_ALIKE = 1.1


class _Failed(msgspec.Struct, frozen=True):
    """The peak of a plan that failed, and the budget that it was chosen for.

    `again`: plans failed in succession.
    """

    peak_bytes: int
    budget_bytes: int
    again: bool

    @property
    def most_bytes(self) -> int:
        """The bytes that later plans for such a budget may need."""
        return int(_SHARE * self.peak_bytes)


class Shortages:
    """The plans that failed on each device since the start. May be used from any thread.

    Not kept on disk: a start is how a person ends what is planned with less, which rounds weights.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._failed: dict[tuple[str, str], _Failed] = {}

    def note(self, device: Device, plan: MemoryPlan) -> None:
        """Remember that a device had too little memory for a plan."""
        key, budget = (device.backend, device.id), plan.budget_bytes
        with self._lock:
            before = self._failed.get(key)
            # The plan was chosen for less because of the failure before.
            if before is not None and budget == before.most_bytes:
                budget = before.budget_bytes
            self._failed[key] = _Failed(plan.peak_bytes, budget, again=before is not None)

    def note_success(self, device: Device, plan: MemoryPlan) -> None:
        """Forget a failure of a plan that needs no more than one for which there was room."""
        key = device.backend, device.id
        with self._lock:
            failed = self._failed.get(key)
            if failed is not None and failed.peak_bytes <= plan.peak_bytes:
                del self._failed[key]

    def within(self, device: Device, budget_bytes: int) -> int:
        """Return the bytes of a budget that a plan may count on.

        They are fewer than plans that failed needed, unless those were for a smaller budget.
        """
        with self._lock:
            failed = self._failed.get((device.backend, device.id))
        if failed is None or not failed.again or budget_bytes > _ALIKE * failed.budget_bytes:
            return budget_bytes
        return min(budget_bytes, failed.most_bytes)
