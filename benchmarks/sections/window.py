"""The desktop app: the time until its window appears, and its longest pauses."""

import subprocess

import msgspec

from benchmarks.child import ROOT, PeerError
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting
from benchmarks.window_session import WindowFigures

_COLD_START_S = 1.0
_STALL_MS = 16.0
_ACKNOWLEDGED_MS = 100.0
_DEATH_TOLD_MS = 1000.0


def window(setting: Setting) -> Findings:
    """Run a scripted session with the real engine and the starter, in the app's environment."""
    figures = _session(setting)
    session = figures.session
    stalls = [stall.ms for stall in session.longest_stalls]
    longest = max(stalls, default=0.0)
    rows = (
        ("process start to first paint, median, s", figures.cold_start_s),
        ("longest stall of the window's thread, ms", longest),
        ("stalls over 16 ms", session.stalls_over_16_ms),
        ("cancel acknowledged, ms", session.cancel_acknowledged_ms),
        ("cancel acted, ms", session.cancel_effective_ms),
        ("a step meanwhile, ms", session.step_ms),
        ("engine killed to told, ms", session.engine_death_told_ms),
    )
    worst = "; ".join(f"{stall.part}: {stall.ms:.0f} ms" for stall in session.longest_stalls)
    table = Table(
        f"The window, drawn on {figures.platform}",
        ("", "measured"),
        rows,
        f"Longest stalls: {worst or 'none'}.",
    )
    targets = (
        Target("window: process start to first paint", figures.cold_start_s, _COLD_START_S, "s"),
        Target("window: longest stall", longest, _STALL_MS, "ms"),
        Target(
            "window: cancel acknowledged", session.cancel_acknowledged_ms, _ACKNOWLEDGED_MS, "ms"
        ),
        Target("window: engine death told", session.engine_death_told_ms, _DEATH_TOLD_MS, "ms"),
    )
    return Findings((table,), targets)


def _session(setting: Setting) -> WindowFigures:
    command = [str(setting.python), "-m", "benchmarks.window_session"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        raise PeerError(f"the session ended with {run.returncode}: {run.stderr.strip()[-500:]}")
    return msgspec.json.decode(run.stdout, type=WindowFigures)
