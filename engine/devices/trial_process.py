"""`python -m engine.devices.trial_process`: asks one backend for its devices and has them compute.

A process of its own, because a driver that crashes, hangs or takes all memory does so here. It
says what it does before it does it (`engine.devices.trial_messages`), so that the end tells who
was at work.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from backends.base import Array, Backend, Device, Precision, Session
from backends.cpu import CpuBackend
from backends.registry import BackendReference
from engine.api.machine import PrecisionFigures
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler, translated_errors
from engine.devices import trial_network
from engine.devices.cpu_self_test import difference_from_numpy
from engine.devices.trial_messages import Did, Over, Saw, Tries, Word, encode_word
from engine.devices.verdicts import seen
from engine.errors import EngineError
from engine.memory.plan import WeightPlacement
from engine.parent import die_first
from engine.stdio import take_stdio
from engine.weights.working_copies import WorkingCopies

# Largest difference from the float32 result, relative to its length. bfloat16 rounds to 2^-8 and
# was seen to be off by 0.007; some devices' float32 is TF32, which rounds to 2^-11 as float16 does.
TOLERANCES = {Precision.F32: 3e-3, Precision.BF16: 0.05, Precision.F16: 0.01}
_NUMPY_TOLERANCE = 1e-3
# After one run that warms up: as many as make a median, within so many seconds if there are some.
_RUNS, _ENOUGH_S = 9, 1.0
# The least that count, where the first run took up to so many seconds; one beyond.
_LEAST_RUNS = ((1.0, 3), (10.0, 2))

Say = Callable[[Word], None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the arguments say, and end the process."""
    parser = argparse.ArgumentParser(prog="trial", description="One backend's trial.")
    parser.add_argument("module")
    parser.add_argument("type_name")
    parser.add_argument("folder", type=Path, help="for what trials share")
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--look", action="store_true", help="only list the devices")
    parser.add_argument("--skip", action="append", default=[], metavar="ID")
    options = parser.parse_args(arguments)
    pipes = take_stdio()
    die_first(options.parent, pipes.commands)

    def say(word: Word) -> None:
        os.write(pipes.events, encode_word(word))

    backend = BackendReference("", options.module, options.type_name).create()
    devices = backend.probe()
    found = tuple(seen(backend, device) for device in devices)
    say(Saw(devices=found))
    usable = {device.id for device in found if device.automatic and not device.unusable}
    wanted = [d for d in devices if d.id in usable and d.id not in options.skip]
    if wanted and not options.look:
        trial = _Trial(backend, options.folder)
        for device in wanted:
            trial.run(device, say)
    say(Over())
    # A runtime may hang or crash while it is taken apart; everything is said.
    os._exit(0)


@dataclass(frozen=True, slots=True)
class _Run:
    """The result of a network, and the median seconds of its runs."""

    result: Array
    seconds: float


class _Trial:
    """One backend's devices, beside the processor's result."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self._backend, self._folder = backend, folder
        self._network = trial_network.network(folder)
        self._expected = self._reference()

    def run(self, device: Device, say: Say) -> None:
        """Have a device compute in each of its precisions."""
        for precision in device.precisions:
            say(Tries(device=device.id, precision=precision.value))
            try:
                run = self._run(self._backend, device, precision)
            except EngineError as error:
                problem = f"it failed: {error.detail or error.message}"
                figures = PrecisionFigures(precision=precision.value, problem=problem)
            else:
                figures = self._judged(precision, run)
            say(Did(device=device.id, figures=figures))

    def _judged(self, precision: Precision, run: _Run) -> PrecisionFigures:
        off = np.linalg.norm(run.result.astype(np.float32) - self._expected)
        difference = float(off / np.linalg.norm(self._expected))
        wrong = not difference < TOLERANCES[precision]  # not a number is not either
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
        """Load the network and run it. Outputs come to the host, so no device is still at work."""
        compiler = Compiler(backend, device, WorkingCopies(self._folder / "weights"))
        session = compiler.load(
            self._network, precision, WeightPlacement.MEMORY, lambda _d, _t: None, CancelToken()
        )
        try:
            with translated_errors(device):
                return _timed(session, runs)
        finally:
            session.close()

    def _reference(self) -> Array:
        """The processor's result in float32, of the first trial that needed it.

        Raises RuntimeError where the processor cannot add up.
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
        with suppress(OSError):  # a full disk; the next one computes it again
            np.save(path, result)
        return result


def _timed(session: Session, runs: int) -> _Run:
    """A run that warms up, then at most so many that count."""
    feeds = trial_network.feeds()
    result, first = _timed_once(session, feeds)
    least = next((count for limit, count in _LEAST_RUNS if first <= limit), 1)
    seconds: list[float] = []
    while len(seconds) < runs and (len(seconds) < least or sum(seconds) < _ENOUGH_S):
        result, took = _timed_once(session, feeds)
        seconds.append(took)
    return _Run(result, median(seconds or [first]))


def _timed_once(session: Session, feeds: Mapping[str, Array]) -> tuple[Array, float]:
    start = perf_counter()
    result = session.run(feeds)[trial_network.OUTPUT]
    return result, perf_counter() - start


if __name__ == "__main__":
    main()
