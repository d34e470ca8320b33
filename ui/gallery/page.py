"""The page of the Gallery: folders at the side, pictures in the middle, details beside them."""

from collections.abc import Sequence
from functools import cached_property

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.commands.gallery import GalleryCommands
from app.gallery.habits import Habits
from app.gallery.rows import GalleryRow, Trouble
from app.session import Session
from ui.actions import RATING, ActionName, Actions
from ui.escape_key import is_escape_wanted
from ui.gallery.browser import Browser
from ui.gallery.chosen_facts import MOST_TOLD, chosen_facts
from ui.gallery.compare import Comparison
from ui.gallery.deeds import PictureDeeds
from ui.gallery.folders_pane import FoldersPane
from ui.gallery.foot import Foot
from ui.gallery.grid_view import SIDE_STEP
from ui.gallery.labels import chosen_words, name_of, trouble_label
from ui.gallery.picture_bar import COMPARED, PictureBar
from ui.gallery.picture_loader import PictureLoader
from ui.gallery.tile_store import TileStore
from ui.gallery.viewer import Viewer
from ui.keys import bind_key
from ui.picture_facts import Fact, PictureTexts, read_texts
from ui.shared_keys import while_seen
from ui.theme.theme import Theme
from ui.upscale_button import UpscaleButton
from ui.widgets.labels import rule
from ui.widgets.picture_details import PictureDetails
from ui.widgets.stack import Stack

# The least width of the pictures beside the panes, in device-independent pixels.
_LEAST_MIDDLE = 640
_DETAILS = 288
_ON_PAGE = (
    *RATING,
    ActionName.FAVOURITE,
    ActionName.REJECT,
    ActionName.COMPARE,
    ActionName.COPY_SETTINGS,
    ActionName.TRASH_REJECTED,
    ActionName.FIND,
    ActionName.GALLERY_FOLDERS,
    ActionName.READ_FOLDERS,
    ActionName.FULL_SCREEN,
)


