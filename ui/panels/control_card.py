"""The card of a control layer: its picture and map, the network, and how the map is followed."""

from functools import partial

import msgspec
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.form.control_defaults import kind_of
from app.form.layer_list import LayerList, LayerRow
from app.notices.wording import worded
from app.session import Session
from engine.api.control import ControlLayer, ControlMode, ControlResize
from engine.api.fields import fields_of
from engine.api.preprocessors import (
    PREPROCESSORS,
    ControlKind,
    MapOptions,
    PreprocessorName,
    name_of,
)
from engine.api.values import ErrorInfo
from ui.layer_labels import (
    control_kind_name,
    map_option_words,
    mode_words,
    preprocessor_about,
    preprocessor_title,
    put_weights_words,
    resize_words,
)
from ui.panels.choice_row import ChoiceRow
from ui.panels.layer_card import LayerCard
from ui.panels.named_row import NamedRow
from ui.panels.option_rows import FieldRow, FieldWords
from ui.panels.path_row import PathRow
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import align, breakable, plain_label
from ui.widgets.picture_frame import PictureFrame
from ui.widgets.section import Section
from ui.widgets.tick_box import TickBox

# The option of most preprocessors, and its usual value in pixels.
_RESOLUTION, _USUAL_RESOLUTION = "resolution", 512


