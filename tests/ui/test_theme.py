"""The look follows the system, or SAFELIGHT_THEME; icons follow the look."""

import re
from collections.abc import Mapping
from importlib import resources

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QApplication, QCheckBox

from app.settings.values import Look
from tests.ended import delete_after_test
from tests.ui.conftest import Desk
from ui.places import Place
from ui.theme.colours import CONTRAST, DARK, LIGHT, Colours
from ui.theme.icons import draw, draw_icon, icon_source
from ui.theme.metrics import ICON
from ui.theme.theme import Theme
from ui.widgets.tick_box import TickBox

ICONS = sorted(
    file.name.removesuffix(".svg")
    for file in (resources.files("ui.theme") / "icons").iterdir()
    if file.name.endswith(".svg")
)


def theme_as_in(application: QApplication, environment: Mapping[str, str]) -> Theme:
    """Return the theme of a test: it follows the system no longer than the test runs."""
    theme = Theme(application, environment)
    delete_after_test(theme)
    return theme


@pytest.mark.parametrize(("wish", "colours"), [("light", LIGHT), ("DARK", DARK)])
def test_the_environment_decides_the_look(qapp: QApplication, wish: str, colours: Colours) -> None:
    theme = theme_as_in(qapp, {"SAFELIGHT_THEME": wish})
    assert theme.colours is colours
    assert qapp.palette().window().color().name() == colours.window


@pytest.mark.parametrize(
    ("look", "colours"), [(Look.LIGHT, LIGHT), (Look.DARK, DARK), (Look.CONTRAST, CONTRAST)]
)
def test_a_look_that_was_set_acts_at_once(qapp: QApplication, look: Look, colours: Colours) -> None:
    theme = theme_as_in(qapp, {})
    theme.use_look(look)
    assert theme.colours is colours
    assert qapp.palette().window().color().name() == colours.window
    theme.use_look(Look.SYSTEM)
    assert theme.colours in (DARK, LIGHT)


def _says_no(_effect: object) -> bool:
    return False


def test_the_environment_comes_before_the_settings(qapp: QApplication) -> None:
    theme = theme_as_in(qapp, {"SAFELIGHT_THEME": "light"})
    theme.use_look(Look.CONTRAST)
    assert theme.colours is LIGHT


def test_reduced_motion_stops_the_cursor_and_the_lists(qapp: QApplication) -> None:
    theme = theme_as_in(qapp, {})
    theme.reduce_motion(True)
    assert qapp.styleHints().cursorFlashTime() == 0
    assert not qapp.isEffectEnabled(Qt.UIEffect.UI_AnimateCombo)
    theme.reduce_motion(False)
    assert qapp.styleHints().cursorFlashTime() > 0


def test_a_system_without_motion_stays_without(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = qapp.styleHints().cursorFlashTime()
    qapp.styleHints().setCursorFlashTime(0)
    monkeypatch.setattr(qapp, "isEffectEnabled", _says_no)
    theme = theme_as_in(qapp, {})
    monkeypatch.undo()
    theme.reduce_motion(False)
    try:
        assert qapp.styleHints().cursorFlashTime() == 0
    finally:
        qapp.styleHints().setCursorFlashTime(before)


def test_nonsense_follows_the_system(qapp: QApplication) -> None:
    dark = qapp.styleHints().colorScheme() is Qt.ColorScheme.Dark
    assert theme_as_in(qapp, {"SAFELIGHT_THEME": "mauve"}).colours is (DARK if dark else LIGHT)


def test_the_stylesheet_has_no_gap_left(theme: Theme) -> None:
    assert theme.sheet
    assert "@" not in theme.sheet


def test_the_stylesheet_has_no_colour_of_one_look(theme: Theme) -> None:
    assert not re.search("#[0-9a-f]{3}", theme.sheet)


def test_windows_get_the_look_once_they_are_complete(
    qapp: QApplication, desk: Desk, theme: Theme
) -> None:
    # As the application's, the sheet would be worked out at each step of a window's making.
    assert qapp.styleSheet() == ""
    assert desk.window.styleSheet() == theme.sheet


def test_every_box_to_tick_is_drawn_in_the_theme(desk: Desk) -> None:
    # Qt's own has no outline that is seen in the dark.
    for place in Place:
        desk.window.places.open(place)
    desk.unfold()
    boxes = desk.window.findChildren(QCheckBox)
    assert boxes
    assert [box.text() for box in boxes if not isinstance(box, TickBox)] == []


def test_dialogs_and_menus_have_the_look_of_their_window(desk: Desk) -> None:
    dialog = desk.window.windows.show_devices()
    menu = desk.window.info.menu
    for widget in (dialog, menu):
        assert widget.style().metaObject().className() == "QStyleSheetStyle", widget


def test_placeholders_can_be_read(desk: Desk) -> None:
    for edit in (desk.window.form.negative, desk.window.dock.seed.number):
        assert edit.placeholderText()
        assert edit.palette().placeholderText().color().name() == DARK.muted


def test_the_stylesheet_loads_no_file() -> None:
    text = (resources.files("ui.theme") / "style.qss").read_text(encoding="utf-8")
    assert "url(" not in text


@pytest.mark.parametrize("name", ICONS)
def test_every_icon_draws_in_the_colour_of_the_theme(qapp: QApplication, name: str) -> None:
    source = icon_source(name)
    assert not re.search(r"#[0-9a-f]{3,6}|href|url", source)
    image = draw(source, "#ff0000", 18, 2).toImage()
    assert image.width() == 36
    painted = [
        image.pixelColor(x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y).alpha() > 200
    ]
    assert painted
    assert all(pixel.red() > 250 and pixel.green() < 5 for pixel in painted)


def test_an_icon_is_drawn_once_it_is_seen_and_for_the_ratio_of_the_screen(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[float] = []

    def draw_noted(source: str, colour: str, side: int, ratio: float) -> QPixmap:
        drawn.append(ratio)
        return draw(source, colour, side, ratio)

    monkeypatch.setattr("ui.theme.icons.draw", draw_noted)
    icon = draw_icon("dice", "#ff0000", "#00ff00")
    assert drawn == []
    size = QSize(ICON, ICON)
    for _ in range(2):
        assert icon.pixmap(size, 2.0).width() == 2 * ICON
        assert icon.pixmap(size, 1.0).width() == ICON
    assert drawn == [2.0, 1.0]
    grey = icon.pixmap(size, 1.0, QIcon.Mode.Disabled).toImage()
    colours = {grey.pixelColor(x, y).name() for x in range(ICON) for y in range(ICON)}
    assert "#00ff00" in colours
    assert "#ff0000" not in colours


def test_a_change_of_look_is_told_and_gives_new_icons(qapp: QApplication) -> None:
    theme, told = theme_as_in(qapp, {"SAFELIGHT_THEME": "dark"}), list[bool]()
    theme.changed.connect(lambda: told.append(True))
    before = theme.icon("dice").cacheKey()
    assert theme.icon("dice").cacheKey() == before
    theme.use_colours(LIGHT)
    assert theme.icon("dice").cacheKey() != before
    assert told == [True]
