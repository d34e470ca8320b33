"""The buttons in the upper corner of the canvas: back to the batch, and comparing."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.actions import ActionName, Actions
from ui.key_tips import show_key
from ui.keys import HeldKey
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.compare_view import CompareView
from ui.widgets.icon_button import IconButton


class CanvasCorner(QWidget):
    """Buttons over the picture, each visible where it does something."""

    def __init__(self, view: CompareView, theme: Theme, actions: Actions) -> None:
        super().__init__(view)
        self._view = view
        self._compare = actions[ActionName.COMPARE_START]
        self.back = IconButton(theme, "grid", "")
        self.back.set_name(self.tr("Back to all pictures of the batch"), self.tr("Esc"))
        self.compare = IconButton(theme, "compare", self._compare.text(), checkable=True)
        show_key(self.compare, ActionName.COMPARE_START)
        held = self.tr("Show the start picture while this is held")
        self.hold = IconButton(theme, "picture", held)
        show_key(self.hold, ActionName.HOLD_START)
        self.map = IconButton(theme, "eye", self.tr("Take the map off the picture"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        for button in (self.back, self.map, self.compare, self.hold):
            button.setProperty("role", "floating")
            button.hide()
            row.addWidget(button)
        self.compare.clicked.connect(self._compare.trigger)
        self.hold.pressed.connect(lambda: view.hold_other(holds=True))
        self.hold.released.connect(lambda: view.hold_other(holds=False))
        HeldKey(view, ActionName.HOLD_START, lambda held: view.hold_other(holds=held))
        view.other_changed.connect(self._refresh)
        view.installEventFilter(self)
        self._refresh()

    def put_beside_map(self, widget: QWidget) -> None:
        """Lay a widget out after the button that takes the map off."""
        row = self.layout()
        assert isinstance(row, QHBoxLayout)
        row.insertWidget(row.indexOf(self.map) + 1, widget)

    def toggle_comparing(self) -> None:
        """Show the divider between the picture and its start picture, or hide it."""
        self._view.compare(compares=not self._view.is_compared)
        self._refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Stay in the corner of the view."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutDirectionChange):
            self._place()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Take the size of the visible buttons."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def _refresh(self) -> None:
        for button in (self.compare, self.hold):
            button.setVisible(self._view.has_other)
        self.compare.setChecked(self._view.is_compared)
        self._compare.setEnabled(self._view.has_other)

    def _place(self) -> None:
        self.adjustSize()
        left = self._view.width() - M - self.width() if self.isRightToLeft() else M
        self.move(left, M)
