"""One window for all tests of a module, with all rows of its settings, which take a second."""

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtWidgets import QApplication

from app.settings.values import USUAL
from tests.app.fake_engine import Plan
from tests.app.supervised import fake_command
from tests.events import Bot
from tests.ui.conftest import Desk, MakeDesk, surround
from ui.places import Place
from ui.settings.page import SettingsPage
from ui.theme.theme import Theme


@pytest.fixture(scope="module")
def _one_desk(  # pyright: ignore[reportUnusedFunction]
    qapp: QApplication,
    dark_theme: Theme,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("settings")
    with pytest.MonkeyPatch.context() as monkeypatch:
        surround(folder, monkeypatch)
        desk = Desk(folder, Bot(request), dark_theme, fake_command(Plan()))
        desk.window.places.open(Place.SETTINGS)
        (page,) = desk.window.findChildren(SettingsPage)
        page.complete()
        yield desk
        desk.window.close()
        desk.window.deleteLater()
        desk.end()


@pytest.fixture
def desk(_one_desk: Desk, theme: Theme) -> Iterator[Desk]:
    """The desk of all tests, as after the first start, at its settings."""
    window, session = _one_desk.window, _one_desk.session
    window.places.open(Place.SETTINGS)
    window.activateWindow()
    _one_desk.wait(window.isActiveWindow)
    yield _one_desk
    session.settings.change(**msgspec.structs.asdict(USUAL))
    _one_desk.wait(lambda: session.settings.is_idle)
    for notice in session.notices.notices:
        session.notices.dismiss(notice.number)


@pytest.fixture
def page(desk: Desk) -> SettingsPage:
    """The page of the settings, scrolled to its beginning."""
    (found,) = desk.window.findChildren(SettingsPage)
    found.search.clear()
    found.navigation.setCurrentRow(0)
    found.area.verticalScrollBar().setValue(0)
    return found


@pytest.fixture
def new_desk(make_desk: MakeDesk) -> Desk:
    """A desk whose settings were not opened yet."""
    return make_desk()
