"""A field for a number that may be left empty: then the default applies, which is shown in grey."""

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.theme.metrics import CONTROL_HEIGHT, XS
from ui.widgets.labels import plain_label
from ui.widgets.line_field import MOST_IN_NUMBER, LineField

Number = int | float
_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
_DECIMALS = 4


class NumberRange(NamedTuple):
    """The least and the largest number; `whole` is True for whole numbers."""

    low: float
    high: float
    whole: bool = False
    step: Number = 1
    # The number that is stored for a shown 1.
    scale: int = 1


class OptionField(LineField):
    """A number or nothing; `edited` emits an accepted number, or None for an empty field.

    Numbers apply as they are typed; what is no number within the range is put right when the field
    is left. The up and down arrows change the number by a step.
    """

    edited = Signal(object)

    def __init__(self, within: NumberRange, default: Number | None, automatic: str) -> None:
        """`default` applies to an empty field; None is shown as the text `automatic`."""
        super().__init__(MOST_IN_NUMBER)
        self._range, self._default = within, default
        self._value: Number | None = None
        self.setFixedHeight(CONTROL_HEIGHT)
        self.setPlaceholderText(automatic if default is None else self._text(default))
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.textEdited.connect(self._on_typed)

    def show_value(self, value: Number | None) -> None:
        """Show a number, nothing for None or the default, without emitting `edited`."""
        self._value = None if value == self._default else value
        if not self._is_shown():
            self.setText("" if self._value is None else self._text(self._value))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Change the number by a step with the arrows."""
        step = _STEPS.get(Qt.Key(event.key()))
        # With other keys than Shift they may be a shortcut.
        if step is None or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().keyPressEvent(event)
            return
        low, high, _, size, scale = self._range
        start = self._value if self._value is not None else self._default
        value = low if start is None else start + step * size * scale
        self._take(type(value)(min(max(value, low), high)))

    def focusOutEvent(self, arg__1: QFocusEvent) -> None:  # noqa: N802 (Qt's name)
        """Show the last accepted number instead of a text that is none."""
        super().focusOutEvent(arg__1)
        if not self._is_shown():
            self.setText("" if self._value is None else self._text(self._value))

    def _is_shown(self) -> bool:
        text = self.text().strip()
        return self._value is None if not text else self._number(text) == self._value

    def _on_typed(self, text: str) -> None:
        number = self._number(text.strip())
        if not text.strip() or number is not None:
            self._value = number
            self.edited.emit(number)

    def _take(self, number: Number) -> None:
        self._value = number
        self.setText(self._text(number))
        self.edited.emit(number)

    def _text(self, number: Number) -> str:
        shown = number / self._range.scale if self._range.scale != 1 else number
        if isinstance(shown, int):
            return str(shown)
        text = QLocale().toString(shown, "f", _DECIMALS)
        return text.rstrip("0").removesuffix(QLocale().decimalPoint())

    def _number(self, text: str) -> Number | None:
        """Return the number that a text means, None if it is none or out of the range."""
        low, high, whole, _, scale = self._range
        try:
            plain = text.replace(QLocale().decimalPoint(), ".")
            number = int(plain) if whole and scale == 1 else float(plain) * scale
        except ValueError:
            return None
        number = round(number) if whole else number
        return number if low <= number <= high else None


class PairField(QWidget):
    """Two numbers with a sign between them; `edited` emits both, or None where none is given."""

    edited = Signal(object)

    def __init__(
        self,
        within: NumberRange,
        default: tuple[Number, Number] | None,
        automatic: str,
        sign: str,
    ) -> None:
        super().__init__()
        self._default = default
        of_each = default or (None, None)
        self.fields = tuple(OptionField(within, default, automatic) for default in of_each)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(XS)
        row.addWidget(self.fields[0], 1)
        row.addWidget(plain_label(sign, "label"))
        row.addWidget(self.fields[1], 1)
        self._values: list[Number | None] = list(of_each)
        for place, field in enumerate(self.fields):
            field.edited.connect(partial(self._on_edited, place))
        self.setFocusProxy(self.fields[0])

    def show_value(self, value: tuple[Number, Number] | None) -> None:
        """Show two numbers, or nothing, without emitting `edited`."""
        if (
            value is None
            and None in self._values
            and any(value is not None for value in self._values)
        ):
            # One of the two is typed already.
            return
        self._values = list(value or self._default or (None, None))
        for field, number in zip(self.fields, self._values, strict=True):
            field.show_value(number)

    def name_fields(self, first: str, second: str) -> None:
        """Set the accessible names of the two fields."""
        self.fields[0].setAccessibleName(first)
        self.fields[1].setAccessibleName(second)

    def _on_edited(self, place: int, number: Number | None) -> None:
        default = self._default[place] if self._default else None
        self._values[place] = default if number is None else number
        if None not in self._values:
            self.edited.emit(tuple(self._values))
        elif self._default is None:
            self.edited.emit(None)
