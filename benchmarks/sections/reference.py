"""Attention to a reference picture ("reference only"): a step beside the plain one; memory."""

from contextlib import ExitStack

from benchmarks.child import Child
from benchmarks.measure import PrivateMemoryPeak, Series, interleave
from benchmarks.peers.reference_step import ALONE, BESIDE, LAYERS, ONE, PLAIN, TWO
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.setting import TIMING_COLUMNS, Setting, first_and_rest, timing_row
from benchmarks.workload import SIZE

_PRECISION = "bf16"
_KINDS = ("Subgraph", "MatMul", "Softmax", "FullyConnected", "Concatenation")
WRITING, READING = "its writing run", "its reading run"


def reference(setting: Setting) -> Findings:
    """Measure steps that attend to a reference picture in turns with plain ones."""
    given = {"checkpoint": str(setting.files.unet_file), "precision": _PRECISION}
    measured = [_compared(setting, given, way) for way in (TWO, ONE)]
    return Findings((*measured, _layers(given)))


def _compared(setting: Setting, given: dict[str, str], way: str) -> Table:
    """Measure one way to do it in turns with the plain step: two loaded denoisers at a time."""
    runs = {WRITING: Series(), READING: Series()}
    with ExitStack() as stack:
        children = {
            one: stack.enter_context(Child("reference", **given, way=one)) for one in (PLAIN, way)
        }
        peaks = {
            one: stack.enter_context(PrivateMemoryPeak(child.pid))
            for one, child in children.items()
        }

        def beside() -> float:
            found = children[way].ask(BESIDE)
            runs[WRITING].values.append(found["alone_s"])
            runs[READING].values.append(found["seconds"] - found["alone_s"])
            return float(found["seconds"])

        contestants = {PLAIN: lambda: children[PLAIN].seconds(ALONE), way: beside}
        rounds = setting.rounds(5) + 1
        taken = interleave(contestants, rounds, setting.report)
        held = {one: f"{peak.peak_bytes / 1e9:.2f}" for one, peak in peaks.items()}
    firsts, series = first_and_rest({**taken, **runs})
    rows = tuple(
        (
            *timing_row(
                name, firsts[name], one, None if name == PLAIN else one.ratio_to(series[PLAIN])
            ),
            held.get(name, "-"),
        )
        for name, one in series.items()
    )
    return Table(
        f"A guided step of SD 1.5, {SIZE}x{SIZE}, OpenVINO {_PRECISION}: {way}",
        (*TIMING_COLUMNS, "it / plain", "peak GB"),
        rows,
        "A step has a run that writes the inputs of all self-attentions, and one that attends to "
        "them, too. Turn by turn; ratios are medians over rounds. Peak: RssAnon of the process in "
        "10^9 bytes after loading, sampled from outside every 20 ms.",
    )


def _layers(given: dict[str, str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for way in (PLAIN, TWO):
        with Child("reference", **given, way=way) as child:
            counts = child.ask(LAYERS)["layers"]
        for count, form in zip(
            counts, ("writes", "reads") if way == TWO else ("plain",), strict=True
        ):
            rows.append((form, *(str(count.get(kind, 0)) for kind in _KINDS)))
    note = (
        "Kinds of the layers that OpenVINO executes. Fused attention is a Subgraph; attention that "
        "is not fused is two MatMul and a Softmax."
    )
    return Table("Executed layers", ("graph", *_KINDS), tuple(rows), note)
