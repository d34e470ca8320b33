"""Rows for a group of options, made from their declarations in the request."""

from collections.abc import Callable
from enum import Enum
from types import UnionType
from typing import Any, NamedTuple, Union, cast, get_args, get_origin

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.form.generation import EFFECTIVE_FIELDS, GenerationState
from app.form.options import (
    GROUPS,
    OptionGroup,
    is_shown,
    option_field,
    option_value,
    set_option,
)
from engine.api.fields import Bounds, Measure, RequestField
from ui.choice_labels import automatic, choice_about, choice_label
from ui.option_labels import option_about, option_name, option_sign
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label
from ui.widgets.line_field import LineField
from ui.widgets.number_field import DecimalField
from ui.widgets.option_field import NumberRange, OptionField, PairField
from ui.widgets.slider_field import SliderField
from ui.widgets.tick_box import TickBox

_UNIT = Bounds(0, 1)
_GIGABYTE, _IN_GIGABYTES = 10**9, ("memory_limit_bytes", "device_memory_limit_bytes")
# Sizes that are changed by this many pixels.
_TILE_STEP, _IN_TILES = 64, ("vae_tile", "resolution", "tile")


class FieldWords(NamedTuple):
    """A field's name, what it does, and the sign between two numbers."""

    name: str
    about: str
    sign: str = ""


class FieldRow(QWidget):
    """The name and the control of a field; `show_value` shows, `edited` is called with edits."""

    def __init__(
        self,
        field: RequestField,
        words: FieldWords,
        theme: Theme,
        edited: Callable[[object], None],
    ) -> None:
        super().__init__()
        self.show_value: Callable[[Any], None]
        self._edited, self._words = edited, words
        self.control = self._control(field, theme)
        if isinstance(self.control, SliderField):
            self.label = self.control.label
            row = QVBoxLayout(self)
            row.addWidget(self.control)
        else:
            self.label = buddy_label(words.name, self.control)
            row = QHBoxLayout(self)
            row.setSpacing(S)
            row.addWidget(self.label)
            row.addWidget(self.control, 0 if isinstance(self.control, TickBox) else 1)
            if isinstance(self.control, TickBox):
                row.addStretch(1)
        row.setContentsMargins(0, 0, 0, 0)
        self.setToolTip(words.about)
        self.control.setAccessibleDescription(words.about)

    def _control(self, field: RequestField, theme: Theme) -> QWidget:
        """Make the control that the declaration asks for."""
        kinds = _kinds(field.kind)
        if bool in kinds:
            return self._tick() if field.default is not None else self._list(theme, (True, False))
        if choices := next((kind for kind in kinds if issubclass(kind, Enum)), None):
            return self._list(theme, tuple(choices), has_none=field.default is None)
        assert field.limit is not None
        if field.limit.measure is Measure.LENGTH:
            return self._word_list(field)
        if tuple in kinds:
            return self._pair(field)
        if field.limit.bounds == _UNIT and field.default is not None:
            return self._slider(field)
        number = OptionField(_range(field, whole=int in kinds), field.default, automatic())

        def take(value: object) -> None:
            self._edited(field.default if value is None else value)

        number.edited.connect(take)
        self.show_value = number.show_value
        return number

    def _word_list(self, field: RequestField) -> LineField:
        """Make a line of words with commas between them; an empty one is the default."""
        line = LineField()
        line.setPlaceholderText(", ".join(field.default))

        def take() -> None:
            words = tuple(word for part in line.text().split(",") if (word := part.strip()))
            self._edited(words or field.default)

        def show(words: tuple[str, ...]) -> None:
            if not line.hasFocus():
                line.setText("" if words == field.default else ", ".join(words))

        line.editingFinished.connect(take)
        self.show_value = show
        return line

    def _tick(self) -> TickBox:
        box = TickBox()
        box.clicked.connect(self._edited)
        self.show_value = box.setChecked
        return box

    def _list(
        self, theme: Theme, choices: tuple[Enum | bool, ...], *, has_none: bool = True
    ) -> ChoiceBox:
        box = ChoiceBox(theme)
        values: tuple[Enum | bool | None, ...] = (*((None,) if has_none else ()), *choices)
        for value in values:
            if value is None:
                box.addItem(automatic())
            else:
                box.add_choice(choice_label(value), value, choice_about(value))

        def take(row: int) -> None:
            self._edited(values[row])

        box.activated.connect(take)
        self.show_value = lambda value: box.setCurrentIndex(values.index(value))
        return box

    def _pair(self, field: RequestField) -> PairField:
        whole = field.limit is not None and field.limit.measure is Measure.EACH
        name = self._words.name
        pair = PairField(_range(field, whole=whole), field.default, automatic(), self._words.sign)
        pair.name_fields(
            self.tr("{name}, first number").format(name=name),
            self.tr("{name}, second number").format(name=name),
        )
        pair.edited.connect(self._on_pair if whole else self._on_span)
        self.show_value = pair.show_value
        return pair

    def _on_pair(self, value: object) -> None:
        self._edited(value)

    def _on_span(self, value: tuple[float, float]) -> None:
        if value[0] <= value[1]:
            self._edited(value)

    def _slider(self, field: RequestField) -> SliderField:
        field_of = DecimalField(*_UNIT, step=0.05)
        row = SliderField(self._words.name, field_of, (_UNIT.low, _UNIT.high))
        row.edited.connect(self._edited)
        row.reset.connect(lambda: self._edited(field.default))
        self.show_value = row.show_value
        return row


