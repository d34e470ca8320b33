"""Attention to a reference picture ("reference only"): a step beside the plain one; memory."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks.child import Child
from benchmarks.measure import PrivateMemoryPeak, Series, interleave
from benchmarks.peers.reference_step import ALONE, BESIDE, LAYERS, PLAIN, REFERENCE
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.setting import Setting, first_and_rest
from benchmarks.workload import SIZE

_PRECISION = "bf16"
_KINDS = ("Subgraph", "MatMul", "Softmax", "FullyConnected", "Concatenation")
WRITING, READING = "its writing run", "its reading run"


def reference(setting: Setting) -> Findings:
    """Measure steps that attend to a reference picture in turns with plain ones."""
    given = {"checkpoint": str(setting.files.unet_file), "precision": _PRECISION}
    return Findings((_compared(setting, given), _layers(given)))


def _compared(setting: Setting, given: dict[str, str]) -> Table:
    """Return a table of steps with a reference, measured in turns with the plain step."""
    measured = _in_turns(setting, given)
    _, seconds = first_and_rest(measured.seconds)
    _, used = first_and_rest(measured.cpu)
    rows = tuple(
        (
            name,
            seconds[name].median if name in seconds else "-",
            times.median,
            "-" if name == PLAIN else times.ratio_to(used[PLAIN]),
            f"{measured.peaks[name] / 1e9:.2f}" if name in measured.peaks else "-",
        )
        for name, times in used.items()
    )
    return Table(
        f"A guided step of SD 1.5, {SIZE}x{SIZE}, OpenVINO {_PRECISION}",
        ("", "s", "processor s", "it / plain, processor", "peak GB"),
        rows,
        "A step has a run that writes the inputs of all self-attentions, and one that attends to "
        "them, too. Turn by turn after a round that is not counted; medians. Processor time tells "
        "more where others use the machine. Peak: RssAnon of the process in 10^9 bytes.",
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """Seconds of steps, processor seconds of steps and their runs, and peaks of memory in bytes."""

    seconds: Mapping[str, Series]
    cpu: Mapping[str, Series]
    peaks: Mapping[str, int]


def _in_turns(setting: Setting, given: dict[str, str]) -> _Measured:
    """Measure two loaded denoisers at a time."""
    cpu = {name: Series() for name in (PLAIN, REFERENCE, WRITING, READING)}
    with ExitStack() as stack:
        children = {
            way: stack.enter_context(Child("reference", **given, way=way))
            for way in (PLAIN, REFERENCE)
        }
        peaks = {
            way: stack.enter_context(PrivateMemoryPeak(child.pid))
            for way, child in children.items()
        }

        def step(way: str, task: str) -> float:
            found = children[way].ask(task)
            cpu[way].values.append(found["cpu_s"])
            if task == BESIDE:
                cpu[WRITING].values.append(found["alone_cpu_s"])
                cpu[READING].values.append(found["cpu_s"] - found["alone_cpu_s"])
            return float(found["seconds"])

        contestants = {
            PLAIN: lambda: step(PLAIN, ALONE),
            REFERENCE: lambda: step(REFERENCE, BESIDE),
        }
        rounds = (1 if setting.quick else 5) + 1
        seconds = interleave(contestants, rounds, setting.report)
        return _Measured(seconds, cpu, {way: peak.peak_bytes for way, peak in peaks.items()})


def _layers(given: dict[str, str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for way in (PLAIN, REFERENCE):
        with Child("reference", **given, way=way) as child:
            counts = child.ask(LAYERS)["layers"]
        forms = ("plain",) if way == PLAIN else ("writes", "reads")
        for count, form in zip(counts, forms, strict=True):
            rows.append((form, *(str(count.get(kind, 0)) for kind in _KINDS)))
    note = (
        "Kinds of the layers that OpenVINO executes. Fused attention is a Subgraph; attention that "
        "is not fused is two MatMul and a Softmax."
    )
    return Table("Executed layers", ("graph", *_KINDS), tuple(rows), note)
