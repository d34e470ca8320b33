"""One run of the monkey: a display, a folder, a window, and another window after a crash."""

import compileall
import os
import signal
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from app.paths import starter_checkpoint
from tests.monkey.disorder import Disorder
from tests.monkey.hand import SCREEN, Basket, Hand
from tests.monkey.judge import Verdict, findings_in, growth, windows_in
from tests.monkey.materials import fill
from tests.monkey.records import (
    ACTIONS,
    FIGURES,
    FINDINGS,
    FOLDER,
    PLANTED,
    SEED,
    Finding,
    Record,
)
from tests.ui.real_window.display import display
from tests.ui.real_window.person import ROOT, EndedError, RealWindow

# Longer than anything that a window does, on a machine that others use.
_HANG_S = 90.0
_SETTLED_S = 20.0
# Until then pages and dialogs are made that were never seen, and thumbnails fill their memory.
_WARM_S = 1800.0
# So often in a row no place of the application's was found before it is brought forward.
_MISSES = 5
_REST = (
    "[popup.close() for popup in [application.activePopupWidget()] if popup]",
    "window.showNormal()",
    "window.actions_by_name['create'].trigger()",
    "session.jobs_in_queue.pause(paused=False)",
    # Ten thousand pictures that wait are no growth of the window.
    "session.jobs.cancel_all()",
    "[session.jobs_in_queue.clear(state) for state in JobState if state.is_over]",
    # Nor is a large picture to start from, or to look at.
    "session.changes.start_anew()",
    "[setattr(session.view, name, value) for name, value in [('live', False), ('path', None)]]",
    "[entry.close() for entry in application.topLevelWidgets() if entry is not window]",
)
Stamp = tuple[str, int, int]


