"""Networks that stay loaded from one job to the next."""

from dataclasses import dataclass
from threading import Lock

from backends.base import Session


@dataclass(frozen=True, slots=True)
class Resident:
    """A loaded network: the digest of its sources, its session, and its weights' planned bytes."""

    identity: str
    session: Session
    weight_bytes: int


class Residency:
    """The sessions that stay loaded between jobs, at most one for each network name.

    A job takes the networks it uses, and gives them back when it succeeds. A network of another
    checkpoint is freed when one of the same name is taken or given. May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._residents: dict[str, Resident] = {}

    @property
    def weight_bytes(self) -> int:
        """The bytes of all resident weights, which can be freed, as the plans estimate them."""
        with self._lock:
            return sum(resident.weight_bytes for resident in self._residents.values())

    def take(self, name: str, identity: str) -> Resident | None:
        """Remove and return the network of that name; one of another identity is freed.

        None if there is no such network. The caller closes the session or gives it back.
        """
        with self._lock:
            resident = self._residents.pop(name, None)
        if resident is None or resident.identity == identity:
            return resident
        resident.session.close()
        return None

    def give(self, name: str, resident: Resident) -> None:
        """Keep a network for the next job, in place of one of the same name, which is freed."""
        with self._lock:
            before = self._residents.pop(name, None)
            self._residents[name] = resident
        if before is not None:
            before.session.close()

    def release(self) -> None:
        """Free all resident networks."""
        with self._lock:
            residents = tuple(self._residents.values())
            self._residents.clear()
        for resident in residents:
            resident.session.close()
