"""A named number with a field and a slider."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from ui.theme.metrics import S
from ui.widgets.labels import buddy_label, plain_label
from ui.widgets.number_field import DecimalField, WholeField
from ui.widgets.value_slider import ValueSlider

_FIELD_WIDTH = 60


class SliderField(QWidget):
    """A field with a slider over the usual values; the field accepts all of its range.

    `edited` emits the user's value: int for a WholeField, float for a DecimalField. `reset` is
    emitted where the user wants the usual value.
    """

    edited = Signal(object)
    reset = Signal()

    def __init__(
        self,
        name: str,
        field: WholeField | DecimalField,
        usual: tuple[float, float],
        ends: tuple[str, str] | None = None,
    ) -> None:
        """Create the control; `ends` are the texts below the two ends of the slider."""
        super().__init__()
        self.field = field
        room = field.fontMetrics().horizontalAdvance("1000.5") + S
        self.field.setFixedWidth(max(_FIELD_WIDTH, room))
        self.label = buddy_label(name, field)
        limits = field.minimum(), field.maximum()
        self.slider = ValueSlider(usual, field.singleStep(), limits)
        self.slider.setAccessibleName(self.tr("{name}, slider").format(name=field.accessibleName()))
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(S)
        layout.setVerticalSpacing(0)
        layout.setColumnStretch(1, 1)
        for column, widget in enumerate((self.label, self.slider, field)):
            layout.addWidget(widget, 0, column)
        self.ends = tuple(plain_label(words, "caption") for words in ends or ())
        if self.ends:
            row = QHBoxLayout()
            row.setSpacing(S)
            row.addWidget(self.ends[0])
            row.addStretch(1)
            row.addWidget(self.ends[1])
            layout.addLayout(row, 1, 1)
        field.valueChanged.connect(self._on_typed)
        self.slider.valueChanged.connect(self._on_slid)
        self.slider.reset.connect(self.reset)

    def show_value(self, value: float) -> None:
        """Show a value without emitting `edited`."""
        with QSignalBlocker(self.field), QSignalBlocker(self.slider):
            if isinstance(self.field, WholeField):
                self.field.setValue(round(value))
            else:
                self.field.setValue(value)
            self.slider.setValue(value)

    def _on_typed(self, value: float) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(value)
        self.edited.emit(value)

    def _on_slid(self, value: float) -> None:
        self.show_value(value)
        self.edited.emit(round(value) if isinstance(self.field, WholeField) else value)
