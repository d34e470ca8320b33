"""The look of the application: follows the system's light or dark, or SAFELIGHT_THEME."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib import resources

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from ui.theme.colours import DARK, LIGHT, Colours, palette
from ui.theme.icons import draw_icon

_FORCED = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
# Sizes of text beside the system's own.
SCALES = {"caption": 0.92, "title": 1.45, "heading": 1.12}


class Theme(QObject):
    """The colours in force and the icons in them; `changed` when the scheme does."""

    changed = Signal()

    def __init__(
        self, application: QApplication, environment: Mapping[str, str] = os.environ
    ) -> None:
        super().__init__(application)
        self._application = application
        self._icons: dict[tuple[str, str], QIcon] = {}
        application.setStyle("Fusion")
        hints = application.styleHints()
        forced = _FORCED.get(environment.get("SAFELIGHT_THEME", "").lower())
        if forced is not None:
            # For what the system draws: title bars, file dialogs.
            hints.setColorScheme(forced)
        self.colours: Colours = LIGHT
        self._use(forced or hints.colorScheme())
        if forced is None:
            hints.colorSchemeChanged.connect(self._use)

    def icon(self, name: str, colour: str | None = None) -> QIcon:
        """One of our icons; in the colour of text where none is given."""
        key = (name, colour or self.colours.text)
        if key not in self._icons:
            self._icons[key] = draw_icon(name, key[1], self.colours.disabled)
        return self._icons[key]

    def use_colours(self, colours: Colours) -> None:
        """Change the look of every window."""
        self.colours = colours
        self._icons.clear()
        self._application.setPalette(palette(colours))
        self._application.setStyleSheet(_stylesheet(colours, self._application.font().pointSizeF()))
        self.changed.emit()

    def _use(self, scheme: Qt.ColorScheme) -> None:
        # Systems that do not tell mostly are light.
        self.use_colours(DARK if scheme is Qt.ColorScheme.Dark else LIGHT)


def _stylesheet(colours: Colours, points: float) -> str:
    text = (resources.files("ui.theme") / "style.qss").read_text(encoding="utf-8")
    values = asdict(colours)
    values |= {name: f"{points * scale:.1f}pt" for name, scale in SCALES.items()}
    # Longest first: @accent begins @accent_hover.
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(f"@{name}", values[name])
    return text
