"""The start of the next picture: noise, or a picture, redrawn entirely or within a mask."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.gallery.rows import Trouble
from app.session import Session
from engine.api.fields import bounds_of
from engine.api.request import DEFAULT_IMAGE_GUIDANCE, GenerateRequest, GuidanceOptions
from engine.api.values import InputRole
from ui.actions import ActionName, Actions
from ui.drop_spots import DropSpot
from ui.gallery.labels import unreadable_picture
from ui.key_tips import show_key
from ui.labels import size_label
from ui.masks import inverted, read_mask, veil
from ui.panels.picture_question import ask_for_picture
from ui.pictures import ReadPicture, read_chosen, read_picture
from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, plain_label, plain_tooltip
from ui.widgets.number_field import DecimalField
from ui.widgets.slider_field import SliderField
from ui.widgets.thumbnail_view import ThumbnailView

_SIDE = 64
# The range of the slider; the field accepts more.
_USUAL_LIKENESS = (1, 3)


class _Look(msgspec.Struct, frozen=True):
    """A picture and its mask, both as thumbnails."""

    picture: ReadPicture
    mask: QImage | None


class InputPanel(QWidget):
    """A button to choose a start picture; then the picture with its mask and options."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._theme, self._state = session, theme, session.generation
        self._look: _Look | None = None
        self.choose = QPushButton(self.tr("Image to image: start from a picture…"))
        show_key(self.choose, ActionName.OPEN_START)
        self.about = plain_label("", "caption", wrap=True)
        self.thumbnail = ThumbnailView(theme, _SIDE)
        self.name, self.detail = ElidedLabel(), ElidedLabel("caption")
        mask = actions[ActionName.PAINT].text()
        self.paint = IconButton(theme, "brush", mask, outlined=True, checkable=True)
        show_key(self.paint, ActionName.PAINT)
        self.drop = IconButton(theme, "close", self.tr("Remove the start picture"))
        ends = self.tr("keep"), self.tr("reinvent")
        field = DecimalField(*bounds_of(GenerateRequest, "strength"), step=0.05)
        self.strength = SliderField(self.tr("Strength"), field, (0, 1), ends)
        self.strength.setToolTip(self.tr("How much of the picture is redrawn"))
        field = DecimalField(*bounds_of(GuidanceOptions, "image_guidance"), step=0.1)
        self.likeness = SliderField(self.tr("Image guidance"), field, _USUAL_LIKENESS)
        self.likeness.setToolTip(self.tr("How closely the picture is followed"))
        self.labels = [self.strength.label, self.likeness.label]
        self._lay_out()
        self._connect(actions)
        self._on_inputs()

    def choose_picture(self) -> None:
        """Ask for a file to start from."""
        ask_for_picture(self, self._session, self.tr("Start from a picture"), self._start_from)

    def start_from(self, path: str) -> None:
        """Use a picture as the start, as soon as its size is read."""
        side = QSize(_SIDE, _SIDE)
        self._session.background.look(lambda: read_chosen(path, side), self._on_start)

    def _start_from(self, path: Path) -> None:
        self.start_from(str(path))

    def drop_spots(self) -> list[DropSpot]:
        """Return what takes a picture: the start picture, or the button that chooses one."""
        spot = self.choose if self.card.isHidden() else self.card

        return [DropSpot(spot, self.tr("Start from it"), self._start_from)]

    def _lay_out(self) -> None:
        self.card = QFrame()
        self.heading = plain_label(self.tr("Image to image"), "label")
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addStretch()
        words.addWidget(self.name)
        words.addWidget(self.detail)
        words.addStretch()
        row = QHBoxLayout(self.card)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.thumbnail)
        row.addLayout(words, 1)
        row.addWidget(self.paint)
        row.addWidget(self.drop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        self.choose.setProperty("role", "link")
        column.addWidget(self.about)
        column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.heading)
        column.addWidget(self.card)
        self.sliders = QWidget()
        sliders = QVBoxLayout(self.sliders)
        sliders.setContentsMargins(0, XS, 0, 0)
        sliders.setSpacing(S)
        sliders.addWidget(self.strength)
        sliders.addWidget(self.likeness)
        column.addWidget(self.sliders)

    def _connect(self, actions: Actions) -> None:
        state = self._state
        self.choose.clicked.connect(actions[ActionName.OPEN_START].trigger)
        self.paint.clicked.connect(actions[ActionName.PAINT].trigger)
        self._session.view.painting_changed.connect(self.paint.setChecked)
        self.drop.clicked.connect(self._session.changes.start_anew)
        self.strength.edited.connect(self._on_strength)
        self.strength.reset.connect(lambda: self._on_strength(None))
        self.likeness.edited.connect(self._on_likeness)
        state.inputs_changed.connect(self._on_inputs)
        self._session.edited.changed.connect(self._on_inputs)
        state.mask_options_changed.connect(self._draw)
        state.effective_changed.connect(self._refresh)
        state.guidance_options_changed.connect(self._refresh)
        self._theme.changed.connect(self._draw)

    def _refresh(self) -> None:
        state = self._state
        path = state.input_path(InputRole.INIT)
        edits = state.suggestions.features.edits
        self.choose.setVisible(path is None)
        self.about.setText(self.tr("This model changes a picture as the prompt says: choose one."))
        self.about.setVisible(path is None and edits)
        self.heading.setVisible(path is not None)
        self.card.setVisible(path is not None)
        self.sliders.setVisible(path is not None)
        self.likeness.setVisible(edits)
        self.strength.show_value(state.effective.strength)
        guidance = state.guidance_options.image_guidance
        self.likeness.show_value(DEFAULT_IMAGE_GUIDANCE if guidance is None else guidance)

    def _on_inputs(self, *_: object) -> None:
        self._refresh()
        path, mask = (self._state.input_path(role) for role in (InputRole.INIT, InputRole.MASK))
        if path is None:
            self._look = None
            return
        self.name.setText(Path(path).name)
        self.name.setToolTip(plain_tooltip(path))
        side = round(_SIDE * self.devicePixelRatioF())

        def read() -> _Look:
            picture = read_picture(path, QSize(side, side), cover=True)
            if not mask or picture.image.isNull():
                return _Look(picture, None)
            shown = read_mask(mask, picture.image.size())
            return _Look(picture, shown)

        self._session.background.look(read, self._on_look)

    def _on_look(self, look: _Look) -> None:
        if look.picture.path == self._state.input_path(InputRole.INIT):
            self._look = look
            self._draw()

    def _draw(self, *_: object) -> None:
        look = self._look
        if look is None:
            return
        picture, mask = look.picture, look.mask
        self.detail.setText(self._detail(look))
        if mask is not None and self._state.mask_options.inverted:
            mask = inverted(mask)
        veils = [] if mask is None else [veil(mask, self._theme.colours.accent)]
        self.thumbnail.show_layers(picture.image, *veils)

    def _detail(self, look: _Look) -> str:
        """Return the picture's size, and what of it is drawn: masked, or around it."""
        picture, options = look.picture, self._state.mask_options
        if picture.image.isNull():
            return self.tr("cannot be read")
        words = size_label(picture.width, picture.height)
        if options.expands:
            left, top, right, bottom = options.expand
            grown = size_label(picture.width + left + right, picture.height + top + bottom)
            words = self.tr("grown to {size}").format(size=grown)
        if look.mask is not None:
            words = self.tr("{size} · with a mask").format(size=words)
        return words

    def _on_start(self, read: tuple[ReadPicture, Trouble | None]) -> None:
        picture, trouble = read
        if trouble is not None:
            self._session.notices.tell_error(unreadable_picture(picture.path, trouble))
        else:
            self._session.pictures.start_from(picture.path, picture.width, picture.height)

    def _on_strength(self, strength: float | None) -> None:
        self._state.strength = strength

    def _on_likeness(self, likeness: float) -> None:
        options = self._state.guidance_options
        self._state.guidance_options = msgspec.structs.replace(options, image_guidance=likeness)
