"""The loaded networks of a job: kept between pictures, loading ahead, or left by the last job."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property, partial

import msgspec

from backends.base import Cancellation, Precision, Session
from engine.compile.compiler import Compiler
from engine.compile.kept_results import KeptResults, Maker, Results
from engine.compile.key import maker_digest
from engine.compile.network import Network
from engine.errors import Cancelled
from engine.memory.plan import MemoryPlan, WeightPlacement, in_turns, streamed
from engine.memory.release import return_free_memory
from engine.memory.residency import Residency, Resident
from engine.pipeline.load_ahead import LoadAhead
from engine.pipeline.recall import RecallingSession
from engine.weights.binding import Report

_Key = tuple[str, Precision]


class _Kept(msgspec.Struct, frozen=True):
    """A network that stays loaded, and its session."""

    network: Network
    session: Session


class NetworkPool:
    """Loads networks for one device, and keeps those that the memory plan has room for.

    Networks that an earlier job left in the `residency` are taken from there. `release` is called
    when memory runs out, to free memory that this job does not use. `results` are those of encoders
    that are asked the same again; without them none are kept.
    """

    def __init__(
        self,
        compiler: Compiler,
        memory: MemoryPlan,
        cancel: Cancellation,
        residency: Residency | None = None,
        release: Callable[[], None] = return_free_memory,
        results: KeptResults | None = None,
    ) -> None:
        self.compiler, self.memory, self._results = compiler, memory, results
        # Results that are kept once the pictures made of them are, and who made them.
        self._made: dict[tuple[Maker, str], Results] = {}
        # True once memory ran out: nothing is kept from then on.
        self.is_short_of_memory = False
        # The plan that a device with memory of its own had too little for, though it had all that
        # the plan counted on.
        self.underestimated: MemoryPlan | None = None
        # The names of networks whose weights are streamed because memory ran out.
        self._streamed: set[str] = set()
        self._cancel, self._residency, self._release = cancel, residency, release
        self._kept: dict[_Key, _Kept] = {}
        self._identities: dict[_Key, list[tuple[Network, str]]] = {}
        self._ahead: dict[_Key, tuple[Network, LoadAhead]] = {}

    def has(self, network: Network, precision: Precision) -> bool:
        """True if the network is loaded, by this job or by an earlier one."""
        return self._find(network, precision) is not None

    @property
    def streams_unplanned(self) -> bool:
        """True if a network's weights are streamed, which the memory plan did not foresee."""
        return bool(self._streamed)

    def reloads(self) -> bool:
        """True if networks are loaded anew for each picture."""
        return not (self.memory.together or self.memory.resident)

    @contextmanager
    def loaded(
        self,
        network: Network,
        precision: Precision,
        report: Report,
        loading: AbstractContextManager[None],
        *,
        keep: bool,
    ) -> Generator[Session]:
        """Provide the network's session within the block; load it within `loading` if needed.

        With `keep` it stays loaded after the block, if the memory plan has room.
        """
        key = (network.name, precision)
        session = self._find(network, precision)
        if session is None:
            with loading:
                session = self._loaded_ahead_or_now(network, precision, report)
            if self.memory.resident or (keep and self.memory.together):
                self._kept[key] = _Kept(network, session)
        try:
            yield session
        finally:
            if key not in self._kept:
                session.close()

    def load_ahead(self, network: Network, precision: Precision) -> None:
        """Start to load a network for later use, while another one runs.

        Nothing is loaded if the memory plan has no room for both.
        """
        key = (network.name, precision)
        if not self.memory.load_ahead or key in self._ahead or self.has(network, precision):
            return
        ahead = LoadAhead(partial(self._load, network, precision), self._cancel)
        self._ahead[key] = network, ahead

    @property
    def recalls(self) -> bool:
        """True if results of encoders are kept."""
        return self._results is not None

    def recalling(
        self, network: Network, precision: Precision, session: Session | None = None
    ) -> RecallingSession:
        """Return a session of the network that answers from kept results what it can.

        Without a `session` it can answer nothing else.
        """
        maker, graph = self._maker(network, precision), self.compiler.prepared(network, precision)

        def find(given: str) -> Results | None:
            made = self._made.get((maker, given))
            return made or (self._results.get(maker, given) if self._results else None)

        return RecallingSession(graph.graph.inputs, graph.graph.outputs, find, session)

    def note_results(
        self, network: Network, precision: Precision, made: Mapping[str, Results]
    ) -> None:
        """Remember flawless results by the digests of their inputs, for `keep_results`."""
        maker = self._maker(network, precision)
        self._made |= {(maker, given): results for given, results in made.items()}

    def keep_results(self) -> None:
        """Keep the results so far for later jobs: the weights they were made with are sound."""
        if self._results is not None:
            for (maker, given), results in self._made.items():
                self._results.put(maker, given, results)
        self._made.clear()

    def drop(self, network: Network, precision: Precision) -> None:
        """Free a kept network, for instance because its results are broken."""
        kept = self._kept.pop((network.name, precision), None)
        if kept is not None:
            kept.session.close()

    def make_room(self, *, on_host: bool) -> None:
        """Free all networks, and keep none from now on.

        `on_host`: the computer's own memory ran out, whatever a device has.
        """
        planned = None if self.is_short_of_memory or on_host else self.memory
        self.is_short_of_memory = True
        self.memory = in_turns(self.memory)
        self.close()
        self._release()
        present = self.compiler.memory()
        if planned and not present.integrated and present.free >= planned.budget_bytes:
            self.underestimated = planned

    def way_with_less(
        self, networks: Sequence[Network], *, on_host: bool
    ) -> Callable[[], None] | None:
        """Return what to do before `networks`, which ran out of memory, are run again.

        Where networks take turns already and the device can stream weights, those of `networks` are
        streamed from then on; else, the first time, all networks are freed. None if nothing is left
        to do. `on_host` is that of `make_room`.
        """
        make_room = partial(self.make_room, on_host=on_host)
        if in_turns(self.memory) == self.memory and self._can_stream(networks):
            return partial(self._stream, networks, make_room)
        return None if self.is_short_of_memory else make_room

    def leave_resident(self) -> None:
        """Give the kept networks to the residency after success, if the memory plan has room.

        One that was asked to stop just as it was done would end its next run.
        """
        if self._residency is None or not self.memory.resident or self._cancel.is_set():
            return
        on_host = self.compiler.memory().integrated
        for (name, precision), kept in self._kept.items():
            prepared = self.compiler.prepared(kept.network, precision)
            weight_bytes = prepared.weight_bytes(self.memory.placement)
            identity = self._identity(kept.network, precision)
            origin = _origin(kept.network) if kept.network.branches is not None else ""
            resident = Resident(identity, kept.session, weight_bytes, origin, on_host)
            self._residency.give(name, resident)
        self._kept.clear()

    def close(self) -> None:
        """Free every network that is kept or loading."""
        with ExitStack() as stack:
            for kept in self._kept.values():
                stack.callback(kept.session.close)
            for _, ahead in self._ahead.values():
                stack.callback(ahead.discard)
            self._kept.clear()
            self._ahead.clear()

    def _can_stream(self, networks: Sequence[Network]) -> bool:
        """Return True if that leaves fewer weights of these networks on the device."""
        if self.compiler.last_placement is not WeightPlacement.STREAMED:
            return False
        left = {network.name for network in networks} - self._streamed
        return bool(left) and streamed(self.memory) != self.memory

    def _stream(self, networks: Sequence[Network], make_room: Callable[[], None]) -> None:
        make_room()
        self._streamed.update(network.name for network in networks)

    def _find(self, network: Network, precision: Precision) -> Session | None:
        """Return the network's session if this job or an earlier one has loaded it."""
        key = (network.name, precision)
        kept = self._kept.get(key)
        if kept is not None and not self._is_same(kept.network, network, precision):
            # Another graph of the same name, for instance the text encoder with masked tokens.
            self.drop(network, precision)
        if key not in self._kept and self._residency is not None:
            identity = self._identity(network, precision)
            resident = self._residency.take(network.name, identity, _origin(network))
            if resident is not None:
                self._kept[key] = _Kept(network, resident.session)
        kept = self._kept.get(key)
        return kept.session if kept else None

    def _identity(self, network: Network, precision: Precision) -> str:
        """Return the network's identity when it was first asked for: its files may change later."""
        known = self._identities.setdefault((network.name, precision), [])
        for before, identity in known:
            if before is network:
                return identity
        prepared = self.compiler.prepared(network, precision)
        known.append((network, prepared.identity(self.memory.placement, self.memory.room_bytes)))
        return known[-1][1]

    def _maker(self, network: Network, precision: Precision) -> Maker:
        digest = maker_digest(self._identity(network, precision), self._runtime)
        return Maker(digest, network.name, network.checkpoint, self.compiler.device.name)

    @cached_property
    def _runtime(self) -> str:
        return self.compiler.backend.fingerprint(self.compiler.device)

    def _is_same(self, network: Network, other: Network, precision: Precision) -> bool:
        """True if one session serves both networks."""
        if network is other:
            return True
        return self._identity(network, precision) == self._identity(other, precision)

    def _loaded_ahead_or_now(
        self, network: Network, precision: Precision, report: Report
    ) -> Session:
        prepared, ahead = self._ahead.pop((network.name, precision), (None, None))
        if ahead is not None and prepared is not None:
            if self._is_same(prepared, network, precision):
                return ahead.wait(report)
            ahead.discard()
        session = self._load(network, precision, report, self._cancel)
        if self._cancel.is_set():  # some runtimes cannot be stopped while they load
            session.close()
            raise Cancelled
        return session

    def _load(
        self, network: Network, precision: Precision, report: Report, cancel: Cancellation
    ) -> Session:
        memory = streamed(self.memory) if network.name in self._streamed else self.memory
        return self.compiler.prepared(network, precision).load(
            memory.placement, report, cancel, memory.room_bytes
        )


def _origin(network: Network) -> str:
    """Return the digest of the content of the network's weights without patches."""
    return network.weights.base.content
