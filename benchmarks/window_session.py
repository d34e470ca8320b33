"""A scripted session in a real window: `python -m benchmarks.window_session`, prints JSON.

Measures the time until the window appears, the longest pause of its thread, the time until a cancel
is acknowledged and takes effect, and until the death of the engine is reported. Real engine,
starter model; without a display the window is drawn off-screen.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

PICTURES = 3
EARLIER_PICTURES = 300
COLD_STARTS = 5
_STARTED = "SAFELIGHT_BENCHMARK_STARTED"
_WORST = 5
_PATIENCE_S = 300.0


class StallFigures(msgspec.Struct, frozen=True):
    """One of the longest stalls, in milliseconds."""

    part: str
    ms: float
    cpu_ms: float
    stack: tuple[str, ...]


class IdleFigures(msgspec.Struct, frozen=True):
    """The stalls of an idle process meanwhile, which the machine itself causes."""

    stalls_over_16_ms: int
    longest_stall_ms: float


class SessionFigures(msgspec.Struct, frozen=True):
    """The measurements of one session.

    `busiest_ms` is the window thread's longest processor time between two timer beats, which are 5
    ms apart.
    """

    first_paint_s: float
    busiest_ms: float
    stalls_over_16_ms: int
    longest_stalls: tuple[StallFigures, ...]
    cancel_acknowledged_ms: float
    cancel_effective_ms: float
    step_ms: float
    engine_death_told_ms: float


class WindowFigures(msgspec.Struct, frozen=True):
    """One session's figures, and the times of several starts up to the window's first paint."""

    cold_start_s: float
    cold_starts_s: tuple[float, ...]
    platform: str
    session: SessionFigures
    idle: IdleFigures


class Script:
    """Operates the window as a user would, and measures."""

    def __init__(self, started: float) -> None:
        # Imported here, so that the import counts as part of the start.
        from app.__main__ import make_session
        from app.garbage import GarbageCollection
        from app.paths import find_paths
        from ui.application import Application, make_window

        self._started = started
        self.application = Application()
        GarbageCollection(self.application)
        self.session = make_session(find_paths())
        self.window = make_window(self.application, self.session)
        self.stalls: list[StallFigures] = []
        self.stalled = 0
        self.busiest_s = 0.0

    def first_paint_s(self) -> float:
        """Show the window; return seconds from the start of the process until it was drawn."""
        from PySide6.QtCore import QEvent, QObject

        from app.__main__ import favour_the_gui_thread

        class Painted(QObject):
            at: float | None = None

            def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
                if event.type() is QEvent.Type.UpdateRequest and self.at is None:
                    watched.removeEventFilter(self)
                    watched.event(event)
                    self.at = time.monotonic()
                    return True
                return False

        painted = Painted()
        self.window.installEventFilter(painted)
        self.window.show()
        favour_the_gui_thread()
        self.wait_for("paint", lambda: painted.at is not None)
        assert painted.at is not None
        return painted.at - self._started

    def wait_for(self, what: str, condition: Callable[[], bool]) -> None:
        """Process events until the condition holds."""
        from PySide6.QtCore import QCoreApplication, QEventLoop

        deadline = time.monotonic() + _PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(what)
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 20)

    def pause(self, seconds: float) -> None:
        """Process events for some seconds and do nothing else."""
        until = time.monotonic() + seconds
        self.wait_for("pause", lambda: time.monotonic() > until)

    def watch(self, part: str, act: Callable[[], None]) -> None:
        """Run a part of the session while stalls are recorded."""
        from benchmarks.stalls import StallWatch

        watch = StallWatch()
        watch.start()
        act()
        stalls = watch.stop()
        self.busiest_s = max(self.busiest_s, watch.busiest_s)
        for stall in stalls:
            self.stalled += 1
            figures = StallFigures(
                part, round(stall.seconds * 1e3, 1), round(stall.cpu_seconds * 1e3, 1), stall.stack
            )
            self.stalls.append(figures)

    def start(self) -> None:
        """Start the engine, read the output folder and draw the first thumbnails."""
        from app.engine.process import EngineState

        self.session.start()
        # Key events go only to the active window.
        self.window.activateWindow()
        self.wait_for("focus", self.window.isActiveWindow)
        self.wait_for("engine", lambda: self.session.engine.state is EngineState.READY)
        self.wait_for("pictures", lambda: len(self.session.output_pictures) > 0)
        self.pause(0.5)

    def make_pictures(self) -> None:
        """Type a prompt, generate and wait; three times."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        prompt = self.window.form.prompt
        for number in range(1, PICTURES + 1):
            prompt.setFocus()
            prompt.selectAll()
            for character in "a yellow boat by the sea at dusk":
                QTest.keyClicks(prompt, character)
                self.pause(0.01)
            QTest.mouseClick(self.window.dock.generate, Qt.MouseButton.LeftButton)
            self.wait_for_jobs(number)
        self.pause(0.5)

    def wait_for_jobs(self, count: int) -> None:
        """Wait until this number of jobs was submitted and all of them are over."""

        def are_over() -> bool:
            jobs = self.session.queue.jobs
            return len(jobs) == count and all(job.state.is_over for job in jobs)

        self.wait_for("jobs", are_over)

    def look_around(self) -> None:
        """Scroll through earlier pictures, show some, use their settings, resize the window."""
        strip, gallery = self.window.strip, self.session.output_pictures
        bar = strip.horizontalScrollBar()
        for place in range(0, bar.maximum(), max(1, bar.maximum() // 60)):
            bar.setValue(place)
            self.pause(0.02)
        for row in range(0, len(gallery), 30):
            strip.setCurrentIndex(strip.pictures.index(row))
            self.pause(0.1)
        self.session.pictures.use_settings(Path(gallery[0].path))
        for width in range(960, 1440, 40):
            self.window.resize(width, 640 + (width - 960) // 2)
            self.pause(0.02)
        self.pause(0.5)

    def cancel(self) -> tuple[float, float, float]:
        """Cancel a long job by Escape.

        Returns milliseconds until the cancel is shown, until the job is over, and of a step.
        """
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        generation, progress = self.session.generation, self.session.progress
        generation.steps = 1000
        self.session.jobs.generate()
        self.wait_for("steps", lambda: progress.total == 1000 and progress.done > 20)
        step = (progress.seconds_per_step or 0.0) * 1e3
        begun = time.monotonic()
        QTest.keyClick(self.window.form.prompt, Qt.Key.Key_Escape)
        told = self.window.dock.status.title
        self.wait_for("told", lambda: told.text() == "Stopping…")
        told.repaint()
        acknowledged = time.monotonic()
        self.wait_for("cancel", lambda: progress.job is None)
        over = time.monotonic()
        generation.clear_choices()
        return (acknowledged - begun) * 1e3, (over - begun) * 1e3, step

    def kill_engine(self) -> float:
        """Kill the engine; return milliseconds until the window reports it."""
        hello = self.session.process.hello
        assert hello is not None
        begun = time.monotonic()
        os.kill(hello.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        self.wait_for("notice", lambda: bool(self.window.notices.cards))
        return (time.monotonic() - begun) * 1e3

    def close(self) -> None:
        """End the engine and every background thread."""
        self.session.close()
        self.window.close_background()


def run_session(started: float) -> SessionFigures:
    """Run one whole session in this process and return its figures."""
    script = Script(started)
    try:
        painted = script.first_paint_s()
        script.watch("start", script.start)
        script.watch("make pictures", script.make_pictures)
        script.watch("look around", script.look_around)
        acknowledged, effective, step = script.cancel()
        told = script.kill_engine()
    finally:
        script.close()
    worst = sorted(script.stalls, key=lambda stall: -stall.ms)[:_WORST]
    return SessionFigures(
        first_paint_s=round(painted, 3),
        busiest_ms=round(script.busiest_s * 1e3, 1),
        stalls_over_16_ms=script.stalled,
        longest_stalls=tuple(worst),
        cancel_acknowledged_ms=round(acknowledged, 1),
        cancel_effective_ms=round(effective, 1),
        step_ms=round(step, 1),
        engine_death_told_ms=round(told, 1),
    )


def watch_idle() -> IdleFigures:
    """Record stalls while doing nothing, until standard input ends."""
    from PySide6.QtCore import QCoreApplication

    from benchmarks.stalls import StallWatch

    application = QCoreApplication([])
    watch = StallWatch()
    watch.start()

    def quit_at_end() -> None:
        sys.stdin.read()
        application.quit()

    threading.Thread(target=quit_at_end, daemon=True).start()
    application.exec()
    stalls = watch.stop()
    longest = stalls[0].seconds if stalls else 0.0
    return IdleFigures(len(stalls), round(longest * 1e3, 1))


def measure_window() -> WindowFigures:
    """Measure several cold starts, then a session; each in a process and folders of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(Path(folder))
        starts = tuple(float(_child("start", environment)) for _ in range(COLD_STARTS))
        _put_earlier_pictures(Path(environment["SAFELIGHT_OUTPUT"]))
        idle = subprocess.Popen(
            _command("idle"), env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        session = msgspec.json.decode(_child("session", environment), type=SessionFigures)
        # Closing its standard input ends the idle process's recording.
        told, _ = idle.communicate()
    return WindowFigures(
        cold_start_s=round(statistics.median(starts), 3),
        cold_starts_s=starts,
        platform=environment.get("QT_QPA_PLATFORM", "the system's"),
        session=session,
        idle=msgspec.json.decode(told, type=IdleFigures),
    )


def _environment(folder: Path) -> dict[str, str]:
    environment = dict(os.environ)
    for name in ("OUTPUT", "CACHE", "MODELS", "STATE", "LOGS"):
        environment[f"SAFELIGHT_{name}"] = str(folder / name.lower())
    if sys.platform.startswith("linux") and not (
        environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    ):
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    return environment


def _put_earlier_pictures(folder: Path) -> None:
    """Write pictures of noise, which are the slowest to decode."""
    import numpy as np
    from PIL import Image

    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    for number in range(EARLIER_PICTURES):
        pixels = random.integers(0, 256, (512, 512, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"earlier-{number:05}.png", compress_level=1)


def _command(part: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.window_session", part]


def _child(part: str, environment: dict[str, str]) -> str:
    """Run a part of this module in a child process and return its output.

    The child gets the time of its start by the system-wide monotonic clock.
    """
    started = {_STARTED: repr(time.monotonic())}
    done = subprocess.run(
        _command(part), env=environment | started, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.splitlines()[-1]


def main(arguments: list[str]) -> None:
    """Measure, or act as one of the measured child processes."""
    started = float(os.environ.get(_STARTED, "0"))
    if arguments == ["start"]:
        script = Script(started)
        print(round(script.first_paint_s(), 3))
        script.close()
    elif arguments == ["session"]:
        print(msgspec.json.encode(run_session(started)).decode())
    elif arguments == ["idle"]:
        print(msgspec.json.encode(watch_idle()).decode())
    else:
        figures = msgspec.json.encode(measure_window())
        print(msgspec.json.format(figures, indent=2).decode())


if __name__ == "__main__":
    main(sys.argv[1:])
