"""One window for all tests of a module, with all rows of its settings, which take a second."""

from collections.abc import Iterator

import msgspec
import pytest

from app.settings.values import USUAL
from tests.ui.conftest import Desk, MakeDesk
from ui.places import Place
from ui.settings.page import SettingsPage
from ui.theme.theme import Theme


@pytest.fixture(scope="module")
def _complete_desk(shared_desk: Desk) -> Desk:  # pyright: ignore[reportUnusedFunction]
    shared_desk.window.places.open(Place.SETTINGS)
    (page,) = shared_desk.window.findChildren(SettingsPage)
    page.complete()
    return shared_desk


@pytest.fixture
def desk(_complete_desk: Desk, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """The desk of all tests, as after the first start, at its settings."""
    # Until changes are written, which each test waits for at its end.
    monkeypatch.setattr("app.settings_state._SOON_MS", 10)
    _complete_desk.put_back()
    _complete_desk.window.places.open(Place.SETTINGS)
    yield _complete_desk
    settings = _complete_desk.session.settings
    settings.change(**msgspec.structs.asdict(USUAL))
    _complete_desk.wait(lambda: settings.is_idle)


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
