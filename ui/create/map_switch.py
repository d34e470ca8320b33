"""The name of the map over the canvas, as a button that leads to the other layers' maps."""

from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QPushButton

from app.session import Session
from ui.layer_labels import layer_name

# The most characters of a name on the button, and in the menu.
_SHORT, _LONG = 28, 80


class MapSwitch(QPushButton):
    """A button over the picture: it says whose map is shown, and its menu shows another."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.setProperty("role", "floating")
        self.setToolTip(self.tr("Show the map of another control layer"))
        self.clicked.connect(self._open)
        session.view.map_over_changed.connect(self._refresh)
        session.control_list.rows_changed.connect(self._refresh)
        self._refresh()

    def names(self) -> list[str]:
        """Return the names of the layers in their order."""
        layers = self._session.control_list
        return [layer_name(layers.kind, row) for row in layers.rows]

    def make_menu(self) -> QMenu:
        """Return a menu of the layers, the one whose map is shown with a tick, and of no map."""
        menu, view = QMenu(self), self._session.view
        for at, name in enumerate(self.names()):
            # Qt takes the sign for a key's mark.
            action = menu.addAction(f"{at + 1}  {name[:_LONG]}".replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(at == view.map_over)
            action.triggered.connect(partial(view.show_map, at))
        menu.addSeparator()
        menu.addAction(self.tr("No map")).triggered.connect(partial(view.show_map, None))
        return menu

    def _open(self) -> None:
        menu = self.make_menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _refresh(self, *_: object) -> None:
        at, names = self._session.view.map_over, self.names()
        is_shown = at is not None and at < len(names)
        self.setVisible(is_shown and self.parentWidget() is not None)
        if at is None or not is_shown:
            return
        name = names[at]
        shown = name if len(name) <= _SHORT else f"{name[:_SHORT]}…"
        words = self.tr("Map {n} of {count}: {name}")
        told = words.format(n=at + 1, count=len(names), name=shown)
        self.setText(f"{told} ▾".replace("&", "&&"))
        self.setAccessibleName(words.format(n=at + 1, count=len(names), name=name))
