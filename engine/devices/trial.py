"""The trial of one backend's devices: the network run on each, compared with the processor."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter

import msgspec
import numpy as np

from backends.base import Array, Backend, Device, Precision, Session
from backends.cpu import CpuBackend
from engine.api.machine import PrecisionFigures
from engine.cancel import CancelToken
from engine.compile.backend_errors import translated_errors
from engine.compile.compiler import Compiler
from engine.devices import trial_network
from engine.devices.cpu_self_test import difference_from_numpy
from engine.devices.other_programs import OtherPrograms
from engine.devices.trial_messages import TrialFinished, TrialMessage, TrialStarted
from engine.errors import EngineError
from engine.memory.plan import WeightPlacement
from engine.weights.rounding import EXACT, Rounding
from engine.weights.working_copies import WorkingCopies

# Largest difference from the float32 result, relative to its norm. bfloat16 rounds to 2^-8 and
# was measured to be off by 0.007, 8 bits by 0.007; some devices' float32 is TF32, which rounds
# to 2^-11 as float16 does.
TOLERANCES = {
    Precision.F32: 3e-3,
    Precision.BF16: 0.05,
    Precision.F16: 0.01,
    Precision.INT8: 0.05,
}
# The bits of the network's weights in a trial: 8 need them in blocks.
_ROUNDINGS = {Precision.INT8: Rounding(8, 8)}
_NUMPY_TOLERANCE = 1e-3
# The most runs to measure after the warm-up run, and the seconds after which no more are begun.
_RUNS, _ENOUGH_S = 9, 1.0
# The fewest runs to measure, by the most seconds of the first run; one if that took longer.
_LEAST_RUNS = ((1.0, 3), (10.0, 2))

Send = Callable[[TrialMessage], None]


class _Run(msgspec.Struct, frozen=True):
    """The output of the network, and the median seconds of its runs.

    `disturbed`: other programs kept the processors busy meanwhile.
    """

    result: Array
    seconds: float
    disturbed: bool


class Trial:
    """The trial of one backend's devices, compared with the processor's result."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self._backend, self._folder = backend, folder
        self._network = trial_network.network(folder)
        self._expected = self._reference()

    def run(self, device: Device, send: Send) -> None:
        """Run the network on a device in each of its precisions."""
        for precision in device.precisions:
            send(TrialStarted(device=device.id, precision=precision.value))
            disturbed = False
            try:
                run = self._run(self._backend, device, precision)
            except EngineError as error:
                problem = f"it failed: {error.detail or error.message}"
                figures = PrecisionFigures(precision=precision.value, problem=problem)
            else:
                figures, disturbed = self._judged(precision, run), run.disturbed
            send(TrialFinished(device=device.id, figures=figures, disturbed=disturbed))

    def _judged(self, precision: Precision, run: _Run) -> PrecisionFigures:
        off = np.linalg.norm(run.result.astype(np.float32) - self._expected)
        difference = float(off / np.linalg.norm(self._expected))
        wrong = not difference < TOLERANCES[precision]  # also true for NaN
        finite = np.isfinite(difference)
        problem = f"it is off by {difference:.1%}" if finite else "its numbers are none"
        return PrecisionFigures(
            precision=precision.value,
            milliseconds=round(1000 * run.seconds, 3),
            difference=difference if finite else 0.0,
            problem=problem if wrong else "",
        )

    def _run(
        self, backend: Backend, device: Device, precision: Precision, runs: int = _RUNS
    ) -> _Run:
        """Load the network and time its runs, each of which ends with its output on the host."""
        copies = WorkingCopies(self._folder / "weights")
        rounding = _ROUNDINGS.get(precision, EXACT)
        compiler = Compiler(backend, device, copies, rounding=rounding)
        session = compiler.load(
            self._network, precision, WeightPlacement.MEMORY, lambda _d, _t: None, CancelToken()
        )
        try:
            with translated_errors(device):
                return _timed(session, runs)
        finally:
            session.close()

    def _reference(self) -> Array:
        """Return the processor's float32 result, computed by the first trial of the folder.

        Raises RuntimeError where the processor fails its self-test.
        """
        path = self._folder / "expected.npy"
        if path.exists():
            return np.load(path)
        backend = CpuBackend()
        device = backend.probe()[0]
        off = difference_from_numpy(backend, device)
        if not off < _NUMPY_TOLERANCE:
            raise RuntimeError(f"the processor is off by {off:.1%} from NumPy's sums")
        result = self._run(backend, device, Precision.F32, runs=0).result
        with suppress(OSError):  # a full disk; the next trial computes it again
            np.save(path, result)
        return result


def _timed(session: Session, runs: int) -> _Run:
    """Run the network once to warm up, then time at most `runs` runs."""
    feeds = trial_network.feeds()
    others = OtherPrograms()
    result, first = _timed_once(session, feeds)
    least = next((count for limit, count in _LEAST_RUNS if first <= limit), 1)
    seconds: list[float] = []
    while len(seconds) < runs and (len(seconds) < least or sum(seconds) < _ENOUGH_S):
        result, took = _timed_once(session, feeds)
        seconds.append(took)
    return _Run(result, median(seconds or [first]), others.were_busy())


def _timed_once(session: Session, feeds: Mapping[str, Array]) -> tuple[Array, float]:
    start = perf_counter()
    result = session.run(feeds)[trial_network.OUTPUT]
    return result, perf_counter() - start
