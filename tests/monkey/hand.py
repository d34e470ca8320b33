"""The monkey's hand: what it does, chosen by a seed."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtGui import QKeySequence

from tests.monkey.basket import SIZE
from tests.monkey.disorder import Disorder
from tests.monkey.materials import PASTED, WORDS
from tests.monkey.records import Action, Record
from tests.ui.real_window.person import ROOT, Point, RealWindow
from ui.action_names import ActionName
from ui.action_table import usual_keys
from ui.key_texts import portable

# The window is never so large, so that the basket beside it stays visible.
SCREEN = (1500, 860)
_WIDTHS, _HEIGHTS = (880, 1440), (560, 820)
BASKET = (SCREEN[0] - SIZE - 5, 5)
_NAVIGATION = (
    "Tab", "Tab", "shift+Tab", "Down", "Up", "Left", "Right", "Return", "space", "Escape",
    "Home", "End", "Next", "Prior", "BackSpace", "Delete", "ctrl+a", "ctrl+c", "ctrl+v", "ctrl+x",
    "ctrl+z", "shift+Down", "shift+Right", "ctrl+Down", "ctrl+Up", "alt+Down", "Menu", "alt+h",
)  # fmt: skip
# Pages that shortcuts alone would hardly reach, those with most on them the most often, and the
# keys of those that are windows of their own.
_VISITED = ("models", "models", "settings", "settings", "gallery", "downloads", "devices")
_WINDOWS = {"downloads": "ctrl+j", "devices": "ctrl+shift+r"}
_STAY = (10, 30)
# As quick as people type: more letters at once would be one long turn of the window's thread.
_BETWEEN_LETTERS_MS = 40
_X_NAMES = {
    "Esc": "Escape", "Del": "Delete", "+": "plus", "-": "minus", "[": "bracketleft",
    "]": "bracketright", ",": "comma", "/": "slash", "=": "equal", "Backspace": "BackSpace",
    "PgUp": "Prior", "PgDown": "Next", "Space": "space",
}  # fmt: skip


def x_name(key: QKeySequence) -> str:
    """Return a key as X names it."""
    parts = portable(key).replace("++", "+plus").split("+") if len(portable(key)) > 1 else None
    *held, last = parts or [portable(key)]
    last = _X_NAMES.get(last, last.lower() if len(last) == 1 else last)
    return "+".join([*(key.lower() for key in held), last])


SHORTCUTS = tuple(
    x_name(key) for name in ActionName if name is not ActionName.QUIT for key in usual_keys(name)
)


class Basket:
    """Another program's window at the edge of the screen, with a file to drag out of it."""

    def __init__(self, display: str, at: Point = BASKET) -> None:
        self._at = at
        command = [sys.executable, "-m", "tests.monkey.basket", *map(str, at)]
        self._process = subprocess.Popen(
            ["env", f"DISPLAY={display}", "QT_QPA_PLATFORM=xcb", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
        )

    def put(self, path: Path) -> Point:
        """Put a file in; return the place to drag it from."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(str(path)) + "\n")
        self._process.stdin.flush()
        while self._process.stdout.readline().strip() not in ("taken", ""):
            pass
        return self._at[0] + SIZE // 2, self._at[1] + SIZE // 2

    def outcome(self) -> str:
        """Wait until a drag is over; return Qt's name of what the other side did."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        """End the other program."""
        self._process.kill()
        self._process.communicate()


class Hand:
    """Does one thing after another in a window, and writes each down before it is done."""

    def __init__(
        self, window: RealWindow, basket: Basket, disorder: Disorder, record: Record, seed: int
    ) -> None:
        self._window, self._basket, self._disorder = window, basket, disorder
        self._record = record
        self._choose = random.Random(seed)
        self.count = 0
        # The number of times in a row without a place to point at.
        self.misses = 0
        actions: dict[Callable[[], None], int] = {
            self._click: 300,
            self._click_twice: 40,
            self._click_right: 25,
            self._wheel: 80,
            self._drag: 60,
            self._shortcut: 160,
            self._navigate: 120,
            self._write: 60,
            self._paste: 15,
            self._generate: 30,
            self._resize: 12,
            self._drop: 12,
            self._disturb: 15,
            self._kill_engine: 2,
            self._pause: 10,
            self._visit: 20,
        }
        self._actions, self._weights = list(actions), list(actions.values())
        # What the mouse does on a page that is visited, and how much of that is left to do.
        self._by_mouse = {self._click: 10, self._wheel: 5, self._drag: 4, self._click_right: 1}
        self._left = 0

    def act(self) -> None:
        """Do one thing."""
        self.count += 1
        if self._left:
            self._left -= 1
            self._one_of(list(self._by_mouse), list(self._by_mouse.values()))
        else:
            self._one_of(self._actions, self._weights)

    def _one_of(self, deeds: Sequence[Callable[[], None]], weights: Sequence[int]) -> None:
        self._choose.choices(deeds, weights)[0]()

    def _visit(self) -> None:
        """Go to a page by the mouse, and stay there with it for a while."""
        page = self._choose.choice(_VISITED)
        if page in _WINDOWS:
            self._key(_WINDOWS[page])
        else:
            found = self._window.ask(f"door(window, {page!r})")
            if found is None:
                return
            self._note("visit", page)
            self._window.click((found[0], found[1]))
        self._left = self._choose.randint(*_STAY)

    def _note(self, name: str, text: object) -> None:
        self._record.add(Action(at=time.time(), name=name, text=str(text)[:200]))

    def _place(self) -> Point | None:
        choose = self._choose
        kind = "control" if choose.random() < 0.75 else "part"
        which, across, down = choose.random(), choose.random(), choose.random()
        if kind == "control":
            # The middle is what a person aims at.
            across, down = (across + 0.5) / 2, (down + 0.5) / 2
        found = self._window.ask(f"target({kind!r}, {which}, {across}, {down})")
        self.misses = self.misses + 1 if found is None else 0
        return None if found is None else (found[0], found[1])

    def _at_a_place(self, name: str, deed: Callable[[Point], None]) -> None:
        place = self._place()
        if place is not None:
            self._note(name, place)
            deed(place)

    def _click(self) -> None:
        self._at_a_place("click", self._window.click)

    def _click_twice(self) -> None:
        def deed(place: Point) -> None:
            self._window.click(place)
            self._window.click(place)

        self._at_a_place("double click", deed)

    def _click_right(self) -> None:
        self._at_a_place("right click", lambda place: self._window.click(place, 3))

    def _wheel(self) -> None:
        notches = self._choose.choice((-10, -3, -1, 1, 3, 10))
        self._at_a_place("wheel", lambda place: self._window.wheel(place, notches))

    def _drag(self) -> None:
        end = self._place()

        def deed(start: Point) -> None:
            self._window.drag(start, end or start)
            if self._choose.random() < 0.1:
                self._window.key("Escape")
            self._window.let_go()

        self._at_a_place("drag", deed)

    def _shortcut(self) -> None:
        self._key(self._choose.choice(SHORTCUTS))

    def _navigate(self) -> None:
        self._key(self._choose.choice(_NAVIGATION))

    def _key(self, key: str) -> None:
        self._note("key", key)
        self._window.key(key)

    def _write(self) -> None:
        text = self._choose.choice(WORDS)
        self._note("write", text)
        self._window.write(text, _BETWEEN_LETTERS_MS)

    def _paste(self) -> None:
        number = self._choose.randrange(len(PASTED))
        self._note("paste", f"text {number}")
        self._window.ask(f"application.clipboard().setText({PASTED[number]!r})")
        self._window.key("ctrl+v")

    def _generate(self) -> None:
        self._key("ctrl+Return")

    def _resize(self) -> None:
        width, height = self._choose.randint(*_WIDTHS), self._choose.randint(*_HEIGHTS)
        self._note("resize", (width, height))
        self._window.ask(f"[window.showNormal(), window.setGeometry(2, 22, {width}, {height})]")

    def _drop(self) -> None:
        thing = self._choose.choice(self._disorder.things)
        end = self._place()
        if end is not None:
            self._note("drop", f"{thing.name!r} at {end}")
            self._window.drag(self._basket.put(thing), end)
            self._window.let_go()

    def _disturb(self) -> None:
        self._note("outside", self._disorder.disturb(self._choose))

    def _kill_engine(self) -> None:
        self._note("kill", "engine")
        self._disorder.kill_engine(self._window.pid)

    def _pause(self) -> None:
        time.sleep(self._choose.random() * 2)
