"""From the start of the process to the first step, and where the time goes."""

from benchmarks.checkpoints import warm
from benchmarks.command import CommandRun
from benchmarks.measure import Series
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting

_LIMIT_S = 4.0


def start(setting: Setting) -> Findings:
    """A float16 file in the page cache, an empty cache of our own, default options."""
    model = setting.files.f16
    warm(model)
    runs: list[CommandRun] = []
    for _ in range(setting.rounds(5) + 1):
        with setting.empty_cache() as cache:
            runs.append(setting.generate(cache, model, steps=1))
        setting.report("first step begins", runs[-1].first_step_s)
    timed = runs[1:]  # the first one warms the libraries' pages
    first_step = Series([run.first_step_s for run in timed])
    rows = [
        ("process start to first step", first_step.median, *first_step.spread),
        ("process start to end, one step", *_summary([run.wall_s for run in timed])),
        *(
            (f"of which {phase}", *_summary([run.result["timings"][f"{phase}_s"] for run in timed]))
            for phase in ("load", "compile", "encode", "denoise", "decode", "save")
        ),
        ("processor time, all of it", *_summary([run.cpu_s for run in timed])),
    ]
    table = Table(
        "Start, full-size float16 file, warm page cache",
        ("", "median s", "least s", "most s"),
        tuple(rows),
        "From just before the process is created until its progress bar, read through a terminal, "
        "says that the denoiser's first step begins. The phases are the process's own account; "
        "compile includes the VAE's, which comes after the steps.",
    )
    target = Target("process start to first step, float16", first_step.median, _LIMIT_S, "s")
    return Findings((table,), (target,))


def _summary(values: list[float]) -> tuple[float, float, float]:
    series = Series(values)
    return (series.median, *series.spread)
