"""The peak private memory (RssAnon) of a process that makes a picture of 512 x 512."""

from benchmarks.checkpoints import warm
from benchmarks.command import CommandRun
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.workload import SIZE

# Enough for every network to run; more steps need no more memory.
_STEPS = 2
_DEFAULT_GB, _MAPPED_GB, _F32_GB = 4.5, 3.0, 2.3


def memory(setting: Setting) -> Findings:
    """Measure default options, a limit that forces a mapped working copy, and a float32 file."""
    for file in (setting.files.f16, setting.files.f32):
        warm(file)
    f16, f32 = setting.files.f16, setting.files.f32
    with setting.empty_cache() as cache:
        default = _run(setting, "default", setting.generate(cache, f16, steps=_STEPS))
    with setting.empty_cache() as cache:
        limit = ("--memory-limit", "3G")
        making = _run(setting, "making", setting.generate(cache, f16, *limit, steps=_STEPS))
        using = _run(setting, "using", setting.generate(cache, f16, *limit, steps=_STEPS))
    with setting.empty_cache() as cache:
        single = _run(setting, "float32", setting.generate(cache, f32, steps=_STEPS))
    mapped = "float16 file, --memory-limit 3G"
    rows = (
        ("float16 file", *default),
        (f"{mapped}, writing the working copy", *making),
        (f"{mapped}, with the working copy", *using),
        ("float32 file", *single),
    )
    table = Table(
        f"Private memory, {SIZE}x{SIZE}",
        ("", "peak GB", "its own account GB", "process start to end s"),
        rows,
        "RssAnon of the process in units of 10^9 bytes, sampled from outside every 20 ms.",
    )
    targets = (
        Target("private memory, float16 file", default[0], _DEFAULT_GB, "GB"),
        Target(f"private memory, {mapped}", max(making[0], using[0]), _MAPPED_GB, "GB"),
        Target("private memory, float32 file", single[0], _F32_GB, "GB"),
    )
    return Findings((table,), targets)


def _run(setting: Setting, name: str, run: CommandRun) -> tuple[float, float, float]:
    peak = run.peak_private_bytes / 1e9
    setting.say(f"  {name}: {peak:.2f} GB")
    return (peak, run.result["memory"]["peak_private_mb"] / 1e3, run.wall_s)