class ControlCard(LayerCard):
    """A control layer of the form."""

    def __init__(self, session: Session, layers: LayerList, theme: Theme) -> None:
        super().__init__(session, layers, theme)
        self.map = PictureFrame(theme, self.tr("Map"), "eye", checkable=True)
        self.no_map = plain_label("", "note", wrap=True)
        self.preprocessor = ChoiceBox(theme)
        self.weights = PathRow(theme, self.tr("Its weights"), self.tr("Found by name"))
        # The preprocessors that are listed first; None before any is listed.
        self._serving: list[PreprocessorName] | None = None
        self.options: dict[str, FieldRow] = {}
        self._options = QWidget()
        self._options_of: type[MapOptions] | None = None
        modes = [(mode, *mode_words(mode)) for mode in ControlMode]
        self.fitting = TickBox(self.tr("A map of the picture's size"))
        self.fitting.setToolTip(self.tr("Its resolution follows from the picture (pixel perfect)."))
        self.mode = ChoiceRow(theme, self.tr("Balance"), modes, partial(self.change, "mode"))
        resizes = [(resize, *resize_words(resize)) for resize in ControlResize]
        self.resize_mode = ChoiceRow(
            theme, self.tr("Shape"), resizes, partial(self.change, "resize")
        )
        kinds = [(kind, control_kind_name(kind), "") for kind in (None, *ControlKind)]
        self.map_kind = ChoiceRow(
            theme, self.tr("Kind of map"), kinds, partial(self.change, "kind")
        )
        self.area = PathRow(theme, self.tr("Only within"), self.tr("The whole picture"))
        self._network = NamedRow(self.tr("Network"), self.file)
        self._preprocessor = NamedRow(self.tr("Map by"), self.preprocessor)
        self.more = Section(theme, self.tr("More"), self._more())
        self._lay_out()
        self._connect_own()

    @property
    def labels(self) -> list[QLabel]:
        """The labels of the rows that are always open."""
        own = self._network.label, self._preprocessor.label, self.weights.label
        return [*super().labels, *own]

    def _align_folded(self) -> None:
        own = self.mode.label, self.resize_mode.label, self.map_kind.label, self.area.label
        align((*own, *(row.label for row in self.options.values())))

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        *head, file, weight, field, start, end = super().controls
        options = *(row.control for row in self.options.values()), self.fitting
        found = self.preprocessor, self.weights.drop, self.weights.choose
        more = self.mode.box, self.resize_mode.box, self.map_kind.box
        area = self.area.drop, self.area.choose
        first = (*head, self.map, file, *found, weight, field, start, end)
        return (*first, self.more.head, *options, *more, *area)

    def show_row(self, row: LayerRow) -> None:
        """Show a control layer."""
        super().show_row(row)
        layer = row.layer
        assert isinstance(layer, ControlLayer)
        self._show_preprocessors(layer, row)
        # A reference is seen as it is, by the model itself.
        for part in (self.map, self._network, self.map_kind, self.area):
            part.setVisible(not layer.is_reference)
        # A model follows its own map in full.
        by_model = self._is_by_model(layer)
        for part in (self.weight, self.range, self.mode):
            part.setVisible(not by_model)
        if by_model:
            self.area.setVisible(layer.mask is not None)
            self.map_kind.hide()
        self._show_options(layer.preprocessor)
        self.weights.setVisible(bool(_files(layer.preprocessor)))
        self.weights.show_file(layer.preprocessor_weights)
        self.mode.show_value(layer.mode)
        self.resize_mode.show_value(layer.resize)
        self.map_kind.show_value(layer.kind)
        self.area.show_file(layer.mask)
        self.more.head.tell(_summary(layer))
        self.map.set_name(
            self.tr("Show the map of {name} over the canvas").format(name=self.name.text()[:80])
        )

    def show_map(self, image: QImage | None, *, over: bool) -> None:
        """Show the map; `over` is True while it is shown over the canvas, too."""
        if image is None:
            # The map before stays in sight while the next one is made.
            self.map.show_image(self.map.image, self.tr("Making the map…"))
        else:
            self.map.show_image(image)
        self.map.setEnabled(image is not None)
        self.map.setChecked(over)
        self._tell_map("")

    def show_failure(self, error: ErrorInfo) -> None:
        """Tell why there is no map."""
        self.map.show_image(QImage(), self.tr("No map"))
        self.map.setEnabled(False)
        self.map.setChecked(False)
        assert self._row is not None
        layer = self._row.layer
        assert isinstance(layer, ControlLayer)
        lacks_weights = bool(_files(layer.preprocessor)) and layer.preprocessor_weights is None
        folder = self._session.checkpoints.models
        put_it = put_weights_words(folder) if lacks_weights else ""
        parts = worded(error.text), worded(error.advice), put_it
        self._tell_map(" ".join(filter(None, parts)))

    def _tell_map(self, words: str) -> None:
        self.no_map.setText(breakable(words))
        self.no_map.setVisible(bool(words))

    def _lay_out(self) -> None:
        pictures = QWidget()
        row = QHBoxLayout(pictures)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.picture, 1)
        row.addWidget(self.map, 1)
        rows = self._network, self._preprocessor, self.weights, self.no_map
        self.lay_out(pictures, *rows, self.weight, self.range, self.more)
        align(self.labels)
        self._align_folded()

    def _more(self) -> QWidget:
        content = QWidget()
        column = _column(content)
        _column(self._options)
        rows = self._options, self.fitting, self.mode, self.resize_mode, self.map_kind, self.area
        for row in rows:
            column.addWidget(row)
        return content

    def _connect_own(self) -> None:
        self.fitting.clicked.connect(self._on_fitting)
        self.preprocessor.activated.connect(self._on_preprocessor)
        self.weights.wants_file.connect(lambda: self.wants_path.emit("preprocessor_weights"))
        self.weights.dropped.connect(partial(self.change, "preprocessor_weights", None))
        self.area.wants_file.connect(lambda: self.wants_path.emit("mask"))
        self.area.dropped.connect(partial(self.change, "mask", None))
        self.map.clicked.connect(self.shown_over)

    def _is_by_model(self, layer: ControlLayer) -> bool:
        """Return True if the model itself follows a layer."""
        has_file = layer.network is not None or layer.is_reference
        return self._list.own_features is not None and not has_file

    def _show_preprocessors(self, layer: ControlLayer, row: LayerRow) -> None:
        """List the preprocessors: those that serve the network's kind first."""
        kind, own = kind_of(layer, row.info), self._list.own_features
        if own is not None and self._is_by_model(layer):
            kind = kind or own.own_map
        serving = [name for name, one in PREPROCESSORS.items() if kind in one.serves]
        others = [name for name in PREPROCESSORS if name not in serving]
        box = self.preprocessor
        if serving != self._serving:
            self._serving = serving
            box.clear()
            for name in (None, *serving, *others):
                if name in others[:1] and serving:
                    box.add_heading(self.tr("For other networks"))
                box.add_choice(preprocessor_title(name), name, preprocessor_about(name))
        chosen = name_of(layer.preprocessor) if layer.preprocessor is not None else None
        places = (at for at in range(box.count()) if box.itemData(at) == chosen)
        box.setCurrentIndex(next(places, 0))

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
        self._align_folded()

    def _on_fitting(self, on: bool) -> None:
        self._on_option(_RESOLUTION, None if on else _USUAL_RESOLUTION)

    def _on_option(self, name: str, value: object) -> None:
        assert self._row is not None
        assert isinstance(self._row.layer, ControlLayer)
        options = self._row.layer.preprocessor
        if options is not None:
            changed = msgspec.structs.replace(options, **{name: value})
            self.change("preprocessor", changed)

    def _on_preprocessor(self, at: int) -> None:
        name: PreprocessorName | None = self.preprocessor.itemData(at)
        options = None if name is None else PREPROCESSORS[PreprocessorName(name)].options()
        assert self._row is not None
        assert isinstance(self._row.layer, ControlLayer)
        if type(options) is not type(self._row.layer.preprocessor):
            self.change_all({"preprocessor": options, "preprocessor_weights": None})


def _column(whole: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(S)
    return column


def _files(options: MapOptions | None) -> tuple[str, ...]:
    return () if options is None else PREPROCESSORS[name_of(options)].files


def _summary(layer: ControlLayer) -> str:
    """Return what differs from the usual among the folded rows."""
    words: list[str] = []
    if layer.mode is not ControlMode.BALANCED:
        words.append(mode_words(layer.mode)[0])
    if layer.resize is not ControlResize.CROP:
        words.append(resize_words(layer.resize)[0])
    if layer.kind is not None:
        words.append(control_kind_name(layer.kind))
    return ", ".join(words)
