"""The strip of earlier pictures, newest first."""

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QListView, QMenu, QWidget

from app.session import Session
from ui.actions import REUSING, STEERING, ActionName, Actions
from ui.delegates.picture_delegate import CELL, CELL_LEAST, PictureDelegate
from ui.item_models.output_picture_item_model import PATH_ROLE, OutputPictureItemModel
from ui.theme.metrics import XS
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore

_BATCH = 500
_SCROLL_BAR = 10


class StripPanel(QListView):
    """A row of thumbnails; the canvas shows the current one."""

    # Emits the path of a picture that the user selected.
    chosen = Signal(str)

    def __init__(
        self, session: Session, theme: Theme, actions: Actions, thumbnails: ThumbnailStore
    ) -> None:
        super().__init__()
        self._session = session
        self._theme = theme
        self._actions = actions
        self.pictures = OutputPictureItemModel(session.output_pictures, thumbnails, self)
        self.setModel(self.pictures)
        self._delegate = PictureDelegate(theme, self)
        self.setItemDelegate(self._delegate)
        self._set_up()
        self.addAction(actions[ActionName.TRASH])
        self.customContextMenuRequested.connect(self._show_menu)
        self.selectionModel().currentChanged.connect(self._on_current)
        session.view.path_changed.connect(self._show_current)
        self.pictures.rowsInserted.connect(self._show_current)
        self.pictures.modelReset.connect(self._show_current)
        session.view.live_changed.connect(self._show_current)
        session.progress.began.connect(self._show_current)
        session.progress.ended.connect(self._show_current)
        theme.changed.connect(self.viewport().update)

    def _set_up(self) -> None:
        self.setAccessibleName(self.tr("Earlier pictures"))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(False)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Fixed)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(_BATCH)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        self.setDragEnabled(True)
        self.show_small(small=False)

    def show_small(self, *, small: bool) -> None:
        """Show small pictures without a scroll bar, which wheel and keys scroll all the same."""
        policy = Qt.ScrollBarPolicy
        cell = CELL_LEAST if small else CELL
        self._delegate.cell = cell
        self.setGridSize(QSize(cell, cell))
        self.setIconSize(QSize(cell - 2 * XS, cell - 2 * XS))
        self.setHorizontalScrollBarPolicy(
            policy.ScrollBarAlwaysOff if small else policy.ScrollBarAsNeeded
        )
        self.setFixedHeight(cell if small else cell + _SCROLL_BAR)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the pictures, or an explanation if there are none."""
        super().paintEvent(event)
        if self.pictures.rowCount() == 0:
            with QPainter(self.viewport()) as painter:
                painter.setPen(QColor(self._theme.colours.muted))
                place = self.viewport().rect()
                text = self.tr("Pictures you make are kept here")
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _on_current(self, current: QModelIndex) -> None:
        path = current.data(PATH_ROLE)
        session = self._session
        shown = session.view.path
        if shown is not None and self._is_moving(shown):
            return
        if isinstance(path, str) and (path != shown or session.pictures.is_live):
            self.chosen.emit(path)

    def _is_moving(self, path: str) -> bool:
        """Return True while the row of a picture that was changed is taken to another place."""
        pictures = self._session.output_pictures
        return pictures.find(path) is not None and pictures.row_of(path) is None

    def _show_current(self) -> None:
        """Select the shown picture without emitting `chosen`."""
        path = self._session.view.path
        if path is None or self._session.pictures.is_live:
            self.selectionModel().clear()
            return
        index = self.pictures.index_of(path)
        selected = self.selectionModel().isSelected(index)
        if index.isValid() and not (selected and index == self.currentIndex()):
            self.selectionModel().setCurrentIndex(
                index, QItemSelectionModel.SelectionFlag.ClearAndSelect
            )
            self.scrollTo(index)

    def _show_menu(self, place: QPoint) -> None:
        menu = picture_menu(self._actions, self)
        menu.popup(self.viewport().mapToGlobal(place))


def picture_menu(actions: Actions, parent: QWidget) -> QMenu:
    """Return a menu of actions on the picture that is shown."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for name in (*REUSING, *STEERING):
        menu.addAction(actions[name])
    menu.addSeparator()
    for name in (ActionName.UPSCALE, ActionName.SHOW_ORIGINAL):
        menu.addAction(actions[name])
    menu.addSeparator()
    for name in (ActionName.REVEAL, ActionName.COPY_PICTURE, ActionName.COPY_PATH):
        menu.addAction(actions[name])
    menu.addSeparator()
    menu.addAction(actions[ActionName.TRASH])
    return menu
