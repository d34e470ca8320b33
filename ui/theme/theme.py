"""The look of the application: light or dark like the system, or as SAFELIGHT_THEME says."""

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
# Text sizes, relative to the system's font size.
SCALES = {"caption": 0.92, "title": 1.45, "heading": 1.12}


class Theme(QObject):
    """The current colours, and icons in them; `changed` is emitted when the colours change."""

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
            # The scheme also applies to title bars and file dialogs, which the system draws.
            hints.setColorScheme(forced)
        self.colours: Colours = LIGHT
        self._use(forced or hints.colorScheme())
        if forced is None:
            hints.colorSchemeChanged.connect(self._use)

    def icon(self, name: str, colour: str | None = None) -> QIcon:
        """Return an icon by name; its default colour is that of text."""
        key = (name, colour or self.colours.text)
        if key not in self._icons:
            self._icons[key] = draw_icon(name, key[1], self.colours.disabled)
        return self._icons[key]

    def use_colours(self, colours: Colours) -> None:
        """Apply a colour scheme to all windows."""
        self.colours = colours
        self._icons.clear()
        self._application.setPalette(palette(colours))
        self._application.setStyleSheet(_stylesheet(colours, self._application.font().pointSizeF()))
        self.changed.emit()

    def _use(self, scheme: Qt.ColorScheme) -> None:
        # Systems that report no scheme are mostly light.
        self.use_colours(DARK if scheme is Qt.ColorScheme.Dark else LIGHT)


def _stylesheet(colours: Colours, points: float) -> str:
    text = (resources.files("ui.theme") / "style.qss").read_text(encoding="utf-8")
    values = asdict(colours)
    values |= {name: f"{points * scale:.1f}pt" for name, scale in SCALES.items()}
    # Longest first: @accent is a prefix of @accent_hover.
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(f"@{name}", values[name])
    return text
