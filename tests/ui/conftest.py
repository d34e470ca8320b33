"""A window for each test that wants one, closed with everything behind it."""

import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec
import pytest
from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from app.engine.connection import EngineCommand
from app.form.fields import STARTER_PROMPT
from app.form.generation import COMMON_SUGGESTIONS, STARTER_SUGGESTIONS
from app.queue.jobs import JobState
from app.settings.values import USUAL, Look
from engine.api.request import GenerateRequest
from tests.app.fake_engine import Plan
from tests.app.known_hardware import write_verdicts
from tests.app.sessions import Staged
from tests.app.supervised import PATIENCE_MS, QUICK, fake_command
from tests.events import Bot
from ui.keys import keys
from ui.main_window import MainWindow
from ui.places import Place
from ui.theme.colours import DARK, palette
from ui.theme.theme import Theme


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    surround(tmp_path, monkeypatch)


def surround(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have windows work in a folder, on a known machine and without pauses for people."""
    for name in ("OUTPUT", "CACHE", "MODELS", "STATE", "CONFIG", "LOGS"):
        monkeypatch.setenv(f"SAFELIGHT_{name}", str(folder / name.lower()))
    write_verdicts(folder / "cache")
    # Until a window is fitted into its screen, and a gallery tells of pictures.
    monkeypatch.setattr("ui.main_window._FRAMED_MS", 10)
    monkeypatch.setattr("app.gallery.index._SOON_MS", 10)


class Desk(Staged):
    """A session with its window, which is shown."""

    def __init__(
        self, folder: Path, bot: QtBot, theme: Theme, command: EngineCommand | None
    ) -> None:
        super().__init__(folder, bot, command, QUICK if command else None)
        self.window = MainWindow(self.session, theme)
        self._first_form = self.session.generation.form
        self._first_size: QSize | None = None
        bot.addWidget(self.window)
        self.window.show()
        self._move_pointer_away()
        # Keys go to the active window only.
        self.window.activateWindow()
        bot.waitUntil(self.window.isActiveWindow, timeout=PATIENCE_MS)

    def resize(self, width: int, height: int) -> None:
        """Resize the window, which is fitted into its small screen soon after it is shown."""
        self.wait(lambda: not self.window._framed.isActive())  # pyright: ignore[reportPrivateUsage]
        self.window.resize(width, height)

    def unfold(self) -> None:
        """Open the sections of the form, whose content is made then."""
        advanced = self.window.form.advanced
        for section in (advanced.section, *advanced.rows.sections.values()):
            section.open()

    def put_back(self) -> None:
        """Bring the window back to Create with the form of the first start, active, no notices."""
        window, session = self.window, self.session
        for dialog in window.findChildren(QDialog):
            dialog.reject()
        session.view.painting = False
        form = session.generation
        form.load_request(GenerateRequest(prompt=""))
        form.prompt, form.checkpoint, form.seed = STARTER_PROMPT, session.checkpoints.starter, None
        form.suggestions = COMMON_SUGGESTIONS
        for notice in session.notices.notices:
            session.notices.dismiss(notice.number)
        window.places.open(Place.CREATE)
        window.activateWindow()
        self.wait(window.isActiveWindow)
        window.form.verticalScrollBar().setValue(0)
        window.form.prompt.setFocus()
        self._move_pointer_away()
        QApplication.processEvents()

    def _move_pointer_away(self) -> None:
        """Leave no pointer where an earlier test clicked: what appears there would be entered."""
        QCursor.setPos(self.window.mapToGlobal(QPoint(-10, -10)))

    def put_all_back(self) -> None:
        """Bring back also what makes the first form, the window's size, settings and pictures.

        What is left: folders that were added, models, presets, and what the engine told.
        """
        window, settings = self.window, self.session.settings
        if self._first_size is None:
            self.wait(lambda: not window._framed.isActive())  # pyright: ignore[reportPrivateUsage]
            self._first_size = window.size()
        window.resize(self._first_size)
        if window.queue.isVisible():
            window.queue.closed.emit()
        self._make_nothing()
        self._show_no_picture()
        if settings.now != USUAL:
            settings.change(**msgspec.structs.asdict(USUAL))
            self.wait(lambda: settings.is_idle)
        self.put_back()
        self.session.generation.put(self._first_form)
        self.session.generation.suggestions = STARTER_SUGGESTIONS

    def _make_nothing(self) -> None:
        """Empty the queue."""
        jobs = self.queue.jobs
        if not jobs:
            return
        self.queue.cancel_all()
        self.wait(lambda: all(job.state.is_over for job in self.queue.jobs))
        self.queue.clear(*JobState)
        self.wait(lambda: not self.queue.jobs)

    def _show_no_picture(self) -> None:
        """Delete the pictures that were made, and show none."""
        view, pictures = self.session.view, self.session.output_pictures
        view.painting = view.live = view.details = view.alone = False
        view.path = view.map_over = None
        if self.paths.output.exists():
            shutil.rmtree(self.paths.output)
        if len(pictures):
            pictures.refresh()
            self.wait(lambda: not len(pictures))

    def end(self) -> None:
        """Leave no process, thread or file open."""
        super().end()
        self.window.close_background()


class MakeDesk(Protocol):
    """Makes a desk on a fake engine that follows a plan, or on the real one."""

    def __call__(self, plan: Plan = ..., *, real: bool = ...) -> Desk: ...


@pytest.fixture(autouse=True)
def _usual_keys() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Leave no keys that a test chose: the application has one set of them."""
    yield
    if keys.cache_info().currsize:
        keys().use({})


@pytest.fixture(scope="session")
def dark_theme(qapp: QApplication) -> Theme:
    return Theme(qapp, {"SAFELIGHT_THEME": "dark"})


@pytest.fixture
def theme(qapp: QApplication, dark_theme: Theme) -> Theme:
    """The dark look: one for all tests, as drawing its icons takes a tenth of a window's time."""
    dark_theme.use_look(Look.SYSTEM)
    if dark_theme.colours is not DARK or qapp.palette() != palette(DARK):
        dark_theme.use_colours(DARK)
    dark_theme.reduce_motion(reduced=False)
    return dark_theme


@pytest.fixture
def make_desk(tmp_path: Path, qtbot: QtBot, theme: Theme) -> Iterator[MakeDesk]:
    desks: list[Desk] = []

    def make(plan: Plan = Plan(), *, real: bool = False) -> Desk:  # noqa: B008 (immutable)
        desks.append(Desk(tmp_path, qtbot, theme, None if real else fake_command(plan)))
        return desks[-1]

    yield make
    for desk in desks:
        desk.end()


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk()


@contextmanager
def desk_of_module(
    request: pytest.FixtureRequest,
    theme: Theme,
    plan: Plan = Plan(),  # noqa: B008 (immutable)
) -> Generator[Desk]:
    """A desk for all tests of a module, which `put_back` it: making one takes 0.3 s."""
    folder = request.getfixturevalue("tmp_path_factory").mktemp("desk")
    with pytest.MonkeyPatch.context() as monkeypatch:
        surround(folder, monkeypatch)
        desk = Desk(folder, Bot(request), theme, fake_command(plan))
        yield desk
        desk.window.close()
        desk.window.deleteLater()
        desk.end()


@pytest.fixture(scope="module")
def shared_desk(dark_theme: Theme, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """One desk for tests of a module that change nothing."""
    with desk_of_module(request, dark_theme) as desk:
        yield desk


@pytest.fixture
def kept_desk(shared_desk: Desk, theme: Theme) -> Desk:
    """The desk of a module, put back: for tests that leave nothing which that does not undo."""
    shared_desk.put_all_back()
    return shared_desk
