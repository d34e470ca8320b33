"""Each network, and their total, in batches of 1 and 4: first and later runs."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import chain, repeat

from benchmarks.child import Child
from benchmarks.measure import interleave
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.setting import Setting, first_and_rest
from benchmarks.workload import COMPONENTS, DENOISER, SIZE

_BATCHES = (1, 4)


def components(setting: Setting) -> Findings:
    """Return one table for each batch size, with a pair of columns for each engine."""
    with ExitStack() as stack:
        engines = {
            name: stack.enter_context(Child(peer, **options))
            for name, peer, options in _engines(setting)
        }
        tables = tuple(_table(setting, engines, pictures) for pictures in _BATCHES)
    return Findings(tables)


def _engines(setting: Setting) -> tuple[tuple[str, str, dict[str, str]], ...]:
    files = setting.files
    ours = {"checkpoint": str(files.f32)}
    theirs = {"configuration": str(files.configuration), "checkpoint": str(files.f32)}
    return (
        (
            "safelight intel_openvino bf16",
            "safelight",
            {**ours, "backend": "intel_openvino", "precision": "bf16"},
        ),
        ("safelight cpu f32", "safelight", {**ours, "backend": "cpu", "precision": "f32"}),
        ("diffusers bf16", "diffusers", {**theirs, "precision": "bf16"}),
        ("diffusers f32", "diffusers", {**theirs, "precision": "f32"}),
    )


def _table(setting: Setting, engines: Mapping[str, Child], pictures: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    totals = dict.fromkeys(engines, (0.0, 0.0))
    for component in COMPONENTS:
        times = setting.steps if component == DENOISER else 1
        setting.say(f"  {component}, batch {pictures}")
        found = _first_and_second(setting, engines, component, pictures)
        label = f"{component} x {times}" if times > 1 else component
        # The first of several steps includes one-time costs.
        spent = {
            name: (first + (times - 1) * second, times * second)
            for name, (first, second) in found.items()
        }
        rows.append((label, *(seconds for pair in spent.values() for seconds in pair)))
        for name, pair in spent.items():
            totals[name] = (totals[name][0] + pair[0], totals[name][1] + pair[1])
    rows.append(("whole", *(seconds for pair in totals.values() for seconds in pair)))
    columns = [f"{name}, {run}" for name in engines for run in ("first", "second")]
    return Table(
        f"Components, {SIZE}x{SIZE}, guided, batch {pictures}, float32 file; seconds",
        ("", *columns),
        tuple(rows),
        "First run after loading, then the median of later ones; loading is not included. Steps "
        "are one step's time, multiplied; whole is the sum.",
    )


def _first_and_second(
    setting: Setting, engines: Mapping[str, Child], component: str, pictures: int
) -> dict[str, tuple[float, float]]:
    def run(child: Child) -> Callable[[], float]:
        fresh = chain((True,), repeat(False))
        return lambda: child.seconds(component, pictures=pictures, fresh=next(fresh))

    contestants = {name: run(child) for name, child in engines.items()}
    repeats = setting.rounds(3) if pictures == 1 else 1
    firsts, rest = first_and_rest(interleave(contestants, 1 + repeats, setting.report))
    return {name: (firsts[name], rest[name].median) for name in engines}
