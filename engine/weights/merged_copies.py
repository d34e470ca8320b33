"""Merged weights in the cache: those weights of a network that LoRAs change, as mapped files.

They are the working copies of a second folder, with a cap of its own. A copy is written while the
job runs, and only of weights that are wanted a second time: moving a slider must not write
gigabytes.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

import msgspec

from backends.base import DType, WeightRef
from engine.api.values import ArtifactKind
from engine.cached_state import recall
from engine.checkpoints.known_files import KnownFiles
from engine.durable import replace_file
from engine.weights import working_copies
from engine.weights.working_copies import WorkingCopies

CAP_BYTES = 12 << 30
_WANTED = "wanted.json"
# The most keys that are remembered; the one wanted longest ago is forgotten first.
_MOST_KEYS = 512
_MOST_BYTES = 1 << 20
_DECODER = msgspec.json.Decoder(tuple[str, ...])


class MergedCopies:
    """The folder of merged weights. May be used from any thread."""

    def __init__(
        self,
        folder: Path,
        cap_bytes: int = CAP_BYTES,
        spare_bytes: int | None = None,
        known: KnownFiles | None = None,
    ) -> None:
        """Open the folder; the arguments are those of `WorkingCopies`."""
        spare = working_copies.SPARE_BYTES if spare_bytes is None else spare_bytes
        self.copies = WorkingCopies(folder, cap_bytes, spare, known, ArtifactKind.MERGED_WEIGHTS)
        self._wanted_file, self._lock = folder / _WANTED, Lock()

    def keep(
        self,
        key: str,
        weights: Mapping[str, WeightRef],
        element: DType,
        made_of: tuple[str, str],
    ) -> None:
        """Write merged weights on another thread, if their key was given before.

        See `WorkingCopies.make_beside`.
        """
        if self._wanted_before(key):
            self.copies.make_beside(key, weights, element, made_of)

    def _wanted_before(self, key: str) -> bool:
        with self._lock:
            known = recall(self._wanted_file, _DECODER, _MOST_BYTES) or ()
            if known[-1:] != (key,):
                latest = (*(one for one in known if one != key), key)[-_MOST_KEYS:]
                with contextlib.suppress(OSError):  # a cache that cannot be written to
                    replace_file(self._wanted_file, msgspec.json.encode(latest))
        return key in known
