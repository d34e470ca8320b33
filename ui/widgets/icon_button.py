"""A button with only an icon, and a name for screen readers."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QToolButton, QWidget

from ui.theme.metrics import CONTROL_HEIGHT, ICON
from ui.theme.theme import Theme
from ui.widgets.labels import plain_tooltip


class IconButton(QToolButton):
    """A button with an icon of the theme; its accessible name is also its tooltip."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        name: str,
        *,
        checkable: bool = False,
        outlined: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = icon
        self.setCheckable(checkable)
        self.setIconSize(QSize(ICON, ICON))
        self.setFixedSize(CONTROL_HEIGHT, CONTROL_HEIGHT)
        if outlined:
            self.setProperty("role", "outlined")
        self.set_name(name)
        theme.changed.connect(self._draw)
        self._draw()

    def set_name(self, name: str, key: str = "") -> None:
        """Set the name for screen readers and the tooltip; the tooltip adds the shortcut."""
        self.setAccessibleName(name)
        # Without one of its own, screen readers say the tooltip, which repeats the name.
        self.setAccessibleDescription(key)
        self.setToolTip(plain_tooltip(f"{name} ({key})" if key else name))

    def _draw(self) -> None:
        self.setIcon(self._theme.icon(self._icon))
