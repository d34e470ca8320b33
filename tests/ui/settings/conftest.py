"""The page of the settings, opened in the window, with all of its rows."""

import pytest

from tests.ui.conftest import Desk
from ui.places import Place
from ui.settings.page import SettingsPage


@pytest.fixture
def page(desk: Desk) -> SettingsPage:
    desk.window.places.open(Place.SETTINGS)
    (found,) = desk.window.findChildren(SettingsPage)
    found.complete()
    return found
