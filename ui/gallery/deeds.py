"""The Gallery's actions: what keys, buttons and menus do to the pictures that are meant."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.commands.gallery import GalleryCommands
from app.gallery.rows import GalleryRow
from app.session import Session
from ui.actions import RATING, REUSING, STEERING, ActionName, Actions
from ui.gallery.tile_marks import HEART
from ui.item_models.dragged_pictures import files_as_data
from ui.picture_actions import copy_path, copy_picture, reveal
from ui.picture_facts import read_texts
from ui.spoken import say

# The actions on one picture's settings, those on one that can be shown, and on any number of them.
_OF_SETTINGS = (*REUSING, ActionName.COPY_SETTINGS)
_OF_ONE = (*STEERING, ActionName.SHOW_ORIGINAL)
_OF_SHOWN = (ActionName.UPSCALE, ActionName.COPY_PICTURE)
_OF_SOME = (
    ActionName.COPY_PATH,
    ActionName.REVEAL,
    ActionName.TRASH,
    ActionName.FAVOURITE,
    ActionName.REJECT,
    *RATING,
)


class PictureDeeds(QObject):
    """Connects the window's actions to the pictures that `targets` returns, while `page` is seen.

    Actions that fill the form are the window's: it takes the picture from the page.
    """

    def __init__(
        self,
        session: Session,
        commands: GalleryCommands,
        actions: Actions,
        page: QWidget,
        targets: Callable[[], Sequence[int]],
    ) -> None:
        super().__init__(page)
        self._session, self._actions, self._page = session, actions, page
        self._targets = targets
        self._commands = commands
        self._on(ActionName.TRASH, lambda: commands.trash(self._rows()))
        self._on(ActionName.REVEAL, lambda: self._with_first(self._reveal))
        self._on(ActionName.SHOW_ORIGINAL, lambda: self._with_first(session.upscales.show_original))
        self._on(ActionName.COPY_PATH, self._copy_paths)
        self._on(ActionName.COPY_PICTURE, self._copy_pictures)
        self._on(ActionName.COPY_SETTINGS, self._copy_settings)
        self._on(ActionName.FAVOURITE, self.toggle_favourite)
        self._on(ActionName.REJECT, self.toggle_rejected)
        self._on(ActionName.TRASH_REJECTED, commands.trash_rejected)
        for stars, name in enumerate(RATING):
            self._on(name, lambda stars=stars: self.rate(stars))

    def enable(self, rows: Sequence[GalleryRow], count: int) -> None:
        """Enable the actions that `count` pictures allow; `rows` are the first of them."""
        shown = any(row.is_picture for row in rows)
        told = any(row.may_tell_settings for row in rows)
        for names, are_allowed in (
            (_OF_SETTINGS, told and count == 1),
            (_OF_ONE, shown and count == 1),
            (_OF_SHOWN, shown),
            (_OF_SOME, count > 0),
        ):
            for name in names:
                self._actions[name].setEnabled(are_allowed)

    def rate(self, stars: int) -> None:
        """Give the pictures stars."""
        self._commands.rate(self._targets(), stars)
        self._say(self._actions[RATING[stars]].text())

    def mark(self, picture: int, mark: int) -> None:
        """Mark one picture, or take the mark away that it has; marks are those of `tile_marks`."""
        for row in self._session.gallery_index.rows((picture,)):
            if mark == HEART:
                self._commands.favour((picture,), favourite=not row.favourite)
            else:
                self._commands.rate((picture,), 0 if row.rating == mark else mark)

    def toggle_favourite(self) -> None:
        """Make the pictures favourites, or ordinary ones if all are."""
        are_marked = all(row.favourite for row in self._rows())
        self._commands.favour(self._targets(), favourite=not are_marked)
        self._say(self.tr("No favourite") if are_marked else self.tr("Favourite"))

    def toggle_rejected(self) -> None:
        """Reject the pictures, or take them back if all are rejected."""
        are_marked = all(row.rejected for row in self._rows())
        self._commands.reject(self._targets(), rejected=not are_marked)
        self._say(self.tr("Not rejected") if are_marked else self.tr("Rejected"))

    def _say(self, mark: str) -> None:
        """Have the mark of one picture said; a message tells of several."""
        if len(self._targets()) == 1:
            say(self._page, mark)

    def menu(self) -> QMenu:
        """Return a menu of everything that can be done with the pictures."""
        menu = QMenu(self._page)
        is_single = len(self._targets()) == 1
        groups = (
            (*REUSING, *STEERING) if is_single else (ActionName.COMPARE,),
            (ActionName.UPSCALE, ActionName.SHOW_ORIGINAL) if is_single else (ActionName.UPSCALE,),
            (ActionName.FAVOURITE, ActionName.REJECT),
            (ActionName.REVEAL, ActionName.COPY_PICTURE, ActionName.COPY_PATH),
            (ActionName.COPY_SETTINGS,) if is_single else (),
            (ActionName.TRASH,),
        )
        for names in filter(None, groups):
            menu.addSeparator()
            for name in names:
                menu.addAction(self._actions[name])
        rating = QMenu(self.tr("Rating"), menu)
        for name in reversed(RATING):
            rating.addAction(self._actions[name])
        menu.insertMenu(self._actions[ActionName.REVEAL], rating)
        return menu

    def paths(self) -> tuple[str, ...]:
        """Return the paths of the pictures, while the page is seen."""
        return tuple(row.path for row in self._rows()) if self._page.isVisible() else ()

    def _on(self, name: ActionName, act: Callable[[], object]) -> None:
        def triggered() -> None:
            if self._page.isVisible():
                act()

        self._actions[name].triggered.connect(triggered)

    def _rows(self) -> list[GalleryRow]:
        return self._session.gallery_index.rows(self._targets())

    def _with_first(self, act: Callable[[str], object]) -> None:
        rows = self._rows()[:1]
        if rows:
            act(rows[0].path)

    def _reveal(self, path: str) -> None:
        reveal(path, self._session.notices)

    def _copy_paths(self) -> None:
        copy_path("\n".join(row.path for row in self._rows()))

    def _copy_pictures(self) -> None:
        """Copy one picture as an image and a file, several as files."""
        rows = self._rows()
        if len(rows) == 1:
            copy_picture(rows[0].path, self._session.background)
        elif rows:
            QGuiApplication.clipboard().setMimeData(files_as_data(row.path for row in rows))

    def _copy_settings(self) -> None:
        def copy(path: str) -> None:
            copied = QGuiApplication.clipboard().setText
            self._session.background.run(lambda: read_texts(path).copied, copied)

        self._with_first(copy)
