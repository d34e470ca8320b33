"""Networks that stay loaded from one job to the next."""

from dataclasses import dataclass
from threading import Lock

from backends.base import Session


@dataclass(frozen=True, slots=True)
class Resident:
    """A loaded network: what it was made of, and the bytes that its weights were planned with."""

    identity: str
    session: Session
    weight_bytes: int


class Residency:
    """At most one session for each network by name; those of another checkpoint make room.

    A job takes what it uses and gives it back when it succeeds. May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._residents: dict[str, Resident] = {}

    @property
    def weight_bytes(self) -> int:
        """The bytes of the resident weights, which could be freed, by the plans' estimates."""
        with self._lock:
            return sum(resident.weight_bytes for resident in self._residents.values())

    def take(self, name: str, identity: str) -> Resident | None:
        """The network of that name, which is then the caller's; one made otherwise is freed."""
        with self._lock:
            resident = self._residents.pop(name, None)
        if resident is None or resident.identity == identity:
            return resident
        resident.session.close()
        return None

    def give(self, name: str, resident: Resident) -> None:
        """Keep a network for the next job."""
        with self._lock:
            before = self._residents.pop(name, None)
            self._residents[name] = resident
        if before is not None:
            before.session.close()

    def release(self) -> None:
        """Free everything."""
        with self._lock:
            residents = tuple(self._residents.values())
            self._residents.clear()
        for resident in residents:
            resident.session.close()
