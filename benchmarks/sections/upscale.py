"""Upscalers: Real-ESRGAN beside its bare network and spandrel, and the memory of all kinds."""

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.child import Child, PeerError
from benchmarks.measure import PrivateMemoryPeak, Series, private_bytes
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.predicted_memory import MeasuredPeak, beside_predictions
from benchmarks.sections.setting import Setting
from engine.upscalers.network import Emit
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights
from tests.upscalers.published import PUBLISHED, REAL_ESRGAN

_BACKENDS = "intel_openvino", "cpu"
# Random weights times this give numbers of a usual size through all layers.
_GAIN = 0.3
_SIDE, _QUICK_SIDE, _SIDE_OF_OTHERS = 512, 128, 256
# Small upscalers are done within ten of the usual samples.
_SAMPLED_S = 0.005
_TASKS = "bare", "tiles"
_PAIRS = 5
_MOST_RATIO, _MOST_GB = 1.05, 1.5
_COLUMNS = ("what", "backend", "s", "beside the bare network", "private peak GB", "predicted GB")


def upscale(setting: Setting) -> Findings:
    """Measure Real-ESRGAN's time and memory, and the memory of all other kinds."""
    esrgan, others = _esrgan(setting), _memory(setting)
    return Findings(esrgan.tables + others.tables, esrgan.targets + others.targets)


def _esrgan(setting: Setting) -> Findings:
    """Measure the network bare and ours in tiles in turns, then spandrel's: one process a run."""
    side = _QUICK_SIDE if setting.quick else _SIDE
    rows: list[tuple[Cell, ...]] = []
    targets: list[Target] = []
    with tempfile.TemporaryDirectory() as scratch:
        file = write_file(Path(scratch))
        for backend in _BACKENDS:
            runs = _in_turns(setting, file, backend, side)
            bare, ours = (runs[task] for task in _TASKS)
            ratio = ours.seconds.ratio_to(bare.seconds)
            rows += [
                ("bare network, whole picture", backend, bare.seconds.median, 1.0, bare.peak, "-"),
                ("ours", backend, ours.seconds.median, ratio, ours.peak, ours.predicted),
            ]
            targets += [
                Target(f"{backend}: beside the bare network", ratio, _MOST_RATIO, "x"),
                Target(f"{backend}: private peak", ours.peak, _MOST_GB, "GB"),
                MeasuredPeak((backend,), ours.peak, ours.predicted).target,
            ]
        try:
            theirs, peak, _ = measure(setting, "spandrel", file, "torch", "whole", side)
            rows.append(("spandrel", "torch f32", theirs, "-", peak, "-"))
        except PeerError as error:
            setting.say(f"  spandrel is not here: {error}")
    note = (
        f"{side}x{side} pixels, 4 times as large; 23 blocks with random weights; loading apart. "
        "Bare and ours in turns: medians, the ratio of pairs, the highest peak."
    )
    return Findings((Table("An upscaler", _COLUMNS, tuple(rows), note),), tuple(targets))


@dataclass(slots=True)
class _Runs:
    """The runs of one task: their seconds, the highest private peak and its prediction in GB."""

    seconds: Series = field(default_factory=Series)
    peak: float = 0.0
    predicted: float = 0.0


def _in_turns(setting: Setting, file: Path, backend: str, side: int) -> dict[str, _Runs]:
    """Run the bare network and ours by turns, so that a slow minute of the machine meets both."""
    runs = {task: _Runs() for task in _TASKS}
    for _ in range(setting.rounds(_PAIRS)):
        for task, run in runs.items():
            seconds, peak, predicted = measure(setting, "upscaler", file, backend, task, side)
            run.seconds.values.append(seconds)
            if peak > run.peak:
                run.peak, run.predicted = peak, predicted
    return runs


def _memory(setting: Setting) -> Findings:
    """Compare the peak of private memory with the one predicted, for each other kind."""
    peaks: list[MeasuredPeak] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, emit in PUBLISHED.items():
            if emit is REAL_ESRGAN:
                continue
            file = write_file(Path(scratch), emit)
            for backend in _BACKENDS:
                _, peak, predicted = measure(
                    setting, "upscaler", file, backend, "tiles", _SIDE_OF_OTHERS
                )
                peaks.append(MeasuredPeak((name, backend), peak, predicted))
    note = f"{_SIDE_OF_OTHERS}x{_SIDE_OF_OTHERS} pixels, 4 times as large, sizes as published."
    return beside_predictions("Memory of upscalers", ("what", "backend"), peaks, note)


def write_file(folder: Path, emit: Emit = REAL_ESRGAN) -> Path:
    """Write an x4 upscaler's file with random weights; return its path."""
    path = folder / "x4.safetensors"
    write_arrays(path, {name: _GAIN * weight for name, weight in random_weights(emit).items()})
    return path


def measure(
    setting: Setting, peer: str, file: Path, backend: str, task: str, side: int
) -> tuple[float, float, float]:
    """Return the seconds of a run, the peak of private memory and the predicted one in GB."""
    given = {"file": str(file), "backend": backend}
    with Child(peer, **given) as child, PrivateMemoryPeak(child.pid, _SAMPLED_S) as memory:
        before = private_bytes(child.pid) or 0
        answer = child.ask(task, side=side)
        # The sampling of its memory ends with it.
        child.close()
    seconds = float(answer["seconds"])
    # What the process had before is not the upscaler's.
    predicted = (before + float(answer.get("predicted", 0))) / 1e9
    peak = memory.peak_bytes / 1e9
    figures = f"{seconds:.1f} s, {peak:.2f} GB, predicted {predicted:.2f} GB"
    setting.say(f"  {json.dumps([peer, backend, task])}: {figures}")
    return seconds, peak, predicted
