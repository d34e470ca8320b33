"""The grid of thumbnails: laid out by arithmetic, drawn where it is seen."""

from collections.abc import Callable

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView

from ui.action_names import ActionName
from ui.gallery.grid_headings import heading_at, heading_places
from ui.gallery.grid_layout import HEADING, INSET, MARGIN, GridLayout
from ui.gallery.grid_model import GridModel
from ui.gallery.grid_moves import MOVING_KEYS, moved, selected_rows
from ui.gallery.tile_painter import Pointed, TilePainter, TileState
from ui.item_models.dragged_pictures import drag_out
from ui.keys import bind_key
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.quiet_bar import QuietBar

AnyIndex = QModelIndex | QPersistentModelIndex
LEAST_SIDE, MOST_SIDE, SIDE_STEP = 96, 320, 16
# Of a mouse wheel, in eighths of a degree.
_STEP_OF_WHEEL = 120
_KEYPAD = Qt.KeyboardModifier.KeypadModifier
_CHOOSING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_Flag = QItemSelectionModel.SelectionFlag


class GridView(QListView):
    """A view of a `GridModel` as square tiles under the dates of its sections.

    Built on Qt's list for its selection, drags and accessibility; the layout is our own, which
    takes no time for a hundred thousand tiles and has headings.
    """

    # The user wants to see one picture: a double click, or a key.
    opened = Signal()
    # Another size of tiles, by the wheel or keys.
    side_changed = Signal(int)
    # A mark was clicked: the picture's id and the mark, as `tile_marks` numbers them.
    marked = Signal(int, int)

    def __init__(self, model: GridModel, painter: TilePainter, theme: Theme) -> None:
        super().__init__()
        self._grid = model
        self._tiles = painter
        self._theme = theme
        self._side = 160
        self._pointed = Pointed()
        self._wheel = 0
        self._band = QRect()
        # From a press on a heading or a mark until it ends: such a press drags nothing.
        self._drags_nothing = False
        self.layout_ = GridLayout((), 1, self._side, headed=True, mirrored=False)
        self.setModel(model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # It always has its room: a width that changed with the height would be laid out twice.
        self.setVerticalScrollBar(QuietBar())
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMovement(QListView.Movement.Static)
        self.setDragEnabled(True)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setAccessibleName(self.tr("Pictures"))
        model.modelReset.connect(self.lay_out)
        self.doubleClicked.connect(self.opened)
        bind_key(self, ActionName.SHOW_LARGE, self.opened.emit)
        theme.changed.connect(self.viewport().update)

    @property
    def side(self) -> int:
        """The least side of a tile in pixels."""
        return self._side

    def use_side(self, side: int) -> None:
        """Draw tiles of another size; the picture in the middle stays where it is."""
        side = min(max(side, LEAST_SIDE), MOST_SIDE)
        if side != self._side:
            self._side = side
            self._keeping_place(self.lay_out)
            self.side_changed.emit(side)

    def rows(self) -> list[int]:
        """Return the chosen rows, ascending."""
        return selected_rows(self.selectionModel())

    def choose(self, row: int) -> None:
        """Choose one picture and show it."""
        index = self._grid.index(row)
        if index.isValid():
            self.selectionModel().setCurrentIndex(index, _Flag.ClearAndSelect)
            self.scrollTo(index)

    def visible_rows(self) -> range:
        """Return the rows that are seen."""
        top = self.verticalScrollBar().value()
        return self.layout_.rows_between(top, top + self.viewport().height())

    def top_id(self) -> int | None:
        """Return the id of the first picture that is seen, None at the top of the grid."""
        seen = self.visible_rows()
        return self._grid.ids[seen.start] if seen and self.verticalOffset() else None

    def keep_top(self, picture: int | None) -> None:
        """Scroll until a picture is the first one again; None stays at the top."""
        row = self._grid.number_of(picture) if picture is not None else None
        if row is not None:
            self.verticalScrollBar().setValue(self.layout_.tile(row).top() - HEADING)

    # What Qt asks of a view.

    def visualRect(self, index: AnyIndex) -> QRect:  # noqa: N802 (Qt's name)
        """Return the place of a tile in the viewport."""
        if not index.isValid() or index.row() >= self.layout_.count:
            return QRect()
        return self.layout_.tile(index.row()).translated(0, -self.verticalOffset())

    def indexAt(self, p: QPoint) -> QModelIndex:  # noqa: N802 (Qt's name)
        """Return the tile at a place in the viewport; none under the heading that stays."""
        if self.layout_.headed and p.y() < HEADING:
            return QModelIndex()
        row = self.layout_.row_at(p + QPoint(0, self.verticalOffset()))
        return QModelIndex() if row is None else self._grid.index(row)

    def scrollTo(  # noqa: N802 (Qt's name)
        self,
        index: AnyIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Scroll until a tile is seen whole."""
        if not index.isValid() or index.row() >= self.layout_.count:
            return
        tile, bar = self.layout_.tile(index.row()), self.verticalScrollBar()
        above = tile.top() - (HEADING if self.layout_.headed else MARGIN)
        below = tile.bottom() + S - self.viewport().height()
        if hint is QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue((above + below) // 2)
        elif above < bar.value():
            bar.setValue(above)
        elif below > bar.value():
            bar.setValue(below)

    def verticalOffset(self) -> int:  # noqa: N802 (Qt's name)
        """Return how far the grid is scrolled, in pixels."""
        return self.verticalScrollBar().value()

    def horizontalOffset(self) -> int:  # noqa: N802 (Qt's name)
        """Return 0: the grid is as wide as its view."""
        return 0

    def isIndexHidden(self, index: AnyIndex) -> bool:  # noqa: N802 (Qt's name)
        """Return False: every picture has a tile."""
        return False

    def doItemsLayout(self) -> None:  # noqa: N802 (Qt's name)
        """Lay the tiles out."""
        self.lay_out()

    def updateGeometries(self) -> None:  # noqa: N802 (Qt's name)
        """Set the scroll bar's range to the grid's height."""
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(self.layout_.height - height, 0))
        bar.setPageStep(height)
        bar.setSingleStep(max(self.layout_.pitch // 3, 1))

    def moveCursor(  # noqa: N802 (Qt's name)
        self,
        cursorAction: QAbstractItemView.CursorAction,  # noqa: N803
        modifiers: Qt.KeyboardModifier,
    ) -> QModelIndex:
        """Return the tile that a key leads to."""
        grid = self.layout_
        if not grid.count:
            return QModelIndex()
        current = self.currentIndex()
        if not current.isValid():
            return self._grid.index(self.visible_rows().start)
        lines = max(self.viewport().height() // grid.pitch - 1, 1)
        row = moved(grid, current.row(), cursorAction, lines, mirrored=self.isRightToLeft())
        return self._grid.index(row)

    def setSelection(self, rect: QRect, command: _Flag) -> None:  # noqa: N802 (Qt's name)
        """Choose tiles: those that a rubber band touches, or all from one tile to another."""
        shift = QPoint(0, self.verticalOffset())
        if self.state() is QAbstractItemView.State.DragSelectingState:
            self._band = rect.normalized()
            spans = self.layout_.spans_in(self._band.translated(shift))
            self.viewport().update()
        else:
            ends = [self.layout_.nearest(p + shift) for p in (rect.topLeft(), rect.bottomRight())]
            rows = sorted(row for row in ends if row is not None)
            spans = [(rows[0], rows[-1])] if rows else []
        chosen = QItemSelection()
        for first, last in spans:
            chosen.select(self._grid.index(first), self._grid.index(last))
        self.selectionModel().select(chosen, command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:  # noqa: N802 (Qt's name)
        """Return what a change of the choice may repaint: everything that is seen."""
        return QRegion(self.viewport().rect())

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: N802 (Qt's name)
        """Draw the view anew: moving its pixels would move the heading that stays, too."""
        self._point_to(Pointed())
        self.viewport().update()

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 (Qt's name)
        """Do nothing: letters are keys of the Gallery."""

    def startDrag(self, supportedActions: Qt.DropAction) -> None:  # noqa: N802, N803 (Qt's)
        """Drag the chosen pictures out as files, to be copied."""
        indexes = self.selectedIndexes()
        if not indexes:
            return
        pixmap = self._grid.pixmap(self.currentIndex().row())
        drag_out(self, self._grid.mimeData(indexes), pixmap)

    # Events.

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Lay the tiles out in the new width; the picture in the middle stays."""
        if event.size().width() != event.oldSize().width():
            self._keeping_place(self.lay_out)
        else:
            self.updateGeometries()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Choose none by Esc; others move."""
        if event.key() == Qt.Key.Key_Escape:
            self.clearSelection()
        else:
            super().keyPressEvent(event)
            self._choose_where_keys_ended(event)

    def _choose_where_keys_ended(self, event: QKeyEvent) -> None:
        """Choose the current tile by a key that leads to it: Qt chooses only what it moves to."""
        current = self.currentIndex()
        moves = event.key() in MOVING_KEYS and not event.modifiers() & ~_KEYPAD
        if moves and current.isValid() and not self.selectedIndexes():
            self.choose(current.row())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Give a tile the mark that is clicked, choose what is under a heading; others are Qt's."""
        place = event.position().toPoint()
        section, mark = self._heading_at(place), self._mark_at(place)
        if event.button() is not Qt.MouseButton.LeftButton or (section is None and mark is None):
            super().mousePressEvent(event)
            return
        self._drags_nothing = True
        if section is not None:
            self._choose_section(section, event.modifiers())
        elif mark is not None:
            self.marked.emit(self._grid.ids[self.indexAt(place).row()], mark)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Take the second of two quick clicks on a mark for a click: it opens no picture."""
        if self._mark_at(event.position().toPoint()) is None:
            super().mouseDoubleClickEvent(event)
        else:
            self.mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Highlight the tile, its mark or the heading under the pointer."""
        place = event.position().toPoint()
        index, section, mark = self.indexAt(place), self._heading_at(place), self._mark_at(place)
        self._point_to(Pointed(index.row() if index.isValid() else None, section, mark))
        is_plain = section is None and mark is None
        shape = Qt.CursorShape.ArrowCursor if is_plain else Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(shape)
        if not self._drags_nothing:
            super().mouseMoveEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Highlight nothing once the pointer has left."""
        if event.type() is QEvent.Type.Leave:
            self._point_to(Pointed())
        return super().viewportEvent(event)

    def mouseReleaseEvent(self, e: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """End a rubber band."""
        super().mouseReleaseEvent(e)
        self._drags_nothing = False
        if not self._band.isNull():
            self._band = QRect()
            self.viewport().update()

    def wheelEvent(self, e: QWheelEvent) -> None:  # noqa: N802 (Qt's name)
        """Scroll; with Ctrl, change the size of the tiles."""
        if not e.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(e)
            return
        e.accept()
        # Touchpads send fractions of a step.
        self._wheel += e.angleDelta().y()
        steps = int(self._wheel / _STEP_OF_WHEEL)
        self._wheel -= steps * _STEP_OF_WHEEL
        self.use_side(self._side + steps * SIDE_STEP)

    def paintEvent(self, e: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the tiles and headings that are seen, and the rubber band."""
        offset = self.verticalOffset()
        current = self.currentIndex().row() if self.hasFocus() else None
        with QPainter(self.viewport()) as painter:
            painter.fillRect(self.viewport().rect(), QColor(self._theme.colours.canvas))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setLayoutDirection(self.layoutDirection())
            for row in self.visible_rows():
                place = self.layout_.tile(row).translated(0, -offset)
                if (picture := self._grid.row(row)) is not None:
                    pixmap = self._grid.pixmap(row)
                    state = self._state(row, is_current=row == current)
                    self._tiles.paint(painter, place, picture, pixmap, state)
            self._paint_headings(painter, offset)
            if not self._band.isNull():
                self._tiles.paint_band(painter, self._band)

    def _paint_headings(self, painter: QPainter, offset: int) -> None:
        for section, place in heading_places(self.layout_, offset, self.viewport().height()):
            title, count = self._grid.sections[section].title, self.layout_.size(section)
            is_hovered = section == self._pointed.section
            self._tiles.paint_heading(painter, place, title, count, hovered=is_hovered)

    def _heading_at(self, place: QPoint) -> int | None:
        return heading_at(self.layout_, self.verticalOffset(), self.viewport().height(), place)

    def _mark_at(self, place: QPoint) -> int | None:
        """Return the mark at a place; none while keys choose, which a click then does, too."""
        index = self.indexAt(place)
        picture = self._grid.row(index.row()) if index.isValid() else None
        if picture is None or QApplication.keyboardModifiers() & _CHOOSING:
            return None
        pixmap = self._grid.pixmap(index.row())
        return self._tiles.mark_at(self.visualRect(index), picture, pixmap, place)

    def _choose_section(self, section: int, modifiers: Qt.KeyboardModifier) -> None:
        """Choose a section's pictures alone; with Ctrl add them, or take them out again."""
        first = self.layout_.first(section)
        last = first + self.layout_.size(section) - 1
        chosen = QItemSelection(self._grid.index(first), self._grid.index(last))
        model, command = self.selectionModel(), _Flag.ClearAndSelect
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            are_chosen = set(range(first, last + 1)) <= set(self.rows())
            command = _Flag.Deselect if are_chosen else _Flag.Select
        model.setCurrentIndex(self._grid.index(first), _Flag.NoUpdate)
        model.select(chosen, command)

    def _state(self, row: int, *, is_current: bool) -> TileState:
        is_chosen = self.selectionModel().isSelected(self._grid.index(row))
        is_pointed = row == self._pointed.row
        return TileState(is_chosen, is_current, is_pointed, self._pointed.mark)

    def _point_to(self, pointed: Pointed) -> None:
        if pointed != self._pointed:
            self._pointed = pointed
            self.viewport().update()

    def lay_out(self) -> None:
        """Place the tiles anew."""
        sections = self._grid.sections
        self.layout_ = GridLayout(
            [section.count for section in sections],
            self.viewport().width(),
            self._side,
            headed=any(section.title for section in sections),
            mirrored=self.isRightToLeft(),
        )
        self._grid.use_side(self.layout_.side - 2 * INSET, self.devicePixelRatioF())
        self.updateGeometries()
        self.viewport().update()

    def _keeping_place(self, change: Callable[[], None]) -> None:
        """Change the layout; the current tile, if it is seen, or the first one stays in view."""
        seen, current = self.visible_rows(), self.currentIndex().row()
        row = current if current in seen else seen.start
        before = self.layout_.tile(row).top() - self.verticalOffset() if seen else 0
        change()
        if row < self.layout_.count:
            self.verticalScrollBar().setValue(self.layout_.tile(row).top() - before)
