"""The start of an installed tree: the time until its window is seen, and until its first picture.

The window is a real one, on an X server in memory, and Ctrl+Enter is pressed as a person would.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.child import PeerError
from benchmarks.measure import Series
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting
from tests.ui.real_window.display import display, missing_programs

_WINDOW_S = 2.0
_PATIENCE_S = 180.0
_POLL_S = 0.01
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")


@dataclass(frozen=True)
class _Start:
    """Seconds from just before the process is created."""

    window_s: float
    picture_s: float


def installed(setting: Setting) -> Findings:
    """Measure starts of the tree that --tree names, each for a user who never started it before."""
    if setting.tree is None:
        raise PeerError("--tree names no installed tree")
    if missing := missing_programs():
        raise PeerError(f"these are not installed: {', '.join(missing)}")
    program = setting.tree.absolute() / "safelight"
    starts: dict[str, list[_Start]] = {}
    with display(1440, 900) as screen:
        kinds: dict[str, Callable[[], None]] = {"warm": lambda: None}
        if os.access(_DROP_CACHES, os.W_OK):
            kinds["cold"] = _forget_files
        _start(program, screen)  # its files are read once
        for _ in range(setting.rounds(5)):
            for kind, prepare in kinds.items():
                prepare()
                starts.setdefault(kind, []).append(_start(program, screen))
                setting.report(f"window, {kind}", starts[kind][-1].window_s)
    return _findings(starts)


def _findings(starts: dict[str, list[_Start]]) -> Findings:
    rows: list[tuple[str, float, float, float]] = []
    for kind, runs in starts.items():
        for what, values in (
            ("the window is seen", [run.window_s for run in runs]),
            ("the first picture is saved", [run.picture_s for run in runs]),
        ):
            series = Series(values)
            rows.append((f"{what}, {kind}", series.median, *series.spread))
    table = Table(
        "First start of an installed tree",
        ("", "median s", "least s", "most s"),
        tuple(rows),
        "From just before the process is created; new folders each time. Cold: the system has "
        "forgotten all files. Ctrl+Enter is pressed as soon as the window is seen.",
    )
    cold = Series([run.window_s for run in starts["cold"]]).median if "cold" in starts else None
    reason = "only root may have the system forget files"
    return Findings(
        (table,), (Target("first start, cold, to the window", cold, _WINDOW_S, "s", reason=reason),)
    )


def _forget_files() -> None:
    os.sync()
    _DROP_CACHES.write_text("3\n")


def _start(program: Path, screen: str) -> _Start:
    home = Path(tempfile.mkdtemp(prefix="safelight-start-"))
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "DISPLAY": screen,
        "LANG": "C.UTF-8",
    }
    # Already running when the clock starts, so that the tool's own start does not count.
    seeing = ["xdotool", "search", "--sync", "--onlyvisible", "--name", "^Safelight$"]
    eye = subprocess.Popen(seeing, env=variables, stdout=subprocess.PIPE, text=True)
    started = time.perf_counter()
    process = subprocess.Popen([program], env=variables, stderr=subprocess.DEVNULL)
    try:
        windows, _ = eye.communicate(timeout=_PATIENCE_S)
        window_s = time.perf_counter() - started
        key = ["xdotool", "windowfocus", "--sync", windows.split()[0], "key", "ctrl+Return"]
        subprocess.run(key, env=variables, check=True)
        while not any((home / "Pictures").rglob("*.png")):
            if process.poll() is not None or time.perf_counter() - started > _PATIENCE_S:
                raise PeerError("the window made no picture")
            time.sleep(_POLL_S)
        return _Start(window_s, time.perf_counter() - started)
    except (subprocess.SubprocessError, IndexError) as error:
        raise PeerError(f"the window did not appear: {error}") from error
    finally:
        eye.kill()
        process.terminate()
        process.wait()
        shutil.rmtree(home, ignore_errors=True)
