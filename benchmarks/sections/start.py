"""The time from the start of the process to the first step, and the parts of this time."""

from pathlib import Path

from benchmarks.checkpoints import warm
from benchmarks.command import CommandRun
from benchmarks.measure import Series
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting

_LIMIT_S = 4.0
_CACHED_LIMIT_S = 3.0


def start(setting: Setting) -> Findings:
    """Measure starts on a float16 file in the page cache: first without our cache, then with."""
    model = setting.files.f16
    warm(model)
    fresh: list[CommandRun] = []
    for _ in range(setting.rounds(5) + 1):
        with setting.empty_cache() as cache:
            fresh.append(_run(setting, cache))
    timed = fresh[1:]  # the first one warms the libraries' pages
    checking, cached = _again(setting)
    target = Target(
        "process start to first step, float16", _first_step(timed).median, _LIMIT_S, "s"
    )
    again = Target("the same, once all is cached", _first_step(cached).median, _CACHED_LIMIT_S, "s")
    rows = [
        ("process start to first step", *_summary(_first_step(timed))),
        ("the same in a cache that was used before", *_summary(_first_step(cached))),
        ("the same, while working copies are checked", *_summary(_first_step(checking))),
        ("process start to end, one step", *_summary(_end(timed))),
        ("the same in a cache that was used before", *_summary(_end(cached))),
        ("the same, while working copies are checked", *_summary(_end(checking))),
        *(
            (f"of which {phase}", *_summary(_phase(timed, phase)))
            for phase in ("load", "compile", "encode", "denoise", "decode", "save")
        ),
        ("processor time, all of it", *_summary(Series([run.cpu_s for run in timed]))),
    ]
    table = Table(
        "Start, full-size float16 file, warm page cache",
        ("", "median s", "least s", "most s"),
        tuple(rows),
        "From just before the process is created until its progress bar, read through a terminal, "
        "says that the denoiser's first step begins. The phases are the process's own account of "
        "starts with an empty cache; compile includes the VAE's, which comes after the steps. "
        "Working copies are checked once, beside the work, by the start after they were written; "
        "a picture of one step is saved no sooner than that is done.",
    )
    return Findings((table,), (target, again))


def _again(setting: Setting) -> tuple[list[CommandRun], list[CommandRun]]:
    """Return the runs with a filled cache: the starts that check it, and later starts."""
    checking: list[CommandRun] = []
    cached: list[CommandRun] = []
    for _ in range(setting.rounds(3)):
        with setting.empty_cache() as cache:
            _run(setting, cache)
            checking.append(_run(setting, cache))
            cached += [_run(setting, cache) for _ in range(2)]
    return checking, cached


def _run(setting: Setting, cache: Path) -> CommandRun:
    run = setting.generate(cache, setting.files.f16, steps=1)
    setting.report("first step begins", run.first_step_s)
    return run


def _first_step(runs: list[CommandRun]) -> Series:
    return Series([run.first_step_s for run in runs])


def _end(runs: list[CommandRun]) -> Series:
    return Series([run.wall_s for run in runs])


def _phase(runs: list[CommandRun], phase: str) -> Series:
    return Series([run.result["timings"][f"{phase}_s"] for run in runs])


def _summary(series: Series) -> tuple[float, float, float]:
    return (series.median, *series.spread)