class GalleryPage(QWidget):
    """All pictures of the watched folders: found, looked at, compared, judged, used."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._theme, self._actions = session, theme, actions
        self._index, self._habits = session.gallery_index, session.gallery_habits
        self.tiles = TileStore(self._index.thumbnails, self._index.precedence, self)
        self.loader = PictureLoader(self)
        for worker in (self.tiles, self.loader):
            worker.failed.connect(session.notices.tell_error)
        self.folders = FoldersPane(self._index, session.notices, theme)
        self.browser = Browser(self._index, self.tiles, self._habits, theme)
        self.details = PictureDetails(theme)
        self.details.setFixedWidth(_DETAILS)
        self.foot = Foot(theme, actions, self._make_bar)
        self._folders_line = rule(Qt.Orientation.Vertical)
        self._details_line = rule(Qt.Orientation.Vertical)
        self._middle = Stack()
        commands = GalleryCommands(self._index, session.notices, session.pictures.to_trash, self)
        self._deeds = PictureDeeds(session, commands, actions, self, self.meant)
        # The one of these in the middle; a viewer that fills the screen is in none.
        self._shown: QWidget = self.browser
        # The number of the latest request for details.
        self._detailed = 0
        self._lay_out()
        self._connect()
        self._show_habits()
        self.details.make_rows()

    @cached_property
    def viewer(self) -> Viewer:
        """The viewer of one picture, which is made when it is first wanted."""
        viewer = Viewer(self.loader, self._theme)
        self._middle.addWidget(viewer)
        viewer.stepped.connect(self.browser.step)
        viewer.jumped.connect(self._jump)
        viewer.closed.connect(self.browse)
        # A viewer that fills the screen is a window of its own.
        viewer.addActions([self._actions[name] for name in _ON_PAGE])
        viewer.view.addAction(self._actions[ActionName.TRASH])
        return viewer

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of pictures, which is made when it is first wanted."""
        comparison = Comparison(self.loader, self._theme)
        self._middle.addWidget(comparison)
        comparison.closed.connect(self.browse)
        comparison.focus_moved.connect(self._refresh)
        return comparison

    @cached_property
    def upscale(self) -> UpscaleButton:
        """The button of the foot that upscales what is meant."""
        return UpscaleButton(self._session, self._theme, self._actions, self._upscaled)

    def _make_bar(self) -> PictureBar:
        bar = PictureBar(self._theme, self._actions)
        bar.add(self.upscale)
        bar.rated.connect(self._deeds.rate)
        return bar

    def _upscaled(self) -> tuple[str, ...]:
        return self._deeds.paths()

    def meant(self) -> list[int]:
        """Return the ids of the pictures that actions are about."""
        if isinstance(self._shown, Comparison):
            focused = self._shown.focused
            return [focused.id] if focused is not None else []
        if isinstance(self._shown, Viewer):
            return [row.id for row in self._current_row()]
        return self.browser.chosen

    @property
    def entry(self) -> QWidget:
        """The control that a key leads to."""
        return self.browser.grid if self.browser.grid.isVisible() else self.browser.search.words

    @property
    def room_for_messages(self) -> QWidget:
        """The part that messages may lie over: the pictures, above the foot."""
        return self._middle

    @property
    def picture(self) -> str | None:
        """The path of the picture that is meant; None without one, or with several."""
        rows = self._index.rows(self.meant()[:2])
        return rows[0].path if len(rows) == 1 else None

    def open_picture(self, path: str) -> bool:
        """Show a picture in the viewer; return False for one that is in no watched folder."""
        picture = self._index.id_of(path)
        if picture is not None:
            self.browser.seek(picture)
        return picture is not None

    def choose_pictures(self, paths: Sequence[str]) -> None:
        """Choose pictures in the grid, as far as they are in watched folders."""
        found = [id_ for path in paths if (id_ := self._index.id_of(path)) is not None]
        self.browse()
        if found:
            self.browser.choose(found)

    def close_background(self) -> None:
        """Wait for the decoding threads; called when the application ends."""
        self.tiles.close()
        self.loader.close()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Look for what changed meanwhile, and take the actions on pictures over."""
        super().showEvent(event)
        self.browser.appear()
        self._refresh()
        if self._shown is self.browser:
            self.browser.enter()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 (Qt's name)
        """Let go of pictures that are quickly there again."""
        super().hideEvent(event)
        self.tiles.rest()
        self.loader.rest()

    def event(self, event: QEvent) -> bool:
        """Take Esc, which elsewhere cancels what is being made: here it leads back."""
        if is_escape_wanted(event):
            event.accept()
            return True
        return super().event(event)

    def _lay_out(self) -> None:
        self._middle.addWidget(self.browser)
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._middle, 1)
        middle.addWidget(rule(Qt.Orientation.Horizontal))
        middle.addWidget(self.foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.folders)
        row.addWidget(self._folders_line)
        row.addLayout(middle, 1)
        row.addWidget(self._details_line)
        row.addWidget(self.details)

    def _connect(self) -> None:
        browser, grid = self.browser, self.browser.grid
        browser.opened.connect(self._open_viewer)
        browser.changed.connect(self._refresh)
        browser.missed.connect(self._tell_missed)
        browser.add.clicked.connect(self.folders.add_folder)
        grid.customContextMenuRequested.connect(self._show_menu)
        grid.side_changed.connect(self._on_side)
        grid.marked.connect(self._deeds.mark)
        self.folders.chosen.connect(browser.search.look_into)
        self.foot.side_wanted.connect(grid.use_side)
        self._index.facets_changed.connect(self._on_counted)
        self._index.progress.connect(self.foot.show_reading)
        self._index.marked.connect(self._on_marked)
        actions = self._actions
        for name, act in (
            (ActionName.COMPARE, self._compare),
            (ActionName.FIND, while_seen(self, self._find)),
            (ActionName.GALLERY_FOLDERS, self._toggle_folders),
            (ActionName.READ_FOLDERS, self._index.rescan),
            (ActionName.DETAILS, while_seen(self, self._toggle_details)),
            (ActionName.LARGER_TILES, lambda: grid.use_side(grid.side + SIDE_STEP)),
            (ActionName.SMALLER_TILES, lambda: grid.use_side(grid.side - SIDE_STEP)),
            (ActionName.FULL_SCREEN, self._toggle_full_screen),
        ):
            actions[name].triggered.connect(act)
        self.addActions([actions[name] for name in _ON_PAGE])
        # On the canvas the key that undoes everywhere is that of strokes.
        bind_key(self, ActionName.UNDO_IN_GALLERY, actions[ActionName.UNDO_LATEST].trigger)
        for name in (ActionName.LARGER_TILES, ActionName.SMALLER_TILES):
            grid.addAction(actions[name])
        grid.addAction(actions[ActionName.TRASH])

    # Pages in the middle.

    def _current_row(self) -> list[GalleryRow]:
        number = self.browser.current
        row = None if number is None else self.browser.model.row(number)
        return [] if row is None else [row]

    def _open_viewer(self) -> None:
        if self.browser.current is not None:
            self._show(self.viewer)
            self.viewer.view.setFocus()
            self._refresh()

    def _compare(self) -> None:
        rows = self._index.rows(self.browser.chosen[: COMPARED.stop])
        if len(rows) in COMPARED:
            self.comparison.show_rows(rows)
            self._show(self.comparison)
            self._refresh()
        else:
            self._session.notices.tell(
                self.tr("Choose two, three or four pictures to compare them.")
            )

    def browse(self) -> None:
        if isinstance(self._shown, Viewer):
            self._shown.leave_full_screen()
        if isinstance(self._shown, Comparison):
            self._shown.clear()
        self.loader.rest()
        self._show(self.browser)
        self.browser.enter()
        self._refresh()

    def _tell_missed(self, picture: int) -> None:
        row = self._index.row(picture)
        name = name_of(row)[:80] if row is not None else ""
        self._session.notices.tell(
            self.tr("{name} is in another folder than the chosen one.").format(name=name)
        )

    def _find(self) -> None:
        self.browse()
        self.browser.go_to_words()

    def _toggle_full_screen(self) -> None:
        if isinstance(self._shown, Viewer):
            self._shown.toggle_full_screen()

    def _jump(self, way: int) -> None:
        self.browser.step(way * self.browser.count)

    def _show_menu(self, place: QPoint) -> None:
        menu = self._deeds.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.browser.grid.viewport().mapToGlobal(place))

    def _show(self, page: QWidget) -> None:
        self._shown = page
        self._middle.setCurrentWidget(page)

    # What is shown.

    def _refresh(self) -> None:
        """Show the pictures that are meant in the viewer, the details and the buttons."""
        meant = self.meant()
        rows = self._index.rows(meant[:MOST_TOLD])
        is_browsing = self._shown is self.browser
        self._show_panes()
        self.foot.show_choice(rows, len(meant), self.browser.count)
        self.foot.show_browsing(browsing=is_browsing)
        if self.isVisible():
            self._deeds.enable(rows, len(meant))
            self._actions[ActionName.COMPARE].setEnabled(is_browsing and bool(meant))
        if isinstance(self._shown, Viewer):
            self._refresh_viewer()
        self._refresh_details(rows, len(meant))

    def _refresh_viewer(self) -> None:
        number, rows = self.browser.current, self._current_row()
        if number is None or not rows:
            self.browse()
            return
        self.viewer.show_row(rows[0], number, self.browser.count)
        beside = (self.browser.model.row(number + 1), self.browser.model.row(number - 1))
        self.loader.expect(row for row in beside if row is not None)

    def _refresh_details(self, rows: list[GalleryRow], count: int) -> None:
        self._detailed += 1
        number = self._detailed
        if count != 1 or not rows:
            self.details.heading.setText(chosen_words(count))
            self.details.show_facts(chosen_facts(rows, count) if rows else ())
            return
        row = rows[0]

        def show(texts: PictureTexts) -> None:
            if number == self._detailed:
                self.details.heading.setText(self.tr("How it was made"))
                trouble = () if row.trouble is None else (_trouble_fact(row.trouble),)
                self.details.show_facts((*trouble, *texts.facts), texts.settings)

        self._session.background.run(lambda: read_texts(row.path), show)

    def _on_marked(self) -> None:
        panes = self._shown.panes if isinstance(self._shown, Comparison) else ()
        for pane in panes:
            row = self._index.row(pane.row.id)
            if row is not None:
                pane.show_row(row)

    def _on_counted(self) -> None:
        self.folders.show_counts(self._index.facets)

    # Habits.

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Keep the panes only where the pictures have room beside them."""
        super().resizeEvent(event)
        self._show_panes()

    def _show_panes(self) -> None:
        habits, is_browsing = self._habits.habits, self._shown is self.browser
        room = self.width() - _LEAST_MIDDLE
        # Without pictures there is nothing to tell.
        has_pictures = self.browser.count > 0
        details = habits.details_shown and has_pictures and room >= self.details.minimumWidth()
        room -= self.details.minimumWidth() if details else 0
        folders = habits.folders_shown and is_browsing and room >= self.folders.minimumWidth()
        for pane, line, is_shown in (
            (self.folders, self._folders_line, folders),
            (self.details, self._details_line, details),
        ):
            pane.setVisible(is_shown)
            line.setVisible(is_shown)

    def _show_habits(self) -> None:
        habits = self._habits.habits
        self.foot.show_side(self.browser.grid.side)
        self._show_panes()
        self.foot.folders.setChecked(habits.folders_shown)
        self.foot.details.setChecked(habits.details_shown)

    def _keep(self, habits: Habits) -> None:
        self._habits.keep(habits)
        self._show_habits()

    def _on_side(self, side: int) -> None:
        self._keep(msgspec.structs.replace(self._habits.habits, side=side))

    def _toggle_folders(self) -> None:
        habits = self._habits.habits
        self._keep(msgspec.structs.replace(habits, folders_shown=not habits.folders_shown))

    def _toggle_details(self) -> None:
        habits = self._habits.habits
        self._keep(msgspec.structs.replace(habits, details_shown=not habits.details_shown))


def _trouble_fact(trouble: Trouble) -> Fact:
    translate = QCoreApplication.translate
    return Fact(translate("gallery", "Problem"), trouble_label(trouble))
