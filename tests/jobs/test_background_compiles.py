"""The compiles while jobs run: their start, the wait for them, and their end."""

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from threading import Event

import msgspec
import pytest

from backends import hardware
from backends.base import BackendError, Device, MemoryInfo, Precision
from backends.null import NullBackend
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.compile.compiler import Compiler
from engine.compile.estimates import COMPILE, Estimates, Kind, Work
from engine.compile.network import Preparation
from engine.compile.prepared import PreparedNetwork
from engine.devices.choice import Candidate
from engine.errors import EngineError
from engine.jobs.background_compiles import BackgroundCompiles
from engine.jobs.job_estimate import JobEstimate
from engine.memory.plan import MemoryPlan, WeightPlacement
from engine.weights.working_copies import WorkingCopies
from tests.compile.compiling import Bench, network

PLAN = MemoryPlan(WeightPlacement.MEMORY, together=False, peak_bytes=0, budget_bytes=1 << 40)


class Office:
    """A preferred device that compiles, another that need not, and what is said of them."""

    def __init__(self, folder: Path) -> None:
        self.bench = Bench(folder)
        self.gate = folder / "gate"
        self.bench.change(gate=str(self.gate))
        self.estimates = Estimates(None)
        self.told: list[ErrorInfo] = []
        self.failures: list[tuple[str, str]] = []
        self.busy = False
        self.seconds: dict[str, float] = {}
        self.trials = 10.0
        self.fast = self._candidate("fast card", milliseconds=1)
        self.slow = self._candidate("slow processor", milliseconds=100)
        self.background_compiles = self._background_compiles()

    def _background_compiles(self) -> BackgroundCompiles:
        def note_failure(device: Device, reason: str) -> None:
            self.failures.append((device.name, reason))

        return BackgroundCompiles(self.estimates, nullcontext, note_failure, lambda: self.busy)

    def _candidate(self, name: str, milliseconds: float) -> Candidate:
        compiles = name == "fast card"
        backend = NullBackend(compiling=self.bench.compiling if compiles else None)
        device = msgspec.structs.replace(backend.probe()[0], name=name)
        return Candidate(backend, device, milliseconds)

    def change(self, **how: object) -> None:
        """Have the card's compiler be otherwise."""
        self.bench.change(**how)
        self.fast = self._candidate("fast card", milliseconds=1)

    def compiler(self, candidate: Candidate) -> Compiler:
        copies = WorkingCopies(self.bench.cache / "weights")
        return Compiler(candidate.backend, candidate.device, copies, self.bench.store)

    def estimate(self, candidate: Candidate) -> JobEstimate:
        return JobEstimate(
            compiler=self.compiler(candidate),
            precisions=(Precision.F32,),
            memory=PLAN,
            networks=(network(self.bench.weights),),
            checkpoint="dreams",
            seconds=self.seconds.get(candidate.device.name),
            trials=self.trials,
        )

    def order(self, *candidates: Candidate) -> list[str]:
        """The names of the devices, as a job would try them."""
        given = candidates or (self.fast, self.slow)
        ordered = self.background_compiles.order(given, self.estimate, self.told.append)
        return [candidate.device.name for candidate in ordered]

    def expect(self, seconds: float) -> None:
        """Compiling takes so long."""
        weights = network(self.bench.weights).weights.values()
        size = sum(ref.elements for ref in weights) * 4
        self.estimates.note(
            Work(Kind(COMPILE, "text_encoder", "null", "fast card", "f32"), size), seconds
        )

    def wait_until_prepared(self) -> None:
        made = network(self.bench.weights)
        compiler = self.compiler(self.fast)
        _wait(
            lambda: compiler.prepared(made, Precision.F32).preparation() is not Preparation.COMPILE
        )


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    office = Office(tmp_path)
    yield office
    office.background_compiles.close(60)


def _wait(condition: Callable[[], bool]) -> None:
    while not condition():
        Event().wait(0.01)


BOTH = ["fast card", "slow processor"]
MEANWHILE = ["slow processor", "fast card"]


