"""Networks that stay loaded from one job to the next."""

from collections.abc import Collection
from threading import Lock

import msgspec

from backends.base import Session


class Resident(msgspec.Struct, frozen=True):
    """A loaded network: the digest of its sources, its session, and its weights' planned bytes.

    `returns_to` is the digest of its unpatched weights if it has side branches, else "". Loading it
    costs seconds, and another strength of its LoRAs then nothing; so it steps aside for merged
    weights of the same origin, rather than being freed. `on_host`: the weights are in the host's
    memory, not in that of a device with its own.
    """

    identity: str
    session: Session
    weight_bytes: int
    returns_to: str = ""
    on_host: bool = True


class Residency:
    """The sessions that stay loaded between jobs, at most one for each network name.

    A job takes the networks it uses, and gives them back when it succeeds. A network of another
    checkpoint is freed when one of the same name is taken or given. Beside them is, for each name,
    at most one network with side branches that stepped aside. May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._residents: dict[str, Resident] = {}
        self._aside: dict[str, Resident] = {}
        self._room_bytes = 0

    def weight_bytes(self, *, on_host: bool) -> int:
        """Return the bytes of resident weights, which can be freed, as the plans estimate them.

        They are those in the host's memory, or those in devices with their own.
        """
        with self._lock:
            kept = (*self._residents.values(), *self._aside.values())
            return sum(resident.weight_bytes for resident in kept if resident.on_host is on_host)

    def make_room(self, room_bytes: int, used: Collection[str]) -> None:
        """Leave networks that the job does not use no more than these bytes; free what is more.

        `used` are the names of networks that it uses. Networks aside have what is left of the room
        until the next call.
        """
        freed: list[Resident] = []
        with self._lock:
            idle = [name for name in self._residents if name not in used]
            idle_bytes = sum(self._residents[name].weight_bytes for name in idle)
            while idle and idle_bytes > room_bytes:
                freed.append(self._residents.pop(idle.pop()))
                idle_bytes -= freed[-1].weight_bytes
            self._room_bytes = room_bytes - idle_bytes
            while self._aside and self._aside_bytes() > self._room_bytes:
                freed.append(self._aside.popitem()[1])
        _close(freed)

    def take(self, name: str, identity: str, origin: str = "") -> Resident | None:
        """Remove and return the network of that name and identity; None if there is none.

        `origin` is the digest of its unpatched weights. Others of that name are freed, but for one
        with side branches of the same origin while there is room. The caller closes the session or
        gives it back.
        """
        with self._lock:
            places = (self._residents, self._aside)
            kept = [place.pop(name) for place in places if name in place]
            taken = next((network for network in kept if network.identity == identity), None)
            others = [network for network in kept if network is not taken]
            back = next(
                (network for network in others if origin and network.returns_to == origin), None
            )
            if back is not None and back.weight_bytes <= self._room_bytes - self._aside_bytes():
                self._aside[name] = back
                others.remove(back)
        _close(others)
        return taken

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
            kept = [*self._residents.values(), *self._aside.values()]
            self._residents.clear()
            self._aside.clear()
        _close(kept)

    def _aside_bytes(self) -> int:
        return sum(network.weight_bytes for network in self._aside.values())


def _close(residents: list[Resident]) -> None:
    for resident in residents:
        resident.session.close()
