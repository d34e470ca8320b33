"""Safelight's own dialog that asks for a file or a folder."""

import os
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSize
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.form.other_formats import is_of_other_format
from app.library.folder_entries import FolderEntry, fits
from app.library.picture_files import is_picture
from app.paths import exists, is_folder
from ui.action_names import ActionName
from ui.delegates.file_delegate import PictureFileDelegate, RowFileDelegate
from ui.files.file_list import FileList
from ui.files.item_model import FolderItemModel, about
from ui.files.kinds import FileKind, FileQuestion
from ui.files.path_field import PathField
from ui.files.places import PlacesList
from ui.keys import bind_key
from ui.picture_facts import seen
from ui.theme.metrics import CONTROL_HEIGHT, M, S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import PARTED, ElidedLabel, buddy_label
from ui.widgets.line_field import MOST_SEARCHED, LineField
from ui.window_place import room_for

_SIZE = QSize(920, 620)
_SEARCH_WIDTH = 200
# The longest name on a button or a box, in characters.
_MOST_ON_BUTTON = 30


class FileDialog(QDialog):
    """A dialog that asks for a file, a folder or the name of a new file; `answer` has it."""

    def __init__(
        self, theme: Theme, question: FileQuestion, kinds: list[FileKind], parent: QWidget | None
    ) -> None:
        """`kinds` are those of the files that are shown; without any there are folders alone."""
        super().__init__(parent)
        self._theme, self._question, self._kinds = theme, question, kinds
        self._shown = Path()
        # The folders that were shown before, the last one last.
        self._before: list[Path] = []
        # The entry that is to be chosen once the folder is listed.
        self._wanted = ""
        # The path that the user chose; empty if none.
        self.answer = ""
        self.resize(_SIZE.boundedTo(room_for(parent or self)))
        self.model = FolderItemModel(self)
        self.back = IconButton(theme, "back", self.tr("Back"))
        self.up = IconButton(theme, "up", self.tr("To the folder above"))
        self.path = PathField(theme, lambda: self._shown, self._patterns)
        self.search = LineField(MOST_SEARCHED)
        self.places = PlacesList(theme)
        self.list = FileList(theme, self.model, self.tr("Files and folders"))
        self.name = LineField()
        self.kind = ChoiceBox(theme)
        self.about = ElidedLabel("caption")
        self.make = QPushButton(self.tr("Make this folder"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.choose = QPushButton()
        self._fill()
        self._lay_out()
        self._connect()

    def begin(self, start: Path) -> None:
        """Show a folder, or the folder of a file whose name is a suggestion."""
        asks_for_name = self._question is FileQuestion.NEW_FILE
        if asks_for_name:
            self.name.setText(start.name)
            start = start.parent
        self.places.fill(start)
        self._show(start)
        (self.name if asks_for_name else self.list).setFocus()

    def open_folder(self, folder: Path) -> None:
        """Show the entries of a folder."""
        if folder != self._shown:
            self._before.append(self._shown)
            self._show(folder)

    def go_up(self) -> None:
        """Show the folder above; the one that was shown is chosen in it."""
        if self._shown.parent != self._shown:
            self._before.append(self._shown)
            self._show(self._shown.parent, str(self._shown))

    def go_back(self) -> None:
        """Show the folder that was shown before."""
        if self._before:
            self._show(self._before.pop(), str(self._shown))

    def current(self) -> FolderEntry | None:
        """Return the entry that is chosen in the list; None if none is."""
        index = self.list.currentIndex()
        is_chosen = self.list.selectionModel().isSelected(index)
        return self.model.entry_at(index.row()) if is_chosen else None

    def go_to_path(self) -> None:
        """Show the folder whose path is typed, or answer with the file."""
        place = self._typed()
        if is_folder(place):
            self.open_folder(place)
            # Enter again takes a folder that is asked for.
            asks_for_folder = self._question is FileQuestion.FOLDER
            (self.choose if asks_for_folder else self.list).setFocus()
        elif exists(place) and self._question is FileQuestion.FILE:
            self._end(place)
        else:
            can_make = self._question is FileQuestion.FOLDER and is_folder(place.parent)
            self.make.setVisible(can_make)
            self._tell(self.tr("There is nothing at this place."))

    def make_folder(self) -> None:
        """Make the folder whose path is typed, and show it."""
        place = self._typed()
        try:
            place.mkdir()
        except OSError as error:
            self._tell(
                self.tr("The folder cannot be made: {reason}.").format(reason=error.strerror)
            )
        else:
            self.open_folder(place)

    def take(self) -> None:
        """Answer with what is typed or chosen; a folder is opened where a file is asked for."""
        entry, place = self.current(), self._elsewhere()
        if place is not None:
            self._take_typed(place)
        elif self._question is FileQuestion.NEW_FILE:
            self._end(self._new_file())
        elif self._question is FileQuestion.FOLDER:
            self._end(self._shown if entry is None else Path(entry.path))
        elif entry is not None and entry.is_folder:
            self.open_folder(Path(entry.path))
        elif entry is not None:
            self._end(Path(entry.path))

    def done(self, result: int) -> None:
        """Read no more."""
        super().done(result)
        self.path.stop()
        self.model.close()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Make thumbnails as sharp as the screen is."""
        self.model.use_ratio(self.devicePixelRatioF())
        super().showEvent(event)

    def _fill(self) -> None:
        self.path.setAccessibleName(self.tr("Path"))
        self.search.setPlaceholderText(self.tr("Search in this folder"))
        self.search.setAccessibleName(self.tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.search.setFixedWidth(_SEARCH_WIDTH)
        for field in (self.path, self.search, self.name):
            field.setFixedHeight(CONTROL_HEIGHT)
        for kind in self._kinds:
            self.kind.addItem(kind.title, kind.patterns)
        longest = max((len(kind.title) for kind in self._kinds), default=0)
        self.kind.setMinimumContentsLength(min(longest, _MOST_ON_BUTTON))
        self.kind.setAccessibleName(self.tr("Kind of files"))
        self.kind.setVisible(len(self._kinds) > 1)
        self.make.hide()
        self.choose.setProperty("role", "action")
        patterns = self._patterns()
        # Pictures are told apart by looking.
        is_of_pictures = bool(patterns) and all(map(_is_of_pictures, patterns))
        delegate = PictureFileDelegate if is_of_pictures else RowFileDelegate
        self.list.draw_by(delegate(self._theme, self.list))
        for button in (self.make, self.cancel, self.choose):
            button.setAutoDefault(False)

    def _lay_out(self) -> None:
        top, middle, foot = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for row in (top, middle, foot):
            row.setSpacing(S)
        for widget in (self.back, self.up, self.path, self.search):
            top.addWidget(widget)
        middle.addWidget(self.places)
        middle.addWidget(self.list, 1)
        foot.addWidget(self.about, 1)
        for widget in (self.kind, self.make, self.cancel, self.choose):
            foot.addWidget(widget)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(S)
        column.addLayout(top)
        column.addLayout(middle, 1)
        if self._question is FileQuestion.NEW_FILE:
            named = QHBoxLayout()
            named.setSpacing(S)
            named.addWidget(buddy_label(self.tr("Name"), self.name))
            named.addWidget(self.name, 1)
            column.addLayout(named)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.back.clicked.connect(self.go_back)
        self.up.clicked.connect(self.go_up)
        self.path.returnPressed.connect(self.go_to_path)
        self.path.textEdited.connect(self._on_path_edited)
        self.search.textChanged.connect(self._search)
        self.search.returnPressed.connect(self.list.setFocus)
        self.places.chosen.connect(self.open_folder)
        self.list.activated.connect(self._activate)
        self.list.path_begun.connect(self._begin_path)
        self.list.selectionModel().selectionChanged.connect(self._on_chosen)
        self.model.listed.connect(self._on_listed)
        self.kind.activated.connect(self._list_anew)
        self.name.textChanged.connect(self._show_state)
        self.name.returnPressed.connect(self.choose.click)
        self.make.clicked.connect(self.make_folder)
        self.cancel.clicked.connect(self.reject)
        self.choose.clicked.connect(self.take)
        for name, act in (
            (ActionName.FOLDER_ABOVE, self.go_up),
            (ActionName.FOLDER_BEFORE, self.go_back),
            (ActionName.LIST_AGAIN, self._list_anew),
            (ActionName.EDIT_PATH, self._edit_path),
            (ActionName.FIND, self.search.setFocus),
        ):
            bind_key(self, name, act)

    def _show(self, folder: Path, wanted: str = "") -> None:
        """Show a folder; the entry whose path is `wanted` is chosen in it."""
        self._shown, self._wanted = folder, wanted
        self.search.clear()
        self.back.setEnabled(bool(self._before))
        self.up.setEnabled(folder.parent != folder)
        self.path.setText(str(folder))
        self.make.hide()
        self.places.show_folder(folder)
        self.model.show_folder(folder, self._patterns())
        self._show_state()

    def _list_anew(self, *_: object) -> None:
        entry = self.current()
        self._show(self._shown, entry.path if entry is not None else "")

    def _patterns(self) -> tuple[str, ...]:
        return self._kinds[max(self.kind.currentIndex(), 0)].patterns if self._kinds else ()

    def _typed(self) -> Path:
        return self._shown / os.path.expanduser(self.path.text().strip())  # noqa: PTH111

    def _elsewhere(self) -> Path | None:
        """Return the place that is typed; None while the path is of the folder that is shown."""
        place = self._typed()
        return place if place != self._shown else None

    def _take_typed(self, place: Path) -> None:
        if self._question is FileQuestion.FOLDER and is_folder(place):
            self._end(place)
        else:
            self.go_to_path()

    def _new_file(self) -> Path:
        """Return the path of the new file; a name without an ending gets the first kind's."""
        name = self.name.text().strip()
        patterns = self._patterns()
        if patterns and not fits(name, patterns):
            name += patterns[0].removeprefix("*")
        return self._shown / name

    def _search(self, text: str) -> None:
        self.model.search(text)
        self._choose_row(0 if text and self.model.rowCount() else None)
        self._show_state()

    def _on_listed(self) -> None:
        self._choose_row(self.model.row_of(self._wanted))
        if not self.list.currentIndex().isValid():
            # It is seen where the focus is, and arrows begin there.
            first = self.model.index(0)
            flags = QItemSelectionModel.SelectionFlag.NoUpdate
            self.list.selectionModel().setCurrentIndex(first, flags)
        self._show_state()

    def _choose_row(self, row: int | None) -> None:
        if row is not None:
            index = self.model.index(row)
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(index, flags)
            self.list.scrollTo(index)

    def _activate(self, index: QModelIndex) -> None:
        entry = self.model.entry_at(index.row())
        if entry.is_folder:
            self.open_folder(Path(entry.path))
        else:
            self.take()

    def _on_path_edited(self, *_: object) -> None:
        self.make.hide()
        self._show_state()

    def _on_chosen(self, *_: object) -> None:
        entry = self.current()
        if not self.path.hasFocus():
            self.path.setText(str(self._shown))
        if self._question is FileQuestion.NEW_FILE and entry is not None and not entry.is_folder:
            self.name.setText(entry.name)
        self._show_state()

    def _show_state(self, *_: object) -> None:
        """Show what the button would do, and what is chosen."""
        entry, place = self.current(), self._elsewhere()
        if self._question is FileQuestion.FOLDER:
            chosen = place or (self._shown if entry is None else Path(entry.path))
            name = seen(chosen.name or str(chosen))[:_MOST_ON_BUTTON]
            words = self.tr("Choose {name}").format(name=name)
            self.choose.setText(words.replace("&", "&&"))
        elif self._question is FileQuestion.FILE or place is not None:
            self.choose.setText(self.tr("Open"))
            self.choose.setEnabled(entry is not None or place is not None)
        else:
            is_there = exists(self._new_file())
            self.choose.setText(self.tr("Replace") if is_there else self.tr("Save"))
            self.choose.setEnabled(bool(self.name.text().strip()))
        self._tell(PARTED.join((entry.name, about(entry))) if entry is not None else "")
        self.list.tell(self._lack())

    def _lack(self) -> str:
        """Return the sentence in place of the entries; empty if there are some."""
        if self.model.rowCount():
            return ""
        if self.model.is_listing:
            return self.tr("Looking into the folder…")
        if self.model.problem:
            reason = self.model.problem
            return self.tr("The folder cannot be read: {reason}.").format(reason=reason)
        if self.search.text():
            return self.tr("Nothing here has these words in its name.")
        if self._question is FileQuestion.FOLDER:
            return self.tr("There are no folders in this one.")
        return self.tr("There are no files of this kind in this folder.")

    def _tell(self, text: str) -> None:
        self.about.setText(text)

    def _edit_path(self) -> None:
        self.path.setFocus()
        self.path.selectAll()

    def _begin_path(self, sign: str) -> None:
        self.path.setFocus()
        self.path.clear()
        # As if it was typed in the field, which completes it.
        self.path.insert(sign)

    def _end(self, answer: Path) -> None:
        self.answer = str(answer)
        self.accept()


def _is_of_pictures(pattern: str) -> bool:
    return is_picture(Path(pattern)) or is_of_other_format(Path(pattern))
