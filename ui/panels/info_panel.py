"""The line under the canvas: the running job's progress, or the picture's settings."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QSpacerItem,
    QVBoxLayout,
    QWidget,
)

from app.session import Session
from engine.api.request import GenerateRequest
from ui.actions import REUSING, STEERING, ActionName, Actions
from ui.job_labels import job_title
from ui.key_tips import show_key
from ui.labels import settings_summary, size_label
from ui.pictures import ReadPicture
from ui.theme.metrics import CONTROL_HEIGHT, XS, M, S
from ui.theme.theme import Theme
from ui.upscale_button import UpscaleButton
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel
from ui.widgets.word_button import WordButton

_BUTTONS = (
    (ActionName.COPY_PICTURE, "copy"),
    (ActionName.REVEAL, "reveal"),
    (ActionName.TRASH, "trash"),
)


# The least width of the picture's words beside buttons with words, in pixels.
_LEAST_WORDS = 160
# The height of a window from which on two lines of this panel leave room for the picture.
_HIGH = 520
# The height of the line of buttons, which is more than their own where there is room.
_LINE = 40
# The room above and below it in a small window, in pixels.
_LOW = 2
_USE = ActionName.USE_SETTINGS
_OF_A_PICTURE = (
    *REUSING,
    *STEERING,
    ActionName.COPY_PATH,
    ActionName.UPSCALE,
    ActionName.SHOW_ORIGINAL,
)


class InfoPanel(QWidget):
    """Two lines of text, and buttons for actions on the picture."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self._picture: ReadPicture | None = None
        self._actions = actions
        self.setProperty("role", "panel")
        # It makes do with what the canvas above has.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.title = ElidedLabel()
        self.detail = ElidedLabel("caption")
        self.watch = QPushButton(self.tr("Follow live"))
        self.use = WordButton(theme, self.tr("Reuse"), "create")
        show_key(self.use, _USE, actions[_USE].text())
        self.reuse = IconButton(theme, "chevron", self.tr("What to use of it…"), outlined=True)
        self.menu = QMenu(self)
        for name in REUSING:
            self.menu.addAction(actions[name])
        self.start = WordButton(theme, self.tr("Start from this"), "picture")
        show_key(self.start, ActionName.START_FROM, actions[ActionName.START_FROM].text())
        self.upscale = UpscaleButton(session, theme, actions, self._pictures)
        self.buttons = [self._button(theme, name, icon) for name, icon in _BUTTONS]
        self.details = self._button(theme, ActionName.DETAILS, "note")
        self.details.setCheckable(True)
        session.view.details_changed.connect(self.details.setChecked)
        self._lay_out()
        self.use.clicked.connect(actions[_USE].trigger)
        self.reuse.clicked.connect(self._show_menu)
        self.start.clicked.connect(actions[ActionName.START_FROM].trigger)
        self.watch.clicked.connect(session.view.follow)
        session.progress.began.connect(self._refresh)
        session.progress.ended.connect(self._refresh)
        session.view.live_changed.connect(self._refresh)
        session.view.path_changed.connect(self._refresh)
        self._refresh()

    def _pictures(self) -> tuple[str, ...]:
        path = self._session.view.path
        return (path,) if path is not None and self.isVisible() else ()

    def show_picture(self, picture: ReadPicture) -> None:
        """Show the settings of the picture on the canvas."""
        self._picture = picture
        self._refresh()

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.detail)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(M, XS, S, XS)
        self._row.setSpacing(S)
        self._row.addLayout(words, 1)
        self._buttons = row = QHBoxLayout()
        row.setSpacing(S)
        self._row.addLayout(row)
        self._row.setAlignment(row, Qt.AlignmentFlag.AlignTrailing)
        # The button and its menu stand together.
        self._split = split = QHBoxLayout()
        split.setSpacing(XS)
        split.addWidget(self.use)
        split.addWidget(self.reuse)
        row.addWidget(self.watch)
        row.addLayout(split)
        for button in (self.start, self.upscale, *self.buttons, self.details):
            row.addWidget(button)
        self._strut = QSpacerItem(0, _LINE)
        row.addItem(self._strut)

    def show_low(self, *, low: bool) -> None:
        """Leave out the room above and below the buttons."""
        self._strut.changeSize(0, CONTROL_HEIGHT if low else _LINE)
        self._row.setContentsMargins(M, _LOW if low else XS, S, _LOW if low else XS)
        self._row.invalidate()

    def _button(self, theme: Theme, name: ActionName, icon: str) -> IconButton:
        action = self._actions[name]
        button = IconButton(theme, icon, action.text())
        show_key(button, name)
        button.clicked.connect(action.trigger)
        return button

    def _show_menu(self) -> None:
        self.menu.popup(self.reuse.mapToGlobal(self.reuse.rect().bottomLeft()))

    def _refresh(self) -> None:
        progress, view = self._session.progress, self._session.view
        running = progress.job is not None
        live = self._session.pictures.is_live
        if live:
            job = self._session.queue.running
            request = job.generation if job else None
            self._tell(
                (job_title(job) if job else "") or self.tr("Without a prompt"),
                settings_summary(request) if request else "",
            )
        elif view.path is not None:
            self._tell_picture(view.path)
        else:
            folder = self._session.output_pictures.folder
            self._tell(
                self.tr("No picture yet"),
                self.tr("Pictures are saved in {folder}").format(folder=folder),
            )
        has_picture = view.path is not None and not live
        self.watch.setVisible(running and not view.live)
        for button in (self.use, self.reuse, self.start, self.upscale, *self.buttons):
            button.setVisible(has_picture)
        if self.isVisible():
            # Another page enables them by its own pictures.
            for name in (*_OF_A_PICTURE, *(n for n, _ in _BUTTONS)):
                self._actions[name].setEnabled(has_picture)

        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Show icons on buttons whose words leave no room for those of the picture."""
        super().resizeEvent(event)
        self._fit()

    def moveEvent(self, event: QMoveEvent) -> None:  # noqa: N802 (Qt's name)
        """Fold or unfold in a window of another height, whose lower part moved."""
        super().moveEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show words on the buttons, else icons, so that the picture's words have their room.

        Where even icons leave none, and the window is high, the buttons are below the words.
        """
        beside = self._room(worded=True)
        folds = False
        if beside < _LEAST_WORDS:
            folds = self._room(worded=False) < _LEAST_WORDS and self.window().height() >= _HIGH
            if folds and beside >= 0:
                self._room(worded=True)
        direction = QBoxLayout.Direction
        self._row.setDirection(direction.TopToBottom if folds else direction.LeftToRight)

    def _room(self, *, worded: bool) -> int:
        """Show words or icons on the buttons; return the width that is left beside them."""
        for button in (self.use, self.start, self.upscale):
            button.show_words(shown=worded)
        # Only the layout around hears of the buttons' other sizes at once.
        for layout in (self._split, self._buttons):
            layout.invalidate()
        margins = self._row.contentsMargins()
        taken = margins.left() + margins.right() + self._row.spacing()
        return self.width() - taken - self._buttons.minimumSize().width()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Enable the actions by the picture on the canvas again."""
        super().showEvent(event)
        self._refresh()

    def _tell_picture(self, path: str) -> None:
        picture = self._picture
        if picture is None or picture.path != path:
            # The text changes together with the canvas, when the file has been read.
            return
        if picture.image.isNull():
            self._tell(self.tr("This file cannot be shown as a picture."), Path(path).name)
        elif picture.request is None:
            self._tell(Path(path).name, size_label(picture.width, picture.height))
        else:
            settings = settings_summary(picture.request, picture.model)
            self._tell(self._title(picture.request), settings)

    def _title(self, request: GenerateRequest) -> str:
        return request.prompt.strip() or self.tr("Without a prompt")

    def _tell(self, title: str, detail: str) -> None:
        self.title.setText(title)
        self.detail.setText(detail)