class Monkey:
    """Plays with windows, one after another where they crash, for a time."""

    def __init__(
        self,
        folder: Path,
        *,
        seed: int,
        minutes: float,
        rest_every_s: float = 60.0,
        warm_s: float | None = None,
        planted: str = "",
        most_windows: int = 20,
    ) -> None:
        """Prepare a run in an empty folder; `planted` are names of faults of `plants`.

        A window is warm after `warm_s`: half an hour, or a quarter of a short run. The run is over
        sooner when so many windows crashed.
        """
        self._folder, self._seed, self._minutes = folder.resolve(), seed, minutes
        self._rest_every_s, self._planted = rest_every_s, planted
        self._warm_s = min(_WARM_S, minutes * 60 / 4) if warm_s is None else warm_s
        self._most_windows = most_windows
        # As an installation is: reading a page's code for the first time is no stall of the page's.
        for part in ("app", "engine", "ui"):
            compileall.compile_dir(ROOT / part, quiet=2)
        self._folder.mkdir(parents=True)
        self._findings = Record(self._folder / FINDINGS)
        self._disorder = Disorder(self._folder, fill(self._folder, seed))
        self._starts: list[float] = []
        self._actions = 0

    def run(self) -> Verdict:
        """Play until the time is over; return what was found."""
        with self._findings:
            return self._run()

    def _run(self) -> Verdict:
        begun = time.time()
        end, starter = begun + self._minutes * 60, _stamps(starter_checkpoint())
        with display(*SCREEN) as name:
            basket = Basket(name)
            try:
                while time.time() < end and len(self._starts) < self._most_windows:
                    self._play(name, basket, end)
            finally:
                basket.close()
        if _stamps(starter_checkpoint()) != starter:
            self._tell("left_its_bounds", "the starter is another")
        growths = (
            growth(figures, self._warm_s) for figures in windows_in(self._folder, self._starts)
        )
        return Verdict(
            seed=self._seed,
            minutes=(time.time() - begun) / 60,
            actions=self._actions,
            engine_kills=self._disorder.kills,
            growths=tuple(found for found in growths if found is not None),
            findings=findings_in(self._folder),
            folder=str(self._folder),
        )

    def _play(self, display_name: str, basket: Basket, end: float) -> None:
        """Play with one window until the time is over or it crashes."""
        self._starts.append(time.time())
        with (self._folder / "stderr.txt").open("ab") as errors:
            window = RealWindow(
                self._folder,
                display_name,
                module="tests.monkey.watched_application",
                variables=self._variables(),
                errors=errors,
            )
        seed = self._seed + len(self._starts) - 1
        with Record(self._folder / ACTIONS) as record:
            self._play_with(window, Hand(window, basket, self._disorder, record, seed), end)

    def _play_with(self, window: RealWindow, hand: Hand, end: float) -> None:
        try:
            with self._patience(window):
                self._act(window, hand, end)
                self._rest(window)
                status = window.close()
            if status:
                self._tell("crash", f"status {status} when it was closed: {self._last_words()}")
        except EndedError as error:
            self._tell("crash", f"{error}: {self._last_words()}")
        finally:
            self._actions += hand.count
            window.kill()

    def _act(self, window: RealWindow, hand: Hand, end: float) -> None:
        next_rest = time.time() + self._rest_every_s
        while time.time() < end:
            hand.act()
            # As long as a quick person takes; an answer means that the thread is alive.
            window.ask("1")
            self._alive = time.time()
            if hand.misses > _MISSES:
                window.key("Escape")
                self._bring_forward(window)
                hand.misses = 0
            if time.time() > next_rest:
                self._rest(window)
                next_rest = time.time() + self._rest_every_s

    def _rest(self, window: RealWindow) -> None:
        """Close and end everything, wait until nothing is done, and note the figures."""
        window.key("Escape", "Escape", "Escape")
        self._bring_forward(window)
        for expression in _REST:
            window.ask(expression)
        window.put_back()
        until = time.monotonic() + _SETTLED_S
        while time.monotonic() < until and window.ask("session.progress.job is not None"):
            time.sleep(0.2)
        time.sleep(min(2.0, self._rest_every_s / 4))
        window.ask("watch.note(rests=True)")
        self._alive = time.time()

    def _bring_forward(self, window: RealWindow) -> None:
        """Give the focus back to a window that lost it, as a person would."""
        window.ask("window.come_forward()")
        until = time.monotonic() + _SETTLED_S
        while not window.ask("application.activeWindow() is not None"):
            if time.monotonic() > until:
                self._tell("lost", "the window does not come forward")
                return
            time.sleep(0.1)

    @contextmanager
    def _patience(self, window: RealWindow) -> Generator[None]:
        """End a window that shows no sign of life; its stacks are then in its log of faults."""
        over = threading.Event()
        self._alive = time.time()

        def look() -> None:
            while not over.wait(1):
                if time.time() - self._last_sign() > _HANG_S:
                    self._tell("hang", f"no answer for {_HANG_S:.0f} s")
                    with suppress(OSError):
                        os.kill(window.pid, signal.SIGABRT)
                    return

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _last_sign(self) -> float:
        """Return the time of the window's last answer or figures, which its own thread writes.

        The hand may take longer than a hang does, where other programs have the processor.
        """
        try:
            return max(self._alive, (self._folder / FIGURES).stat().st_mtime)
        except FileNotFoundError:
            return self._alive

    def _variables(self) -> dict[str, str]:
        home = str(self._folder / "home")
        names = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
        temporary = self._folder / "temporary"
        temporary.mkdir(exist_ok=True)
        return {
            **dict.fromkeys(names, home),
            "TMPDIR": str(temporary),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            FOLDER: str(self._folder),
            SEED: str(self._seed),
            PLANTED: self._planted,
        }

    def _last_words(self) -> str:
        """Return the ends of the files that a crash leaves."""
        files = (self._folder / "stderr.txt", self._folder / "logs" / "app-faults.log")
        ends = (path.read_text(errors="replace")[-3000:] for path in files if path.exists())
        return "\n".join(ends)

    def _tell(self, kind: str, text: str) -> None:
        self._findings.add(Finding(at=time.time(), kind=kind, text=text))


def _stamps(folder: Path) -> Iterable[Stamp]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
