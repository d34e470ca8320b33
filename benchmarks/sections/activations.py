"""The memory of networks beside their weights, and what plans predict of it."""

from collections.abc import Iterator

from benchmarks.child import Child
from benchmarks.report import Findings
from benchmarks.sections.predicted_memory import MeasuredPeak, beside_predictions
from benchmarks.sections.setting import Setting
from tests.graphs.wide_jobs import WIDE

_RUNTIMES = (("cpu", "f32"), ("intel_openvino", "bf16"), ("intel_openvino", "f32"))
# Heights and widths in pixels.
_QUICK = ((512, 512),)
_SIZES = (*_QUICK, (768, 512), (1024, 1024))


def activations(setting: Setting) -> Findings:
    """Measure every family's networks at full width on the runtimes of the processor."""
    peaks: list[MeasuredPeak] = []
    for backend, precision in _RUNTIMES:
        for kind, networks in WIDE.items():
            for name in networks:
                peaks += _peaks(setting, kind, name, backend, precision)
    note = (
        "Few blocks of full width, which all use the same memory in turn; random weights. Peak of "
        "RssAnon in two runs, less what is held with packed weights, each in a process of its own."
    )
    labels = ("network", "backend", "pixels", "contexts")
    return beside_predictions("Memory of runs beside weights", labels, peaks, note)


def _peaks(
    setting: Setting, kind: str, name: str, backend: str, precision: str
) -> Iterator[MeasuredPeak]:
    options = {"kind": kind, "network": name, "backend": backend, "precision": precision}
    usual, packed = WIDE[kind][name].contexts, dict[int, float]()
    runs = [(*size, usual) for size in (_QUICK if setting.quick else _SIZES)]
    if kind == "denoiser" and not setting.quick:
        # As for two prompts, each in a part of the picture.
        runs.append((*_QUICK[0], 2 * usual))
    for height, width, contexts in runs:
        if contexts not in packed:
            with Child("wide network", **options) as child:
                packed[contexts] = float(child.ask("packed", contexts=contexts)["bytes"])
        with Child("wide network", **options) as child:
            run = child.ask("run", height=height, width=width, contexts=contexts)
        labels = (f"{name}, {kind}", f"{backend} {precision}", f"{height}x{width}", contexts)
        peak = (float(run["bytes"]) - packed[contexts]) / 1e9
        setting.say(f"  {', '.join(map(str, labels))}: {peak:.2f} GB")
        yield MeasuredPeak(labels, peak, float(run["predicted"]) / 1e9)
