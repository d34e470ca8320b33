"""Results of networks that are asked the same again, kept from one job to the next."""

from collections import OrderedDict
from threading import Lock

from backends.base import Array

# About twelve pictures as CLIP's largest encoder sees them.
_MAX_BYTES = 64 << 20


class KeptResults:
    """Arrays by the digests of what they were made by and of; those used last are kept.

    May be used from any thread.
    """

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._arrays: OrderedDict[tuple[str, str], Array] = OrderedDict()

    def get(self, network: str, given: str) -> Array | None:
        """Return what a network of this identity made of the input of this digest, if kept."""
        with self._lock:
            found = self._arrays.get((network, given))
            if found is not None:
                self._arrays.move_to_end((network, given))
            return found

    def put(self, network: str, given: str, made: Array) -> None:
        """Keep a result, in place of those that were not used for longest."""
        with self._lock:
            self._arrays[network, given] = made
            self._arrays.move_to_end((network, given))
            while sum(one.nbytes for one in self._arrays.values()) > self._max_bytes:
                self._arrays.popitem(last=False)
