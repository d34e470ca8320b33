"""The Gallery's search, its grid, and what stands there where nothing is found."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain, compress

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.gallery.habits import GalleryHabits
from app.gallery.index import GalleryIndex
from app.gallery.query import GalleryQuery
from app.gallery.rows import FolderState, Results
from ui.gallery.contents import contents_of
from ui.gallery.grid_model import GridModel
from ui.gallery.grid_view import GridView
from ui.gallery.search_bar import SearchBar
from ui.gallery.tile_painter import TilePainter
from ui.gallery.tile_store import TileStore
from ui.theme.theme import Theme
from ui.widgets.empty_state import EmptyState
from ui.widgets.labels import rule
from ui.widgets.stack import Stack

_Flag = QItemSelectionModel.SelectionFlag
# Beyond these, chosen pictures are not chosen again after the list has changed.
_MOST_KEPT = 5000
_UNREAD = (FolderState.WAITING, FolderState.SCANNING)


class Browser(QWidget):
    """The pictures that a search found, in a grid, and the choice among them."""

    # The chosen pictures, or their marks, changed.
    changed = Signal()
    # The user wants to see the current picture.
    opened = Signal()
    # Emits the id of a picture that was sought, and that no search of this folder finds.
    missed = Signal(int)

    def __init__(
        self, index: GalleryIndex, tiles: TileStore, habits: GalleryHabits, theme: Theme
    ) -> None:
        super().__init__()
        self._index, self._tiles, self._theme = index, tiles, theme
        self._is_stale = True
        # The id of a picture that is to be opened once it is found.
        self._sought: int | None = None
        # Pictures to choose once they are found.
        self._wanted: tuple[int, ...] = ()
        # True while the grid is to have the keys as soon as it has pictures.
        self._is_awaited = False
        # True until the last search is answered.
        self._is_searching = False
        # True while the grid changes to what a search found.
        self._is_taking = False
        # The query whose pictures are in the grid.
        self._shown = GalleryQuery()
        self.setProperty("role", "canvas")
        self.search = SearchBar(habits, theme)
        self.model = GridModel(index, tiles, self)
        self.grid = GridView(self.model, TilePainter(theme, self.font(), self.isRightToLeft), theme)
        self.grid.use_side(habits.habits.side)
        self.clear = QPushButton(self.tr("Clear the search"))
        self.add = QPushButton(self.tr("Add a folder of pictures…"))
        self.no_pictures = EmptyState(theme, "", "", self.add)
        self._stack = Stack()
        self._arrange()
        self._connect()

    @cached_property
    def nothing_found(self) -> EmptyState:
        """The page in the place of the grid where no picture matches, made when it is wanted."""
        page = EmptyState(
            self._theme,
            self.tr("No picture matches"),
            self.tr("Other words, or fewer filters, may find it."),
            self.clear,
        )
        self._stack.addWidget(page)
        return page

    def _arrange(self) -> None:
        # Below the room of the scroll bar, too.
        self._stack.setProperty("role", "canvas")
        self._stack.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        for page in (self.grid, self.no_pictures):
            self._stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.search)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.search.wanted.connect(self.refresh)
        self.search.left.connect(self._go_to_grid)
        self.search.words.textEdited.connect(self._stop_awaiting)
        self.clear.clicked.connect(self.search.forget)
        self.grid.opened.connect(self.opened)
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        self.grid.selectionModel().currentChanged.connect(self._on_chosen)
        self._index.changed.connect(self.refresh)
        self._index.facets_changed.connect(self._on_counted)
        self._index.marked.connect(self._on_marked)
        self._index.folders_changed.connect(self._show_page)

    # The choice.

    @property
    def count(self) -> int:
        """The number of pictures that were found."""
        return len(self.model.ids)

    @property
    def chosen(self) -> list[int]:
        """The ids of the chosen pictures, in order."""
        return [self.model.ids[row] for row in self.grid.rows()]

    @property
    def current(self) -> int | None:
        """The number of the current picture, from 0; None without one."""
        index = self.grid.currentIndex()
        return index.row() if index.isValid() else None

    def enter(self) -> None:
        """Give the keys to the grid, now or as soon as it has pictures."""
        self._is_awaited = self._stack.currentWidget() is not self.grid
        # Qt would give the keys to a hidden grid whenever it is shown, from a search, too.
        if not self._is_awaited:
            self.grid.setFocus()

    def go_to_words(self) -> None:
        """Give the keys to the field for words."""
        self._stop_awaiting()
        self.search.words.setFocus()
        self.search.words.selectAll()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Place the tiles anew where the text is read from the other side."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.LayoutDirectionChange:
            self.grid.lay_out()

    def _stop_awaiting(self) -> None:
        self._is_awaited = False

    def step(self, by: int) -> None:
        """Make the picture so many places further the current and only chosen one."""
        if self.current is not None:
            self.grid.choose(min(max(self.current + by, 0), self.count - 1))

    def seek(self, picture: int) -> None:
        """Open a picture by its id; where the search leaves it out, the search is forgotten."""
        number = self.model.number_of(picture)
        if number is not None:
            self._sought = None
            self.grid.choose(number)
            self.opened.emit()
        elif self._sought is None and self.search.narrows:
            self._sought = picture
            self.search.forget()
        else:
            self._sought = None
            self.missed.emit(picture)

    def choose(self, pictures: Sequence[int]) -> None:
        """Choose pictures by their ids; a search that may leave them out is forgotten."""
        self._wanted = tuple(pictures)
        if self.search.narrows:
            self.search.forget()
        else:
            self.refresh()

    # What is found.

    def refresh(self) -> None:
        """Search again, now or when the page is seen; a viewer needs the list, too."""
        if not self._is_needed:
            self._is_stale = True
            return
        self._is_stale = False
        query = self.search.query
        self._is_searching = True
        self._index.search(query, lambda found: self._take(query, found))

    @property
    def _is_needed(self) -> bool:
        pages = self.parentWidget()
        return pages is not None and pages.isVisible()

    def appear(self) -> None:
        """Search again if something changed while the page was not seen."""
        if self._is_stale:
            self.refresh()

    def _on_chosen(self) -> None:
        # What is chosen again among other pictures is told once, at the end.
        if not self._is_taking:
            self.changed.emit()

    def _on_marked(self, _ids: Sequence[int]) -> None:
        self.model.forget_rows()
        self.grid.viewport().update()
        self.changed.emit()

    def _on_counted(self) -> None:
        self.search.offer(self._index.facets)
        self._show_page()

    def _take(self, query: GalleryQuery, found: Results) -> None:
        """Show what a search found; the choice stays, as far as it was found again."""
        self._is_searching = False
        is_same, self._shown = query == self._shown, query
        there = set(found.ids) if self._wanted else set[int]()
        wanted, self._wanted = [id_ for id_ in self._wanted if id_ in there], ()
        if found.ids == self.model.ids and not wanted:
            self.model.forget_rows()
        else:
            kept, number = set(wanted or self.chosen[:_MOST_KEPT]), self.current
            current = self.model.ids[number] if number is not None else None
            if is_same and number is not None and current not in found.ids:
                current = self._neighbour(number, found.ids)
            current = wanted[0] if wanted else current
            top = self.grid.top_id() if not wanted else None
            today = datetime.now().astimezone().date()
            self._is_taking = True
            self.model.show(contents_of(found.ids, found.times, query.order, today))
            self._choose_again(kept, current, number if is_same else None)
            self._is_taking = False
            self.grid.keep_top(top)
            if wanted:
                self.grid.scrollTo(self.grid.currentIndex())
        self.search.show_found(self.count)
        self._show_page()
        self.changed.emit()
        if self._sought is not None:
            self.seek(self._sought)

    def _neighbour(self, number: int, left: Sequence[int]) -> int | None:
        """Return the id of the picture after a place that is left, else of the one before."""
        there, ids = set(left), self.model.ids
        around = chain(ids[number + 1 :], reversed(ids[:number]))
        return next(filter(there.__contains__, around), None)

    def _choose_again(self, kept: set[int], current: int | None, number: int | None) -> None:
        """Choose pictures by id; if all are gone, the current one, or the one in its place.

        Without a place, as after another search, the first one is chosen: its details are seen.
        """
        if not self.count:
            return
        selection = QItemSelection()
        ids = self.model.ids
        for row in compress(range(len(ids)), map(kept.__contains__, ids)):
            index = self.model.index(row)
            selection.select(index, index)
        at = self.model.number_of(current) if current is not None else None
        if at is None or (number is None and selection.isEmpty()):
            at = min(number or 0, self.count - 1)
        model = self.grid.selectionModel()
        if selection.isEmpty() and (kept or number is None):
            model.setCurrentIndex(self.model.index(at), _Flag.ClearAndSelect)
            return
        model.setCurrentIndex(self.model.index(at), _Flag.NoUpdate)
        model.select(selection, _Flag.ClearAndSelect)

    def _show_page(self) -> None:
        if self.count:
            waited = self._stack.currentWidget() is not self.grid
            had_focus = self._stack.isAncestorOf(self.window().focusWidget() or self) or (
                self._is_awaited and self.search.words.hasFocus()
            )
            self._stack.setCurrentWidget(self.grid)
            if waited and had_focus:
                self.grid.setFocus()
            self._stop_awaiting()
        elif self.search.narrows or self._index.facets.total:
            # Pictures are often counted before the search that will find them is answered.
            if not self._is_searching:
                self._stack.setCurrentWidget(self.nothing_found)
        else:
            self.no_pictures.say(*self._no_pictures_words())
            self._stack.setCurrentWidget(self.no_pictures)

    def _no_pictures_words(self) -> tuple[str, str]:
        """Return a title and a sentence on why there is no picture to be seen."""
        if any(folder.state in _UNREAD for folder in self._index.folders):
            return self.tr("Looking for pictures…"), self.tr(
                "Folders are being read. One on a network may take a while; everything else works "
                "meanwhile."
            )
        return self.tr("Your pictures gather here"), self.tr(
            "Everything you make in Create appears by itself. Folders with pictures from other "
            "programs can be added, too; their files stay where they are."
        )

    def _go_to_grid(self) -> None:
        if self.current is None and self.count:
            self.grid.choose(0)
        self.grid.setFocus()