class OptionRow(FieldRow):
    """The row of an option of the form."""

    def __init__(self, option: str, theme: Theme, edited: Callable[[object], None]) -> None:
        self.option = option
        words = FieldWords(option_name(option), option_about(option), option_sign(option))
        super().__init__(option_field(option), words, theme, edited)


class OptionRows(QWidget):
    """The rows of a group; options that do nothing with the present settings are hidden."""

    def __init__(self, form: GenerationState, group: OptionGroup, theme: Theme) -> None:
        super().__init__()
        self._form = form
        self.rows = {option: self._row(option, theme) for option in GROUPS[group]}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        for row in self.rows.values():
            column.addWidget(row)
        own = frozenset(option.partition(".")[0] for option in self.rows)
        # The fields of the form that values and rows follow from.
        self._shown = own | EFFECTIVE_FIELDS
        form.changed.connect(self._on_form)
        self._refresh()

    @property
    def labels(self) -> list[QLabel]:
        """The labels of the rows, to be aligned with those of others."""
        return [row.label for row in self.rows.values()]

    def _row(self, option: str, theme: Theme) -> OptionRow:
        return OptionRow(option, theme, lambda value: set_option(self._form, option, value))

    def _on_form(self, names: frozenset[str]) -> None:
        if names & self._shown:
            self._refresh()

    def _refresh(self) -> None:
        for option, row in self.rows.items():
            row.show_value(option_value(self._form, option))
            row.setVisible(is_shown(self._form, option))
        if all(row.isHidden() for row in self.rows.values()):
            self.hide()
        elif self.parentWidget() is not None:
            # Without a parent it would open as a window of its own.
            self.show()


def _kinds(kind: Any) -> list[type]:
    """Return the types that a value may have, without None; tuples without their contents."""
    is_union = get_origin(kind) in (Union, UnionType)
    every = get_args(kind) if is_union else (kind,)
    return [cast("type", get_origin(kind) or kind) for kind in every if kind is not type(None)]


def _range(field: RequestField, *, whole: bool) -> NumberRange:
    assert field.limit is not None
    low, high = field.limit.bounds
    if field.name in _IN_GIGABYTES:
        return NumberRange(low, high, whole, 1, _GIGABYTE)
    if field.name in _IN_TILES:
        return NumberRange(low, high, whole, _TILE_STEP)
    return NumberRange(low, high, whole, 1 if whole else 0.1)
