"""A picture enlarged by a Real-ESRGAN x4 file: beside the bare network, and beside spandrel."""

import json
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.child import Child, PeerError
from benchmarks.measure import PrivateMemoryPeak, private_bytes
from benchmarks.report import Cell, Findings, Table, Target
from benchmarks.sections.setting import Setting
from engine.graphs.upscalers.rrdb import RrdbConfig, rrdb
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights

_REAL = RrdbConfig(channels=3, width=64, growth=32, blocks=23, doublings=2)
# Random weights times this give numbers of a usual size through all layers.
_GAIN = 0.3
_SIDE, _QUICK_SIDE = 512, 128
_MOST_RATIO, _MOST_GB, _MOST_MISS = 1.05, 1.5, 0.15
_COLUMNS = ("what", "backend", "s", "beside the bare network", "private peak GB", "predicted GB")


def upscale(setting: Setting) -> Findings:
    """Measure the network bare, ours in tiles, and spandrel's, each in a process of its own."""
    side = _QUICK_SIDE if setting.quick else _SIDE
    rows: list[tuple[Cell, ...]] = []
    targets: list[Target] = []
    with tempfile.TemporaryDirectory() as scratch:
        file = write_file(Path(scratch))
        for backend in ("intel_openvino", "cpu"):
            bare, bare_peak, _ = measure(setting, "upscaler", file, backend, "bare", side)
            ours, peak, predicted = measure(setting, "upscaler", file, backend, "tiles", side)
            rows += [
                ("bare network, whole picture", backend, bare, 1.0, bare_peak, "-"),
                ("ours", backend, ours, ours / bare, peak, predicted),
            ]
            targets += [
                Target(f"{backend}: beside the bare network", ours / bare, _MOST_RATIO, "x"),
                Target(f"{backend}: private peak", peak, _MOST_GB, "GB"),
                Target(f"{backend}: memory missed by", abs(predicted / peak - 1), _MOST_MISS, ""),
            ]
        try:
            theirs, peak, _ = measure(setting, "spandrel", file, "torch", "whole", side)
            rows.append(("spandrel", "torch f32", theirs, "-", peak, "-"))
        except PeerError as error:
            setting.say(f"  spandrel is not here: {error}")
    note = f"{side}x{side} pixels, 4 times as large; 23 blocks with random weights; loading apart."
    return Findings((Table("An upscaler", _COLUMNS, tuple(rows), note),), tuple(targets))


def write_file(folder: Path) -> Path:
    """Write a Real-ESRGAN x4 file with random weights; return its path."""
    weights = random_weights(partial(rrdb, config=_REAL))
    path = folder / "RealESRGAN_x4plus.safetensors"
    write_arrays(path, {name: _GAIN * one for name, one in weights.items()})
    return path


def measure(
    setting: Setting, peer: str, file: Path, backend: str, task: str, side: int
) -> tuple[float, float, float]:
    """Return the seconds of a run, the peak of private memory and the predicted one in GB."""
    given = {"file": str(file), "backend": backend}
    with Child(peer, **given) as child, PrivateMemoryPeak(child.pid) as memory:
        before = private_bytes(child.pid) or 0
        answer = child.ask(task, side=side)
        # The sampling of its memory ends with it.
        child.close()
    seconds = float(answer["seconds"])
    # What the process had before is not the upscaler's.
    predicted = (before + float(answer.get("predicted", 0))) / 1e9
    setting.say(f"  {json.dumps([peer, backend, task])}: {seconds:.1f} s")
    return seconds, memory.peak_bytes / 1e9, predicted
