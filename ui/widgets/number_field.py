"""Fields for numbers, without the usual small arrows: a slider or buttons replace them."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox, QWidget

from ui.theme.metrics import CONTROL_HEIGHT, XS
from ui.widgets.line_field import MOST_IN_NUMBER
from ui.widgets.wheel import PassedByWheel


class WholeField(PassedByWheel, QSpinBox):
    """A field for a whole number."""

    def __init__(
        self, low: int, high: int, *, step: int = 1, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setRange(low, high)
        self.setSingleStep(step)
        _set_up(self)


class SizedField(WholeField):
    """A field for a whole number, rounded to a multiple of its step when editing ends.

    `adjusted` emits the typed and the rounded number if they differ.
    """

    adjusted = Signal(int, int)

    def __init__(
        self, low: int, high: int, *, step: int = 1, parent: QWidget | None = None
    ) -> None:
        super().__init__(low, high, step=step, parent=parent)
        self._typed: str | None = None
        self.setCorrectionMode(QAbstractSpinBox.CorrectionMode.CorrectToNearestValue)
        self.lineEdit().textEdited.connect(self._on_typed)
        self.editingFinished.connect(self._on_finished)

    def valueFromText(self, text: str) -> int:  # noqa: N802 (Qt's name)
        """Return the multiple of the step nearest to the text's number."""
        value = super().valueFromText(text)
        step = self.singleStep()
        return round(value / step) * step

    def _on_typed(self, text: str) -> None:
        self._typed = text

    def _on_finished(self) -> None:
        typed, is_number = self.locale().toInt(self._typed or "")
        self._typed = None
        if is_number and typed != self.value():
            self.adjusted.emit(typed, self.value())


class DecimalField(PassedByWheel, QDoubleSpinBox):
    """A field for a number with up to two decimals, shown without trailing zeros."""

    def __init__(
        self, low: float, high: float, *, step: float, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setDecimals(2)
        self.setRange(low, high)
        self.setSingleStep(step)
        _set_up(self)

    def textFromValue(self, val: float) -> str:  # noqa: N802 (Qt's name)
        """Return a number's text without trailing zeros: 7, not 7.00."""
        text = self.locale().toString(val, "f", 2)
        return text.rstrip("0").removesuffix(self.locale().decimalPoint())


def _set_up(field: QAbstractSpinBox) -> None:
    # The stylesheet gives the arrows no width; NoButtons would make Qt leave no room for text.
    field.setFixedHeight(CONTROL_HEIGHT)
    # A typed value takes effect only when it is complete: 512, but not 5 and 51 before it.
    field.setKeyboardTracking(False)
    field.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    field.lineEdit().setMaxLength(MOST_IN_NUMBER)
    field.lineEdit().setTextMargins(0, 0, XS, 0)
