"""Runs of an encoder that were made before are answered from what is kept, not made again.

What counts as the same run is a digest of the network and device (`engine.compile.key`), of the
arrays that are pinned, such as a LoRA's factors and strengths, and of the inputs.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256

import numpy as np

from backends.base import Array, DeviceValue, Feed, Feeds, Session, TensorSpec
from engine.compile.kept_results import Results

# Finds the results for inputs of a digest.
Find = Callable[[str], Results | None]


class UnknownResultError(Exception):
    """A run was asked for that was not made before, and there is no network to make it."""


class RecallingSession:
    """A session that runs its network only for inputs that are not known.

    Without a `session` it answers known ones, and raises UnknownResultError for others. `made` has
    the results that it made, by the digests of their inputs.
    """

    def __init__(
        self,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        find: Find,
        session: Session | None = None,
    ) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.made: dict[str, Results] = {}
        self._find, self._session = find, session
        self._pinned: dict[str, str] = {}

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Return the results for these inputs. Raises as `Session.run`, and UnknownResultError."""
        given = self._digest(feeds)
        found = None if given is None else self.made.get(given) or self._find(given)
        if found is not None:
            return dict(found)
        if self._session is None:
            raise UnknownResultError
        made = self._session.run(feeds)
        if given is not None:
            for array in made.values():
                # Whoever gets it later must get the same.
                array.flags.writeable = False
            self.made[given] = made
        return dict(made)

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run the network: its results stay on its device, and are not kept."""
        if self._session is None:
            raise UnknownResultError
        return self._session.run_on_device(feeds)

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all runs, as `Session.pin`."""
        self._pinned[name] = _digest(array)
        if self._session is not None:
            self._session.pin(name, array)

    def cancel(self) -> None:
        """Make the current run end soon."""
        if self._session is not None:
            self._session.cancel()

    def close(self) -> None:
        """Do nothing: the session belongs to who loaded it."""

    def _digest(self, feeds: Feeds) -> str | None:
        """Return the digest of all inputs; None where it is not known what they are."""
        if any(_lacks(spec, feeds, self._pinned) for spec in self.inputs):
            return None  # pinned before by somebody else
        given = dict(self._pinned)
        for name, feed in feeds.items():
            if not isinstance(feed, np.ndarray):
                return None
            given[name] = _digest(feed)
        return sha256(repr(sorted(given.items())).encode()).hexdigest()


def _lacks(spec: TensorSpec, feeds: Mapping[str, Feed], pinned: Mapping[str, str]) -> bool:
    return not spec.optional and spec.name not in feeds and spec.name not in pinned


def _digest(array: Array) -> str:
    whole = np.ascontiguousarray(array)
    digest = sha256(repr((whole.dtype.str, array.dtype.name, array.shape)).encode())
    digest.update(whole.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
