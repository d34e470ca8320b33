"""The card of a control layer: its picture and map, the network, and how the map is followed."""

from functools import partial

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.form.control_defaults import kind_of
from app.form.layer_list import LayerList, LayerRow
from app.notices.wording import worded
from app.session import Session
from engine.api.control import ControlLayer, ControlMode, ControlResize
from engine.api.preprocessors import PREPROCESSORS, MapOptions, PreprocessorName, name_of
from engine.api.values import ErrorInfo
from ui.layer_labels import (
    control_kind_name,
    mode_words,
    preprocessor_about,
    preprocessor_title,
    put_weights_words,
    resize_words,
)
from ui.panels.control_more import ControlMore
from ui.panels.labelled_row import LabelledRow
from ui.panels.layer_card import LayerCard
from ui.panels.path_row import PathRow
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import align, breakable, plain_label
from ui.widgets.late_section import LateSection
from ui.widgets.picture_frame import PictureFrame


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
        self._network = LabelledRow(self.tr("Network"), self.file)
        self._preprocessor = LabelledRow(self.tr("Map by"), self.preprocessor)
        self.more = LateSection(theme, self.tr("More"), self._make_folded)
        self._lay_out()
        self._connect_own()

    @property
    def labels(self) -> list[QLabel]:
        """The labels of the rows that are always open."""
        own = self._network.label, self._preprocessor.label, self.weights.label
        return [*super().labels, *own]

    @property
    def folded(self) -> ControlMore:
        """The rows of the section “More”."""
        return self.more.whole

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        *head, file, weight, field, start, end = super().controls
        found = self.preprocessor, self.weights.drop, self.weights.choose
        first = (*head, self.map, file, *found, weight, field, start, end)
        folded = self.more.present.controls if self.more.present is not None else ()
        return (*first, self.more.head, *folded)

    def show_row(self, row: LayerRow) -> None:
        """Show a control layer."""
        super().show_row(row)
        layer = row.layer
        assert isinstance(layer, ControlLayer)
        self._show_preprocessors(layer, row)
        # A reference is seen as it is, by the model itself.
        for part in (self.map, self._network):
            part.setVisible(not layer.is_reference)
        # A model follows its own map in full.
        by_model = self._is_by_model(layer)
        for part in (self.weight, self.range):
            part.setVisible(not by_model)
        self._show_folded()
        self.weights.setVisible(bool(_files(layer.preprocessor)))
        self.weights.show_file(layer.preprocessor_weights)
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

    def _make_folded(self) -> ControlMore:
        return ControlMore(self._theme, self.change, self.wants_path.emit)

    def _on_made(self) -> None:
        self._show_folded()
        self.controls_changed.emit()

    def _show_folded(self) -> None:
        if self.more.present is not None and self._row is not None:
            layer = self._row.layer
            assert isinstance(layer, ControlLayer)
            self.more.present.show_layer(layer, by_model=self._is_by_model(layer))

    def _connect_own(self) -> None:
        self.more.made.connect(self._on_made)
        self.preprocessor.activated.connect(self._on_preprocessor)
        self.weights.wants_file.connect(lambda: self.wants_path.emit("preprocessor_weights"))
        self.weights.dropped.connect(partial(self.change, "preprocessor_weights", None))
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
        serving = [
            name for name, preprocessor in PREPROCESSORS.items() if kind in preprocessor.serves
        ]
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

    def _on_preprocessor(self, at: int) -> None:
        name: PreprocessorName | None = self.preprocessor.itemData(at)
        options = None if name is None else PREPROCESSORS[PreprocessorName(name)].options()
        assert self._row is not None
        assert isinstance(self._row.layer, ControlLayer)
        if type(options) is not type(self._row.layer.preprocessor):
            self.change_all({"preprocessor": options, "preprocessor_weights": None})


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
