"""The look of the application: like the system, as a person set it, or as SAFELIGHT_THEME says."""

import os
import re
from collections.abc import Mapping
from importlib import resources
from weakref import WeakSet

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QApplication, QLayout, QWidget

from app.settings.values import Look
from ui.slices import Slices
from ui.theme.colours import CONTRAST, DARK, LIGHT, ROLES, Colours, palette
from ui.theme.icons import draw_icon
from ui.theme.restyling import restyle

_SCHEMES = {
    Look.LIGHT: Qt.ColorScheme.Light,
    Look.DARK: Qt.ColorScheme.Dark,
    Look.CONTRAST: Qt.ColorScheme.Dark,
}
_COLOURS = {Look.LIGHT: LIGHT, Look.DARK: DARK, Look.CONTRAST: CONTRAST}
_EFFECTS = (
    Qt.UIEffect.UI_AnimateMenu,
    Qt.UIEffect.UI_FadeMenu,
    Qt.UIEffect.UI_AnimateCombo,
    Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip,
)
_STYLE = "fusion"
# Text sizes, relative to the system's font size.
SCALES = {"caption": 0.92, "title": 1.45, "heading": 1.12}


class Theme(QObject):
    """The current colours, and icons in them; `changed` is emitted when the colours change.

    The stylesheet has the names of the palette's colours, so that it never changes: one that does
    would be worked out for all widgets of a window at once, a quarter of a second.

    It is given to finished windows. As the application's, Qt would work it out anew for
    all that a widget contains, at each of the layouts that it passes into: half a second for a
    window that takes a tenth without.
    """

    changed = Signal()

    def __init__(
        self, application: QApplication, environment: Mapping[str, str] = os.environ
    ) -> None:
        super().__init__(application)
        self._application = application
        self._icons: dict[tuple[str, str], QIcon] = {}
        self._dressed: WeakSet[QWidget] = WeakSet()
        self._restyling: Slices | None = None
        self.sheet = _stylesheet(application.font().pointSizeF())
        if application.style().objectName() != _STYLE:
            application.setStyle(_STYLE)
        self._hints = application.styleHints()
        # As the system is set: some let neither blink nor slide anything.
        self._blink_ms = self._hints.cursorFlashTime()
        self._effects = [effect for effect in _EFFECTS if application.isEffectEnabled(effect)]
        forced = environment.get("SAFELIGHT_THEME", "").lower()
        # The variable, for pictures of the window and for trials, comes before the settings.
        self._forced = Look(forced) if forced in _SCHEMES else None
        self._look = Look.SYSTEM
        self.colours: Colours = LIGHT
        self._is_applied = False
        self.use_look(Look.SYSTEM)
        self._hints.colorSchemeChanged.connect(self._on_system)
        self._hints.accessibility().contrastPreferenceChanged.connect(self._on_system)

    def use_look(self, look: Look) -> None:
        """Use these colours from now on; SYSTEM follows the system's."""
        self._look = self._forced or look
        # The scheme also applies to title bars and file dialogs, which the system draws.
        self._hints.setColorScheme(_SCHEMES.get(self._look, Qt.ColorScheme.Unknown))
        self._on_system()

    def reduce_motion(self, reduced: bool) -> None:
        """Keep the text cursor from blinking, and lists and menus from sliding in.

        Otherwise they do so as far as the system lets them.
        """
        self._hints.setCursorFlashTime(0 if reduced else self._blink_ms)
        for effect in self._effects:
            self._application.setEffectEnabled(effect, not reduced)

    def dress(self, window: QWidget) -> None:
        """Give a window that is complete the look, for good; dialogs over it get it from it."""
        self._dressed.add(window)
        window.setStyleSheet(self.sheet)
        # Layouts of what was not shown yet would keep the sizes of bare controls.
        for layout in window.findChildren(QLayout):
            layout.invalidate()

    def icon(self, name: str, colour: str | None = None) -> QIcon:
        """Return an icon by name; its default colour is that of text."""
        key = (name, colour or self.colours.text)
        if key not in self._icons:
            self._icons[key] = draw_icon(name, key[1], self.colours.disabled)
        return self._icons[key]

    def use_colours(self, colours: Colours) -> None:
        """Apply a colour scheme to all windows, in slices."""
        self.colours, self._is_applied = colours, True
        self._icons.clear()
        self._application.setPalette(palette(colours))
        windows = [
            window for window in self._application.topLevelWidgets() if window in self._dressed
        ]
        if self._restyling is not None:
            self._restyling.stop()
        self._restyling = Slices(restyle(windows), self) if windows else None
        self.changed.emit()

    def finish(self) -> None:
        """Give the present colours at once to all that has not got them yet."""
        if self._restyling is not None:
            self._restyling.finish()

    def _on_system(self, *_: object) -> None:
        colours = _COLOURS.get(self._look) or self._colours_of_system()
        if colours is not self.colours or not self._is_applied:
            self.use_colours(colours)

    def _colours_of_system(self) -> Colours:
        wish = self._hints.accessibility().contrastPreference()
        if wish is Qt.ContrastPreference.HighContrast:
            return CONTRAST
        # Systems that report no scheme are mostly light.
        return DARK if self._hints.colorScheme() is Qt.ColorScheme.Dark else LIGHT


def _stylesheet(points: float) -> str:
    text = (resources.files("ui.theme") / "style.qss").read_text(encoding="utf-8")
    values = {name: f"palette({_name_in_sheet(role)})" for name, role in ROLES.items()}
    values |= {name: f"{points * scale:.1f}pt" for name, scale in SCALES.items()}
    # Longest first: @accent is a prefix of @accent_hover.
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(f"@{name}", values[name])
    return text


def _name_in_sheet(role: QPalette.ColorRole) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])", "-", role.name).lower()
