"""Estimates of durations on this machine, learnt from earlier durations.

A `Work` is timed: one kind of action with one network on one device, and its amount. The last
durations of each kind are kept in a small file. An estimate is the median rate of the durations for
the nearest size, times the size: one slow run on a busy machine changes nothing, and the effect of
a faster driver shows after a few runs.
"""

import contextlib
import statistics
from collections.abc import Mapping
from math import isfinite, log
from pathlib import Path
from threading import Lock

import msgspec

from engine.cached_state import recall
from engine.durable import replace_file

_VERSION = 1
# The most durations kept of one kind, and the most recent ones that count for one size.
_MOST_SAMPLES = 12
_COUNTED = 5
# The most kinds that are kept; the one noted longest ago is deleted first.
_MOST_KINDS = 256
_MOST_BYTES = 4 << 20
# Sizes whose logarithms differ by less are taken as equal.
_SAME = log(1.02)

COMPILE = "compile"

# Guesses until this machine has timed a compile: published times for SD 1.x's UNet, 1.7 GB in
# float16.
FIRST_COMPILE_S_PER_GB: Mapping[str, float] = {
    # "20-30 seconds for most models":
    # https://docs.nvidia.com/deeplearning/tensorrt-rtx/latest/architecture/architecture-overview.html
    "nvidia_tensorrt_rtx": 30 / 1.7,
    # "2-10 minutes depending on your GPU": https://github.com/NVIDIA/Stable-Diffusion-WebUI-TensorRT
    "nvidia_tensorrt": 360 / 1.7,
    # 20 to 67 s: https://github.com/ROCm/AMDMIGraphX/issues/4618
    "amd_migraphx": 45 / 1.7,
    # "~1-2 minutes" for the Neural Engine: https://github.com/apple/ml-stable-diffusion/issues/203
    "apple_coreml": 90 / 1.7,
    # "30s, 60s or even longer": https://github.com/bes-dev/stable_diffusion.openvino/issues/126
    "intel_openvino": 45 / 1.7,
}


class Kind(msgspec.Struct, frozen=True, order=True):
    """A kind of work: an action with a network on a device, in a precision."""

    activity: str
    network: str = ""
    backend: str = ""
    device: str = ""
    precision: str = ""


class Work(msgspec.Struct, frozen=True):
    """A kind, its amount in each run (bytes of weights or latent cells), and the number of runs."""

    kind: Kind
    size: float = 1.0
    times: float = 1.0


class _Sample(msgspec.Struct, frozen=True, array_like=True):
    """The size and the seconds of one run."""

    size: float
    seconds: float


class _Series(msgspec.Struct, frozen=True):
    kind: Kind
    samples: tuple[_Sample, ...]


class _File(msgspec.Struct, frozen=True):
    version: int
    series: tuple[_Series, ...]


_Learnt = dict[Kind, tuple[_Sample, ...]]
_DECODER = msgspec.json.Decoder(_File)


class Estimates:
    """The durations in a file, which need not exist; None keeps them in memory alone.

    The estimate for a backend that has never compiled here is a rough guess. May be used from any
    thread.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = Lock()
        self._learnt = _read(path)
        # The samples noted since the file was read.
        self._news: list[tuple[Kind, _Sample]] = []

    def note(self, work: Work, seconds: float) -> None:
        """Record the seconds of completed work."""
        if not (isfinite(seconds) and seconds >= 0 and work.size > 0 and work.times > 0):
            return
        sample = _Sample(work.size, round(seconds / work.times, 5))
        with self._lock:
            _add(self._learnt, work.kind, sample)
            self._news.append((work.kind, sample))

    def expect(self, work: Work, least: int = 1) -> float | None:
        """Return the seconds that work should take; None if timed less than `least` times."""
        with self._lock:
            samples = self._learnt.get(work.kind) or self._in_other_precisions(work.kind)
        if len(samples) >= least:
            return work.times * _median(samples, work.size)
        prior = FIRST_COMPILE_S_PER_GB.get(work.kind.backend)
        if work.kind.activity != COMPILE or prior is None:
            return None
        return work.times * prior * work.size / 1e9

    def save(self) -> None:
        """Add the new samples to the file, which other processes write, too.

        A failure to write is ignored: this process still uses its samples.
        """
        with self._lock:
            if self._path is None or not self._news:
                return
            learnt = _read(self._path)
            for kind, sample in self._news:
                _add(learnt, kind, sample)
            self._learnt = learnt
            self._news.clear()
            series = tuple(_Series(kind, samples) for kind, samples in learnt.items())
            # Within the lock, so that an older state never overwrites a newer one.
            with contextlib.suppress(OSError):
                replace_file(self._path, msgspec.json.encode(_File(_VERSION, series)))

    def _in_other_precisions(self, kind: Kind) -> tuple[_Sample, ...]:
        """Return the samples of the same work in another precision, the one noted last."""
        alike = [
            samples
            for other, samples in self._learnt.items()
            if msgspec.structs.replace(other, precision=kind.precision) == kind
        ]
        return alike[-1] if alike else ()


def _median(samples: tuple[_Sample, ...], size: float) -> float:
    """Return the seconds for a size, by the median rate of the samples of the nearest size."""
    nearest = min(abs(log(sample.size / size)) for sample in samples)
    near = [sample for sample in samples if abs(log(sample.size / size)) <= nearest + _SAME]
    rate = statistics.median(sample.seconds / sample.size for sample in near[-_COUNTED:])
    return rate * size


def _add(learnt: _Learnt, kind: Kind, sample: _Sample) -> None:
    samples = (*learnt.pop(kind, ()), sample)
    learnt[kind] = samples[-_MOST_SAMPLES:]
    while len(learnt) > _MOST_KINDS:
        del learnt[next(iter(learnt))]


def _read(path: Path | None) -> _Learnt:
    """Return the samples in a file; none if the file is damaged or of another version."""
    if path is None:
        return {}
    content = recall(path, _DECODER, _MOST_BYTES)
    if content is None or content.version != _VERSION or not all(map(_is_possible, content.series)):
        return {}
    return {series.kind: series.samples for series in content.series}


def _is_possible(series: _Series) -> bool:
    return bool(series.samples) and all(
        0 < sample.size < 1e30 and 0 <= sample.seconds < 1e9 for sample in series.samples
    )
