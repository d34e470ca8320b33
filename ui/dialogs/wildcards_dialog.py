"""The dialog of the word lists that prompts name: list, create, edit, delete."""

from functools import partial
from itertools import chain, count

from PySide6.QtCore import QCoreApplication, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.form.trigger_words import with_words
from app.library.trash import Trashed
from app.library.wildcards import MOST_BYTES, Lack, WordList, is_list_name
from app.session import Session
from ui.labels import file_size
from ui.picture_actions import open_folder
from ui.theme.metrics import CONTROL_HEIGHT, L, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, buddy_label, plain_label, rule
from ui.widgets.line_field import LineField
from ui.widgets.text_field import LONGEST_LINE, TextField
from ui.window_place import room_for

translate = QCoreApplication.translate

_SIZE = QSize(720, 520)
_LIST_WIDTH = 240
# Models read English; the starter knows these, too.
_EXAMPLE = WordList("sky", "at night\nat sunset\nunder a blue sky\nunder a starry sky\n")
# Entries are kept in a pause of typing of this length.
_PAUSE_MS = 800
# Of a list.
_MOST_CHARACTERS = 1_000_000
# Of one that can only be looked at.
_MOST_LOOKED_AT = 20_000


class WildcardsDialog(QDialog):
    """Lists at the side, the chosen one as a text to edit; what is edited is saved when left."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._store = session, session.wildcards
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Lists of words"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.names = QListWidget()
        self.names.setAccessibleName(self.tr("Lists"))
        self.none = plain_label(self._about_lists(), "note", wrap=True)
        self.example = QPushButton(self.tr("Begin with an example"))
        self.example.setProperty("role", "link")
        self.name = LineField()
        self.name.setFixedHeight(CONTROL_HEIGHT)
        self.name.setPlaceholderText(self.tr("Name, e.g. animal"))
        self.text = TextField(_MOST_CHARACTERS)
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText(
            self.tr("One entry a line. A picture takes one of them, drawn with its seed.")
        )
        self.about = plain_label("", "caption", wrap=True)
        self.new = IconButton(theme, "plus", self.tr("New list"), outlined=True)
        self.delete = IconButton(theme, "trash", self.tr("Move the list to the trash"))
        self.folder = IconButton(theme, "reveal", self.tr("Open the folder"))
        self.save = QPushButton(self.tr("Save"))
        self.use = QPushButton(self.tr("Add to the prompt"))
        self.undo = QPushButton(self.tr("Undo"))
        self.undo.setProperty("role", "link")
        self.close_button = QPushButton(self.tr("Close"))
        # The list that is shown as it is in its file; None for a new one.
        self._shown: WordList | None = None
        # Its name and text as the fields have them: Qt's document changes some signs.
        self._as_shown = "", ""
        self._trashed: Trashed | None = None
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._lay_out()
        self._connect()
        self._fill()
        self._choose(self._store.lists[0].name if self._store.lists else "")
        (self.names if self._store.lists else self.name).setFocus()

    def _about_lists(self) -> str:
        return self.tr(
            "No lists yet. A prompt with __sky__ in it has another of your words for the sky "
            "in each picture."
        )

    def begin(self, name: str) -> None:
        """Begin a new list of this name."""
        self._leave()
        self.names.setCurrentRow(-1)
        self._show_list(None)
        self.name.setText(name)
        (self.text if name else self.name).setFocus()

    def _begin_example(self) -> None:
        self.begin(_EXAMPLE.name)
        self.text.setPlainText(_EXAMPLE.text)

    def done(self, arg__1: int) -> None:
        """Save what was edited, and close."""
        self._leave()
        super().done(arg__1)

    def _side(self) -> QWidget:
        """Return the lists, or words on them where there are none, above their buttons."""
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        for button in (self.new, self.delete, self.folder):
            buttons.addWidget(button)
        buttons.addStretch()
        lists = QWidget()
        lists.setFixedWidth(_LIST_WIDTH)
        side = QVBoxLayout(lists)
        side.setContentsMargins(0, 0, 0, 0)
        side.setSpacing(S)
        side.addWidget(self.names, 1)
        side.addWidget(self.none)
        side.addWidget(self.example, 0, Qt.AlignmentFlag.AlignLeading)
        side.addStretch()
        side.addLayout(buttons)
        return lists

    def _lay_out(self) -> None:
        main = QVBoxLayout()
        main.setSpacing(S)
        main.addWidget(buddy_label(self.tr("Name"), self.name))
        main.addWidget(self.name)
        main.addWidget(buddy_label(self.tr("Entries"), self.text))
        main.addWidget(self.text, 1)
        main.addWidget(self.about)
        both = QHBoxLayout()
        both.setContentsMargins(L, L, L, M)
        both.setSpacing(M)
        both.addWidget(self._side())
        both.addLayout(main, 1)
        below = QHBoxLayout()
        below.setContentsMargins(L, M, L, M)
        below.setSpacing(S)
        below.addWidget(self.use)
        below.addWidget(self.undo)
        below.addStretch()
        below.addWidget(self.save)
        below.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(both, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addLayout(below)
        self.undo.hide()

    def _connect(self) -> None:
        self.names.currentItemChanged.connect(self._on_chosen)
        self.text.textChanged.connect(self._describe)
        self.text.textChanged.connect(self._pause.start)
        self._pause.timeout.connect(self._keep)
        self.text.shortened.connect(self._on_shortened)
        self.name.textChanged.connect(self._describe)
        self.new.clicked.connect(partial(self.begin, ""))
        self.example.clicked.connect(self._begin_example)
        self.delete.clicked.connect(self._delete)
        self.folder.clicked.connect(self._open_folder)
        self.save.clicked.connect(self._save)
        self.use.clicked.connect(self._use)
        self.undo.clicked.connect(self._put_back)
        self.close_button.clicked.connect(self.accept)
        self._store.changed.connect(self._on_changed)
        self._store.trashed.connect(self._on_trashed)

    @property
    def _is_edited(self) -> bool:
        return (self.name.text(), self.text.toPlainText()) != self._as_shown

    @property
    def _problem(self) -> str:
        """The reason why the list cannot be saved; empty if it can."""
        name = self.name.text()
        if not name:
            return self.tr("Give the list a name.")
        if not is_list_name(name):
            return self.tr("A name has letters, digits, spaces, - and /, and no __.")
        is_other = self._shown is None or self._shown.name != name
        if is_other and self._store.find(name) is not None:
            return self.tr("There is a list of this name.")
        return ""

    def _fill(self) -> None:
        shown = self._shown.name if self._shown else ""
        self.names.blockSignals(True)
        self.names.clear()
        for words in self._store.lists:
            item = QListWidgetItem(f"{words.name} · {len(words.entries)}")
            item.setData(Qt.ItemDataRole.UserRole, words.name)
            self.names.addItem(item)
            if words.name == shown:
                self.names.setCurrentItem(item)
        self.names.blockSignals(False)
        has_lists = bool(self._store.lists)
        self.names.setVisible(has_lists)
        for widget in (self.none, self.example):
            widget.setVisible(not has_lists)

    def _choose(self, name: str) -> None:
        for row in range(self.names.count()):
            if self.names.item(row).data(Qt.ItemDataRole.UserRole) == name:
                self.names.setCurrentRow(row)
                return
        self._show_list(None)

    def _show_list(self, words: WordList | None) -> None:
        self._shown = words
        self.name.setText(words.name if words else "")
        text = words.text if words else ""
        if words is not None and words.lack is not None:
            # Nothing is lost by it, and a long text takes seconds to be laid out.
            text = text[:_MOST_LOOKED_AT]
        is_wrapped = all(len(line) <= LONGEST_LINE for line in text.split("\n"))
        mode = QPlainTextEdit.LineWrapMode
        self.text.setLineWrapMode(mode.WidgetWidth if is_wrapped else mode.NoWrap)
        self.text.setPlainText(text)
        self._as_shown = self.name.text(), self.text.toPlainText()
        for field in (self.name, self.text):
            field.setReadOnly(words is not None and words.lack is not None)
        self._describe()

    def _on_chosen(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        name = item.data(Qt.ItemDataRole.UserRole)
        self._leave()
        self._show_list(self._store.find(name))

    def _on_changed(self) -> None:
        found = self._store.find(self._shown.name) if self._shown else None
        if not self._is_edited and found != self._shown:
            # Another program may have written the list, or deleted it.
            self._show_list(found)
        self._fill()

    def _describe(self) -> None:
        """Tell how a prompt names the list, and how many entries it has."""
        one = WordList(self.name.text(), self.text.toPlainText())
        problem = self._problem if self._is_edited else ""
        if problem:
            text = problem
        elif self._shown is not None and self._shown.lack is not None:
            text = _lack_words(self._shown.lack)
        elif one.name:
            text = (
                self.tr("Write __{name}__ in the prompt. 1 entry, such as: {some}")
                if len(one.entries) == 1
                else self.tr("Write __{name}__ in the prompt. {n} entries, such as: {some}")
            )
            some = ", ".join(one.entries[:4])
            text = text.format(name=one.name, n=len(one.entries), some=some[:80] or "–")  # noqa: RUF001
        else:
            text = self.tr("A prompt names a list with two underscores on each side: __animal__.")
        self.about.setText(breakable(text))
        self.save.setEnabled(self._is_edited and not problem)
        self.delete.setEnabled(self._shown is not None)
        self.use.setEnabled(bool(one.name) and not problem)

    def _on_shortened(self) -> None:
        text = self.tr(
            "The text was too long to be pasted whole: an entry has room for {n} characters."
        )
        self.about.setText(text.format(n=LONGEST_LINE))

    def _leave(self) -> None:
        """Save what was edited, before another list is shown; without a usable name, by a free one.

        Entries that were typed are not lost for want of a name.
        """
        if self._is_edited and self.text.toPlainText().strip():
            if self._problem:
                self.name.setText(self._shown.name if self._shown else self._free_name())
            self._save()

    def _free_name(self) -> str:
        name = self.tr("list")
        numbered = (f"{name} {number}" for number in count(2))
        return next(free for free in chain((name,), numbered) if self._store.find(free) is None)

    def _keep(self) -> None:
        """Save in a pause of typing, so that little is lost if the application is killed."""
        if self._is_edited and not self._problem and self.text.toPlainText().strip():
            self._save()

    def _save(self) -> None:
        name, text = self.name.text(), self.text.toPlainText()
        before = self._shown
        written = text if text.endswith("\n") else f"{text}\n"
        self._store.write(name, written)
        if before is not None and before.name != name:
            self._store.delete(before.name)
        # As its file will be, so that the fields are not filled again, with the cursor at the top.
        self._shown = WordList(name, written)
        self._as_shown = name, text
        self._describe()

    def _delete(self) -> None:
        if self._shown is not None:
            self._store.delete(self._shown.name)
            self._show_list(None)

    def _on_trashed(self, trashed: Trashed) -> None:
        self._trashed = trashed
        self.undo.setVisible(bool(trashed.trash_path))

    def _put_back(self) -> None:
        if self._trashed is not None:
            self._store.put_back(self._trashed)
        self.undo.hide()

    def _use(self) -> None:
        self._leave()
        form = self._session.generation
        form.prompt = with_words(form.prompt, f"__{self.name.text()}__")

    def _open_folder(self) -> None:
        self._store.folder.mkdir(parents=True, exist_ok=True)
        open_folder(str(self._store.folder), self._session.notices)


def _lack_words(lack: Lack) -> str:
    """Return why a list cannot be edited here, and how it can be."""
    match lack:
        case Lack.TOO_LONG:
            text = translate(
                "WildcardsDialog",
                "Prompts draw from the first {size} of this list. A longer one is edited in a text"
                " editor: open the folder.",
            )
            return text.format(size=file_size(MOST_BYTES))
        case Lack.NOT_UTF_8:
            return translate(
                "WildcardsDialog",
                "Some letters of this list cannot be read: its file is not in the encoding UTF-8."
                " Save it in UTF-8 with a text editor, and it can be edited here.",
            )
