"""A small whole number between a minus and a plus."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.theme.metrics import XS
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import buddy_label
from ui.widgets.number_field import WholeField

_FIELD_WIDTH = 64


class Stepper(QWidget):
    """A number between a minus and a plus button; `edited` emits the user's number."""

    edited = Signal(int)

    def __init__(self, theme: Theme, name: str, low: int, high: int) -> None:
        super().__init__()
        self.field = WholeField(low, high)
        self.field.setFixedWidth(_FIELD_WIDTH)
        self.field.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.field.lineEdit().setTextMargins(0, 0, 0, 0)
        self.label = buddy_label(name, self.field)
        plain = self.field.accessibleName()
        fewer = IconButton(
            theme, "minus", self.tr("{name}: one fewer").format(name=plain), outlined=True
        )
        more = IconButton(
            theme, "plus", self.tr("{name}: one more").format(name=plain), outlined=True
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(XS)
        layout.addWidget(self.label)
        layout.addSpacing(XS)
        for widget in (fewer, self.field, more):
            layout.addWidget(widget)
        layout.addStretch()
        fewer.clicked.connect(self._step(self.field.stepDown))
        more.clicked.connect(self._step(self.field.stepUp))
        self.field.valueChanged.connect(self.edited)

    def _step(self, step: Callable[[], None]) -> Callable[[], None]:
        """Return a step that leaves the number as it looks: Qt would select it."""

        def stepped() -> None:
            step()
            self.field.lineEdit().deselect()

        return stepped

    def show_value(self, value: int) -> None:
        """Show a number without emitting `edited`."""
        with QSignalBlocker(self.field):
            self.field.setValue(value)
