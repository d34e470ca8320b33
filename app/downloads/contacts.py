"""The other machines that this Safelight has ever asked for anything, with times."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.downloads.terms import USUAL_TERMS, Terms
from engine.cached_state import recall
from engine.durable import replace_file

_FILE = "hosts.json"
_MOST_BYTES = 1 << 20
_MOST_HOSTS = 1000
# A download asks the same host again and again.
_AGAIN_S = 60.0
_log = logging.getLogger(__name__)


class Contact(msgspec.Struct, frozen=True):
    """A host, and the first and the last time it was asked, in seconds since 1970."""

    host: str
    first: float
    last: float


_DECODER = msgspec.json.Decoder(tuple[Contact, ...])


class Contacts:
    """Keeps the hosts in a file of the folder `state`; may be used on any thread."""

    def __init__(self, state: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = state / _FILE, clock
        self._lock = threading.Lock()

    @property
    def all(self) -> tuple[Contact, ...]:
        """The hosts, the one that was asked last first."""
        kept = recall(self._path, _DECODER, _MOST_BYTES) or ()
        return tuple(sorted(kept, key=lambda contact: -contact.last))

    def note(self, host: str) -> None:
        """Keep that a host is asked now; where that fails, it is only logged."""
        with self._lock:
            now = self._clock()
            known = {contact.host: contact for contact in self.all}
            before = known.get(host)
            if before is not None and 0 <= now - before.last < _AGAIN_S:
                return
            known[host] = Contact(host, before.first if before else now, now)
            latest = sorted(known.values(), key=lambda contact: -contact.last)[:_MOST_HOSTS]
            try:
                replace_file(self._path, msgspec.json.encode(latest))
            except OSError as error:
                _log.warning("a host that was asked cannot be kept: %s: %s", host, error)


def noting_terms(state: Path, terms: Terms = USUAL_TERMS) -> Terms:
    """Return terms under which every host that is asked is kept in the folder `state`."""
    return msgspec.structs.replace(terms, contacted=Contacts(state).note)
