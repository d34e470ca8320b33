"""A card of the form for a picture that steers the next ones; its kinds add their own controls."""

from functools import partial

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.form.layer_list import LayerFate, LayerList, LayerRow
from app.session import Session
from engine.api.fields import bounds_of
from engine.api.values import ErrorInfo
from ui.layer_labels import fate_words, layer_name
from ui.listed_files import layer_files, misfit
from ui.panels.card_list import ListedCard
from ui.panels.file_choice import FileChoice
from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.grip import Grip
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, breakable, plain_label, plain_tooltip
from ui.widgets.number_field import DecimalField
from ui.widgets.picture_frame import PictureFrame
from ui.widgets.range_bar import WHOLE, RangeField
from ui.widgets.slider_field import SliderField
from ui.widgets.tick_box import TickBox

# The range of the slider; the field accepts more.
_USUAL = (0, 2)
_STEP = 0.05
FULL_WEIGHT = 1.0
_UNUSABLE = (LayerFate.MISSING, LayerFate.BROKEN)


class LayerCard(ListedCard):
    """A layer of the form; it emits the user's changes and shows what it is told."""

    # Emits the changed layer: a signal would make plain texts of single values that are texts, too.
    changed = Signal(object)
    # Emits the ModelInfo of a listed file, or None for the model itself.
    picked = Signal(object)
    wants_file = Signal()
    wants_picture = Signal()
    # Emits the name of the layer's field for which a file is wanted.
    wants_path = Signal(str)
    # The user wants the layer's map over the canvas, or no more.
    shown_over = Signal(bool)

    def __init__(self, session: Session, layers: LayerList, theme: Theme) -> None:
        super().__init__()
        self._session, self._list, self._theme = session, layers, theme
        self.setProperty("role", "card")
        self.enabled = TickBox()
        self.name = ElidedLabel()
        self.grip = Grip(theme, self.tr("Move"))
        self.remove = IconButton(theme, "close", self.tr("Remove"))
        self.reason = plain_label("", "note", wrap=True)
        self.find_it = QPushButton(self.tr("Find it…"))
        self.picture = PictureFrame(theme, self.tr("Picture"), "folder")
        self.file = FileChoice(theme)
        bounds = bounds_of(layers.kind.make, "weight")
        self.weight = SliderField(self.tr("Weight"), DecimalField(*bounds, step=_STEP), _USUAL)
        self.weight.slider.setToolTip(self.tr("Double-click for 1"))
        self.range = RangeField(self.tr("Steps"))
        self.range.bar.setToolTip(
            self.tr("The part of the steps in which it acts. Double-click for all of them.")
        )
        self._row: LayerRow | None = None
        self._connect()

    @property
    def labels(self) -> list[QLabel]:
        """The labels of the rows, to be aligned with each other."""
        return [self.weight.label, self.range.label]

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """The controls in the order of the tab key."""
        head = self.enabled, self.grip, self.remove, self.find_it, self.picture, self.file
        bars = self.weight.slider, self.weight.field, self.range.bar.start, self.range.bar.end
        return (*head, *bars)

    def show_row(self, row: LayerRow) -> None:
        """Show a layer."""
        self._row = row
        layer, kind = row.layer, self._list.kind
        name = layer_name(kind, row)
        self.name.setText(name)
        self.name.setToolTip(plain_tooltip(kind.file_of(layer) or layer.image))
        self.enabled.setChecked(layer.enabled)
        session, layers = self._session, self._list
        self.file.show_files(
            lambda: layer_files(session, layers, row),
            row.info,
            *(layers.offered, layers.family, session.checkpoints.families),
            *(kind.file_of(layer), row.info, layers.own_features is not None),
        )
        self.weight.show_value(layer.weight)
        self.range.show_value(layer.range)
        why = misfit(session, layers, row.info) if row.info is not None else ""
        reason = fate_words(kind, row, why)
        self.reason.setText(breakable(reason))
        self.reason.setVisible(bool(reason))
        self.find_it.setVisible(row.fate in _UNUSABLE)
        self._name_controls(name)

    def show_picture(self, image: QImage | None) -> None:
        """Show the picture; None is one that cannot be read."""
        if image is None:
            self.picture.show_image(QImage(), self.tr("This picture cannot be read."))
        else:
            self.picture.show_image(image)

    def show_no_picture(self) -> None:
        """Invite to choose the picture that the layer has not yet."""
        self.picture.show_image(QImage(), self.tr("Choose a picture, or drop one here"))

    def show_map(self, image: QImage | None, *, over: bool) -> None:
        """Show the map, if such a layer has one; None while it is made."""

    def show_failure(self, error: ErrorInfo) -> None:
        """Tell why there is no map."""

    def change(self, name: str, value: object) -> None:
        """Tell of the user's change of a field of the layer."""
        self.change_all({name: value})

    def change_all(self, changes: dict[str, object]) -> None:
        """Tell of the user's change of several fields at once."""
        assert self._row is not None
        self.changed.emit(msgspec.structs.replace(self._row.layer, **changes))

    def lay_out(self, pictures: QWidget, *rows: QWidget) -> None:
        """Lay the card out: its head, its pictures and its rows."""
        head = QHBoxLayout()
        head.setSpacing(XS)
        head.addWidget(self.enabled)
        head.addWidget(self.name, 1)
        head.addWidget(self.grip)
        head.addWidget(self.remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(S, XS, S, S)
        column.setSpacing(S)
        column.addLayout(head)
        column.addWidget(pictures)
        column.addWidget(self.reason)
        column.addWidget(self.find_it, 0, Qt.AlignmentFlag.AlignLeading)
        for row in rows:
            column.addWidget(row)

    def _connect(self) -> None:
        self.enabled.clicked.connect(self._on_enabled)
        self.remove.clicked.connect(self.removed)
        self.find_it.clicked.connect(self.wants_file)
        self.file.picked.connect(self.picked)
        self.file.wants_file.connect(self.wants_file)
        self.picture.clicked.connect(self.wants_picture)
        self.weight.edited.connect(partial(self.change, "weight"))
        self.weight.reset.connect(partial(self.change, "weight", FULL_WEIGHT))
        self.range.edited.connect(partial(self.change, "range"))
        self.range.reset.connect(partial(self.change, "range", WHOLE))

    def _on_enabled(self, on: bool) -> None:
        self.change("enabled", on)

    def _name_controls(self, name: str) -> None:
        self.enabled.setAccessibleName(self.tr("Use {name}").format(name=name))
        self.enabled.setToolTip(self.tr("Use it for the next pictures"))
        self.remove.set_name(self.tr("Remove {name}").format(name=name[:80]))
        move = self.tr("Move {name} up or down").format(name=name[:80])
        self.grip.set_name(move, self.tr("arrow keys"))
        self.find_it.setAccessibleName(self.tr("Find {name}").format(name=name))
        self.picture.set_name(
            self.tr("Choose another picture for {name}").format(name=name[:80]),
            self._row.layer.image if self._row is not None else "",
        )
        field, slider = self.weight.field, self.weight.slider
        field.setAccessibleName(self.tr("Weight of {name}").format(name=name))
        slider.setAccessibleName(self.tr("{name}, slider").format(name=field.accessibleName()))
        self.range.name_handles(
            self.tr("Start of {name}, as a part of the steps").format(name=name),
            self.tr("End of {name}, as a part of the steps").format(name=name),
        )
