"""The page of Create: the form at the side, the canvas in the middle, the strip below."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.form.changes import Reuse
from app.session import Session
from ui.actions import ActionName, Actions
from ui.create.details_place import DetailsPlace
from ui.create.side_splitter import SideSplitter
from ui.panels.canvas_panel import CanvasPanel
from ui.panels.form_panel import FormPanel
from ui.panels.info_panel import InfoPanel
from ui.panels.strip_panel import StripPanel
from ui.picture_actions import copy_path, copy_picture, reveal
from ui.theme.metrics import HIGH, LORA_PICTURE, THUMBNAIL, WIDE, XS, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import rule

_REUSES = {
    ActionName.USE_SETTINGS: Reuse.ALL_BUT_SEED,
    ActionName.USE_PROMPT: Reuse.PROMPT,
    ActionName.USE_SEED: Reuse.SEED,
    ActionName.USE_EVERYTHING: Reuse.EVERYTHING,
}


class CreatePage(QWidget):
    """The form and the pictures that it makes."""

    def __init__(
        self, session: Session, theme: Theme, actions: Actions, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._is_built = False
        self.thumbnails = ThumbnailStore(THUMBNAIL, parent=self)
        self.lora_pictures = ThumbnailStore(LORA_PICTURE, parent=self)
        for pictures in (self.thumbnails, self.lora_pictures):
            pictures.failed.connect(session.notices.tell_error)
        # From the outside in, as the window: nothing moves with everything in it.
        self.sides = SideSplitter(session.memory, theme, actions)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sides)
        self.form = FormPanel(session, theme, actions, self.lora_pictures, self.sides.side)
        middle = QWidget()
        # A large system font makes the form wider: nothing of it may be cut off.
        self.sides.hold(self.form, self.form.prompt, self.form.needed_width, middle)
        self.form.needs_width.connect(self.sides.fit)
        self.canvas = CanvasPanel(session, theme, actions, middle)
        self.info = InfoPanel(session, theme, actions)
        self.strip = StripPanel(session, theme, actions, self.thumbnails)
        self._lay_out(_column(middle))
        self.details_place = DetailsPlace(session, actions, self.sides, self.canvas)
        self._connect(actions)
        self._is_built = True

    @property
    def entry(self) -> QWidget:
        """The control that a key leads to."""
        return self.canvas.details.back if self.details_place.in_side else self.form.prompt

    @property
    def room_for_messages(self) -> QWidget:
        """The part that messages may lie over."""
        return self.canvas.pictures

    def _lay_out(self, column: QVBoxLayout) -> None:
        column.addWidget(self.canvas, 1)
        column.addWidget(self.info)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        self._strip_row = QHBoxLayout()
        self._strip_row.addWidget(self.strip)
        column.addLayout(self._strip_row)
        self._show_small(small=False)

    def _show_small(self, *, small: bool) -> None:
        """Leave the picture more of the height in a small window."""
        self._strip_row.setContentsMargins(S, 0 if small else XS, 0, 0)
        self.strip.show_small(small=small)
        self.info.show_low(low=small)

    def _connect(self, actions: Actions) -> None:
        session = self._session
        self.canvas.failed.connect(session.notices.tell_error)
        self.canvas.shown.connect(self.info.show_picture)
        self.strip.chosen.connect(session.view.choose)

        def on(name: ActionName, slot: object) -> None:
            actions[name].triggered.connect(slot)

        on(ActionName.EDIT_PROMPT, self._edit_prompt)
        for name, what in _REUSES.items():
            on(name, self._with_picture(self._reuse(what)))
        on(ActionName.OPEN_START, self.form.inputs.choose_picture)
        steering: dict[ActionName, Callable[[Path], object]] = {
            ActionName.START_FROM: lambda path: self.form.inputs.start_from(str(path)),
            ActionName.FOLLOW: session.control.open,
            ActionName.PROMPT_BY: session.image_prompt.open,
        }
        for name, take in steering.items():
            on(name, self._with_picture(self._in_our_format(take)))
        on(ActionName.REVEAL, self._with_picture(lambda path: reveal(path, session.notices)))
        on(ActionName.COPY_PATH, self._with_picture(copy_path))
        on(ActionName.SHOW_ORIGINAL, self._with_picture(session.upscales.show_original))
        on(
            ActionName.COPY_PICTURE,
            self._with_picture(lambda path: copy_picture(path, session.background)),
        )
        on(ActionName.TRASH, self._with_picture(session.pictures.trash))

    def _edit_prompt(self) -> None:
        if self.sides.is_folded:
            self.sides.fold()
        self.form.prompt.setFocus()

    def close_background(self) -> None:
        """Wait for the decoding threads; called when the application ends."""
        self.thumbnails.close()
        self.lora_pictures.close()
        self.canvas.close_background()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Set the thumbnails' resolution to that of the window's screen."""
        super().showEvent(event)
        self._use_ratio()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Show less around the picture in a small window."""
        super().resizeEvent(event)
        window = self.window()
        self._show_small(small=window.width() < WIDE or window.height() < HIGH)

    def event(self, event: QEvent) -> bool:
        """Redraw pictures at the resolution of a new screen."""
        if event.type() is QEvent.Type.DevicePixelRatioChange and self._is_built:
            self._use_ratio()
            self.canvas.refresh()
        return super().event(event)

    def _use_ratio(self) -> None:
        for pictures in (self.thumbnails, self.lora_pictures):
            pictures.use_ratio(self.devicePixelRatioF())

    def _in_our_format(self, take: Callable[[Path], object]) -> Callable[[str], None]:
        return lambda path: self._session.pictures.in_our_format(Path(path), take)

    def _reuse(self, what: Reuse) -> Callable[[str], None]:
        return lambda path: self._session.pictures.use_settings(Path(path), what)

    def _with_picture(self, act: Callable[[str], object]) -> Callable[[], None]:
        def triggered() -> None:
            # Other pages have the same actions for their own pictures.
            if self._session.view.path is not None and self.isVisible():
                act(self._session.view.path)

        return triggered


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column
