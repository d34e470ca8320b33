"""The folded rows of a control layer's card: the options of its map, and how it is followed."""

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.api.control import ControlLayer, ControlMode, ControlResize
from engine.api.fields import fields_of
from engine.api.preprocessors import ControlKind, MapOptions
from ui.layer_labels import control_kind_name, map_option_words, mode_words, resize_words
from ui.panels.choice_row import ChoiceRow
from ui.panels.option_rows import FieldRow, FieldWords
from ui.panels.path_row import PathRow
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.labels import align
from ui.widgets.tick_box import TickBox

# The option of most preprocessors, and its usual value in pixels.
_RESOLUTION, _USUAL_RESOLUTION = "resolution", 512


class ControlMore(QWidget):
    """The rows; they show a layer, and tell of the user's changes of its fields."""

    def __init__(
        self, theme: Theme, change: Callable[[str, object], None], choose: Callable[[str], None]
    ) -> None:
        """`change` takes the name of a field and its value, `choose` asks for its file."""
        super().__init__()
        self._theme, self._change = theme, change
        self._layer: ControlLayer | None = None
        self.options: dict[str, FieldRow] = {}
        self._options = QWidget()
        self._options_of: type[MapOptions] | None = None
        self.fitting = TickBox(self.tr("A map of the picture's size"))
        self.fitting.setToolTip(self.tr("Its resolution follows from the picture (pixel perfect)."))
        modes = [(mode, *mode_words(mode)) for mode in ControlMode]
        self.mode = ChoiceRow(theme, self.tr("Balance"), modes, partial(change, "mode"))
        resizes = [(resize, *resize_words(resize)) for resize in ControlResize]
        self.resize_mode = ChoiceRow(theme, self.tr("Shape"), resizes, partial(change, "resize"))
        kinds = [(kind, control_kind_name(kind), "") for kind in (None, *ControlKind)]
        self.map_kind = ChoiceRow(theme, self.tr("Kind of map"), kinds, partial(change, "kind"))
        self.area = PathRow(theme, self.tr("Only within"), self.tr("The whole picture"))
        column = _column(self)
        _column(self._options)
        rows = self._options, self.fitting, self.mode, self.resize_mode, self.map_kind, self.area
        for row in rows:
            column.addWidget(row)
        self.fitting.clicked.connect(self._on_fitting)
        self.area.wants_file.connect(partial(choose, "mask"))
        self.area.dropped.connect(partial(change, "mask", None))
        self._align()

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        options = *(row.control for row in self.options.values()), self.fitting
        boxes = self.mode.box, self.resize_mode.box, self.map_kind.box
        return (*options, *boxes, self.area.drop, self.area.choose)

    def show_layer(self, layer: ControlLayer, *, by_model: bool) -> None:
        """Show a layer; a model that follows it itself, `by_model`, follows it in full."""
        self._layer = layer
        self._show_options(layer.preprocessor)
        self.mode.show_value(layer.mode)
        self.resize_mode.show_value(layer.resize)
        self.map_kind.show_value(layer.kind)
        self.area.show_file(layer.mask)
        self.mode.setVisible(not by_model)
        # A reference is seen as it is, by the model itself.
        self.map_kind.setVisible(not by_model and not layer.is_reference)
        acts_within = layer.mask is not None if by_model else not layer.is_reference
        self.area.setVisible(acts_within)

    def _show_options(self, options: MapOptions | None) -> None:
        if type(options) is not self._options_of:
            self._make_options(options)
        for name, row in self.options.items():
            row.show_value(getattr(options, name))
        resolution = getattr(options, _RESOLUTION, _USUAL_RESOLUTION)
        self.fitting.setVisible(_RESOLUTION in self.options)
        self.fitting.setChecked(resolution is None)
        if _RESOLUTION in self.options:
            self.options[_RESOLUTION].setVisible(resolution is not None)
        self._options.setVisible(bool(self.options))

    def _make_options(self, options: MapOptions | None) -> None:
        """Make a row for each option of a preprocessor, by its declaration."""
        self._options_of = None if options is None else type(options)
        for row in self.options.values():
            row.hide()
            row.deleteLater()
        self.options = {}
        fields = dict(fields_of(type(options))) if options is not None else {}
        column = self._options.layout()
        assert column is not None
        for name, field in fields.items():
            words = FieldWords(*map_option_words(field))
            row = FieldRow(field, words, self._theme, partial(self._on_option, name))
            self.options[name] = row
            column.addWidget(row)
        self._align()

    def _align(self) -> None:
        own = self.mode.label, self.resize_mode.label, self.map_kind.label, self.area.label
        align((*own, *(row.label for row in self.options.values())))

    def _on_fitting(self, on: bool) -> None:
        self._on_option(_RESOLUTION, None if on else _USUAL_RESOLUTION)

    def _on_option(self, name: str, value: object) -> None:
        assert self._layer is not None
        options = self._layer.preprocessor
        if options is not None:
            self._change("preprocessor", msgspec.structs.replace(options, **{name: value}))


def _column(whole: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(S)
    return column
