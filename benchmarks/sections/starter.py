"""The time to a picture of the starter model for a user who has just installed the app."""

from benchmarks import command
from benchmarks.command import CommandRun
from benchmarks.measure import Series
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.workload import PROMPT

_LIMIT_S = 6.0


def starter(setting: Setting) -> Findings:
    """Measure `safelight generate PROMPT` in a new process without a cache, all defaults."""
    runs: list[CommandRun] = []
    for _ in range(setting.rounds(5)):
        with setting.empty_cache() as cache:
            arguments = [PROMPT, "--out", str(cache / "pictures")]
            if setting.starter:
                arguments += ["--model", str(setting.starter)]
            runs.append(command.generate(setting.python, cache, *arguments))
        setting.report("starter picture", runs[-1].wall_s)
    series = Series([run.wall_s for run in runs])
    timings = runs[-1].result["timings"]
    phases = ", ".join(f"{name[:-2]} {timings[name]:.2f} s" for name in timings)
    table = Table(
        "Starter picture, all defaults",
        ("", "first s", "median s", "least s", "most s"),
        (("process start to end", runs[0].wall_s, series.median, *series.spread),),
        f"The last one's own account: {phases}.",
    )
    return Findings((table,), (Target("starter picture", series.median, _LIMIT_S, "s"),))