def test_the_job_begins_elsewhere_and_the_next_one_uses_what_was_compiled(office: Office) -> None:
    office.expect(38)
    assert office.order() == MEANWHILE
    (notice,) = office.told
    assert notice.code is ErrorCode.PREPARING
    assert notice.message == (
        "Preparing dreams for fast card, once, about 40 s; this picture is made by null meanwhile."
    )
    _wait(lambda: office.bench.compiles == 1)
    assert office.order() == MEANWHILE  # it is still going on
    office.gate.touch()
    office.wait_until_prepared()
    assert office.order() == BOTH
    assert len(office.told) == 2
    assert office.bench.compiles == 1


def test_why_another_device_is_used_is_its_reason(office: Office) -> None:
    ordered = office.background_compiles.order(
        (office.fast, office.slow), office.estimate, office.told.append
    )
    assert ordered[0].choice == "null is being prepared"
    assert ordered[1] == office.fast


@pytest.mark.parametrize(
    ("compile_s", "fast_s", "slow_s", "order"),
    [
        (4.0, 1.0, 2.0, BOTH),  # hardly worth a word
        (40.0, 2.0, 30.0, MEANWHILE),
        (40.0, 2.0, 41.0, MEANWHILE),
        (40.0, 2.0, 600.0, BOTH),  # waiting is quicker
        (40.0, None, 600.0, BOTH),  # trials tell of the card: 10 of 1 ms
        (40.0, 2.0, None, MEANWHILE),  # and of the processor: 10 of 100 ms
    ],
)
def test_the_quicker_of_waiting_and_another_device_is_done(
    office: Office,
    compile_s: float,
    fast_s: float | None,
    slow_s: float | None,
    order: list[str],
) -> None:
    office.expect(compile_s)
    for name, seconds in (("fast card", fast_s), ("slow processor", slow_s)):
        if seconds is not None:
            office.seconds[name] = seconds
    assert office.order() == order
    assert bool(office.told) is (order == MEANWHILE)


def test_trials_tell_where_no_picture_was_made_yet(office: Office) -> None:
    office.expect(40)
    office.trials = 1000  # 100 s on the processor, 1 s on the card
    assert office.order() == BOTH


@pytest.mark.parametrize("compile_s", [None, 40.0])
def test_a_device_that_was_not_measured_is_better_than_none(
    office: Office, compile_s: float | None
) -> None:
    if compile_s is not None:
        office.expect(compile_s)
    office.slow = msgspec.structs.replace(office.slow, milliseconds=float("inf"))
    assert office.order() == MEANWHILE


def test_a_compile_is_waited_for_where_there_is_no_other_device(office: Office) -> None:
    assert office.order(office.fast) == ["fast card"]
    twin = msgspec.structs.replace(
        office.fast,
        device=msgspec.structs.replace(office.fast.device, name="its twin", id="null:1"),
    )
    assert office.order(office.fast, twin) == ["fast card", "its twin"]
    assert office.told == []
    assert office.bench.compiles == 0


def test_a_device_that_compiles_nothing_is_first(office: Office) -> None:
    assert office.order(office.slow, office.fast) == ["slow processor", "fast card"]
    assert office.told == []


def test_an_error_while_planning_is_left_to_the_job(office: Office) -> None:
    def failing(_candidate: Candidate) -> JobEstimate:
        raise EngineError(ErrorCode.OUT_OF_MEMORY, sentence("no"))

    given = (office.fast, office.slow)
    assert office.background_compiles.order(given, failing, office.told.append) == list(given)


def test_a_compiler_that_fails_is_remembered_and_not_tried_again(office: Office) -> None:
    office.change(fails=("text_encoder",))
    office.gate.touch()
    assert office.order() == MEANWHILE
    _wait(lambda: bool(office.failures))
    assert office.failures == [("fast card", "it gives up on text_encoder")]
    assert office.order() == MEANWHILE
    assert office.told[-1].code is ErrorCode.BACKEND_FAILED
    assert office.bench.compiles == 1


