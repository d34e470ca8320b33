"""A person before the window: sees what is on the screen, and has a mouse, a wheel and keys."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tests.app.folders import folders_in

ROOT = Path(__file__).parents[3]
# Generous: nothing here depends on how long things take.
# A layout that waits to be made is made within this time.
_REST_S = 0.04
_PATIENCE_S = 60.0
_WHEEL_UP, _WHEEL_DOWN = 4, 5
_PROBED = "tests.ui.real_window.probed_application"
Point = tuple[int, int]


class EndedError(AssertionError):
    """The application ended while it was asked something."""


class RealWindow:
    """The application in a process of its own, in folders of its own.

    Widgets are given as expressions; see the package.
    """

    def __init__(
        self,
        folder: Path,
        display: str,
        files: Sequence[str] = (),
        *,
        module: str = _PROBED,
        variables: Mapping[str, str] | None = None,
        errors: IO[bytes] | None = None,
    ) -> None:
        """Start the application; `module` makes its window, `errors` takes what it complains of.

        With `variables` of its environment it works in `folder`, not in this repository.
        """
        self.paths, self.display = folders_in(folder), display
        # Where a drag is.
        self._at: Point = (0, 0)
        self._variables = {**os.environ, "DISPLAY": display, **(variables or {})}
        # Another's look, screen or display server.
        for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "QT_SCALE_FACTOR"):
            self._variables.pop(name, None)
        folders = {
            f"SAFELIGHT_{name.upper()}": name
            for name in self.paths.__struct_fields__
            if name not in ("loras", "embeddings")
        }
        own = {name: str(getattr(self.paths, path)) for name, path in folders.items()}
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *files],
            env={**self._variables, **own, "SAFELIGHT_THEME": "dark"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT if variables is None else folder,
        )
        try:
            self.wait_for("window.isActiveWindow()")
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """The number of the application's process."""
        return self._process.pid

    # --- what the application says of itself ---

    def ask(self, expression: str) -> Any:
        """The value of an expression in the application, as JSON has it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(expression) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise EndedError(f"the application ended, status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise AssertionError(f"{expression}\n{answer['error']}")
        return answer["value"]

    def wait_for(self, expression: str) -> Any:
        """Until an expression is true; its value."""
        deadline = time.monotonic() + _PATIENCE_S
        while not (value := self.ask(expression)):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.02)
        return value

    def place(self, widget: str) -> Point:
        """The middle of a widget, in pixels of the screen, once it has come to rest."""
        middle = f"{widget}.mapToGlobal({widget}.rect().center()).toTuple()"
        deadline = time.monotonic() + _PATIENCE_S
        before, found = None, self.ask(middle)
        while found != before:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{widget} moves")
            time.sleep(_REST_S)
            before, found = found, self.ask(middle)
        x, y = found
        return x, y

    def see(self, path: Path) -> Path:
        """Keep a picture of the whole screen."""
        path.parent.mkdir(parents=True, exist_ok=True)
        assert self.ask(f"application.primaryScreen().grabWindow(0).save({str(path)!r})")
        return path

    # --- mouse, wheel and keys ---

    def point_at(self, at: str | Point) -> None:
        """Move the mouse onto a widget, or to a place on the screen."""
        x, y = self.place(at) if isinstance(at, str) else at
        self._xdotool("mousemove", str(x), str(y))

    def click(self, at: str | Point, button: int = 1) -> None:
        """Press and let go."""
        self.point_at(at)
        self._xdotool("click", str(button))

    def wheel(self, at: str | Point, notches: int) -> None:
        """Turn the wheel there; down where positive."""
        self.point_at(at)
        button = _WHEEL_DOWN if notches > 0 else _WHEEL_UP
        self._xdotool("click", "--repeat", str(abs(notches)), "--delay", "15", str(button))

    def press(self, at: str | Point) -> None:
        """Press the mouse there, and hold it."""
        self.point_at(at)
        self._xdotool("mousedown", "1")

    def let_go(self) -> None:
        """Let go of the mouse where it is."""
        self._xdotool("mouseup", "1")

    def drag(self, start: str | Point, *stops: Point) -> None:
        """Press, and move by way of these places in steps, as a hand does; `let_go` drops."""
        self.press(start)
        self._at = self.place(start) if isinstance(start, str) else start
        self.drag_on(*stops)

    def drag_on(self, *stops: Point) -> None:
        """Go on with a drag."""
        for end_x, end_y in stops:
            x, y = self._at
            steps = max(abs(end_x - x), abs(end_y - y)) // 14 + 1
            for step in range(1, steps + 1):
                self.point_at((x + (end_x - x) * step // steps, y + (end_y - y) * step // steps))
            self._at = end_x, end_y

    def key(self, *keys: str) -> None:
        """Press keys one after another, by X's names: Escape, ctrl+e, alt+F4."""
        self._xdotool("key", *keys)

    def write(self, text: str, between_ms: int = 5) -> None:
        """Type a text, with so many milliseconds between two letters."""
        self._xdotool("type", "--delay", str(between_ms), text)

    # --- what the desktop sees ---

    def windows_of(self, instance: str) -> list[str]:
        """The ids of the visible windows of this display with this instance in WM_CLASS."""
        asked = ["xdotool", "search", "--onlyvisible", "--classname", f"^{instance}$"]
        done = subprocess.run(
            asked, env=self._variables, check=False, capture_output=True, text=True
        )
        return done.stdout.split()

    # --- beginning and end ---

    def put_back(self) -> None:
        """Bring the window back to its state after the first start."""
        self.ask("[dialog.reject() for dialog in window.findChildren(QtWidgets.QDialog)]")
        self.ask("session.jobs.cancel_all()")
        self.ask("state.load_request(type(state.build_request())(prompt=''))")
        self.ask("setattr(state, 'checkpoint', session.checkpoints.starter)")
        self.ask("setattr(state, 'seed', None)")
        self.ask("[session.notices.dismiss(one.number) for one in session.notices.notices]")
        self.ask("form.verticalScrollBar().setValue(0)")
        self.ask("form.prompt.setFocus()")

    def close(self) -> int:
        """Close the window as its frame's button does; the exit status."""
        self.ask("QtCore.QTimer.singleShot(0, window.close)")
        return self._end()

    def kill(self) -> int:
        """End the process at once, as `kill -9` does; the exit status."""
        self._process.kill()
        return self._end()

    def _end(self) -> int:
        status = self._process.wait(timeout=_PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        return status

    def _xdotool(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self._variables, check=True)