def test_a_compile_that_runs_out_of_memory_is_told(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread goes on, for else nothing would be prepared any more."""

    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(PreparedNetwork, "prepare", full)
    assert office.order() == MEANWHILE
    for _ in range(1000):
        if office.told[-1].code is not ErrorCode.PREPARING:
            break
        Event().wait(0.01)
        office.order()
    assert office.told[-1].code is ErrorCode.OUT_OF_MEMORY
    assert office.failures == []


def test_a_cache_that_cannot_be_written_to_is_no_failure_of_the_device(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.gate.touch()
    office.bench.cache.write_bytes(b"a file")
    monkeypatch.setattr("tempfile.tempdir", str(office.bench.folder / "nothing"))
    assert office.order() == MEANWHILE
    _wait(lambda: office.order() == MEANWHILE and office.told[-1].code is not ErrorCode.PREPARING)
    assert office.told[-1].code is ErrorCode.CACHE_NOT_WRITABLE
    assert office.failures == []


def test_there_must_be_room_beside_the_job(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Event()
    memory = MemoryInfo(total=64 << 30, free=1 << 20, integrated=True)

    def host_memory() -> MemoryInfo:
        looked.set()
        return memory

    monkeypatch.setattr(hardware, "host_memory", host_memory)
    office.gate.touch()
    assert office.order() == MEANWHILE
    assert looked.wait(60)
    assert office.bench.compiles == 0
    memory = msgspec.structs.replace(memory, free=8 << 30)
    office.wait_until_prepared()


@pytest.mark.parametrize("busy", [True, False])
def test_the_jobs_memory_counts_while_it_runs(
    office: Office, monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    """The compiler fits, but not beside what the job's plan takes."""
    monkeypatch.setattr(
        "tests.jobs.test_background_compiles.PLAN",
        msgspec.structs.replace(PLAN, peak_bytes=6 << 30),
    )
    looks: list[None] = []

    def host_memory() -> MemoryInfo:
        looks.append(None)
        return MemoryInfo(total=8 << 30, free=4 << 30, integrated=True)

    monkeypatch.setattr(hardware, "host_memory", host_memory)
    office.busy = busy
    office.gate.touch()
    office.order()
    if busy:
        _wait(lambda: len(looks) > 1)
        assert office.bench.compiles == 0
        office.busy = False
    office.wait_until_prepared()


@pytest.mark.parametrize("interruptible", [True, False])
def test_closing_stops_a_compile_and_leaves_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch, interruptible: bool
) -> None:
    office.change(interruptible=interruptible)
    for name, value in office.bench.compiling.as_environment().items():
        monkeypatch.setenv(name, value)
    office.slow = msgspec.structs.replace(office.slow, backend=_Plain())
    office.order()
    _wait(lambda: office.bench.compiles == 1)
    office.background_compiles.close(60)
    assert office.bench.artifacts() == []
    assert office.bench.left() == set()


class _Plain(NullBackend):
    """Compiles nothing, whatever the environment says."""

    def __init__(self) -> None:
        super().__init__()
        self._compiling = None


def test_the_seconds_of_a_compile_are_learnt(office: Office) -> None:
    office.gate.touch()
    office.order()
    office.wait_until_prepared()
    office.background_compiles.close(60)
    weights = network(office.bench.weights).weights.values()
    size = sum(ref.elements for ref in weights) * 4
    work = Work(Kind(COMPILE, "text_encoder", "null", "fast card", "f32"), size)
    assert office.estimates.expect(work) is not None


class _Lost(NullBackend):
    """A card that is not there any more."""

    def memory(self, device: Device) -> MemoryInfo:
        raise BackendError(f"{device.name} is no longer there")


def test_a_device_that_is_lost_before_its_compile_begins_has_failed(office: Office) -> None:
    """The thread goes on, for else nothing would be prepared any more."""
    office.fast = msgspec.structs.replace(
        office.fast, backend=_Lost(compiling=office.bench.compiling)
    )
    office.gate.touch()
    assert office.order() == MEANWHILE
    _wait(lambda: bool(office.failures) or not _is_preparing())
    assert office.failures == [("fast card", "fast card is no longer there")]
    assert office.order() == MEANWHILE
    assert office.told[-1].code is ErrorCode.BACKEND_FAILED
    assert _is_preparing()


def _is_preparing() -> bool:
    return any(thread.name == "preparation" for thread in threading.enumerate())
