"""The questions for files and folders: by the system's dialog, or by ours where it has none."""

from pathlib import Path
from typing import ClassVar

from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QWidget

from app.listed_names import as_listed
from app.paths import is_folder
from ui.files.kinds import FileQuestion, kinds_of
from ui.theme.theme import Theme


class FileChooser:
    """Asks for a file or a folder and waits; the answer is a path, empty if none was chosen.

    `start` is the folder that is shown first, unless files of the same kinds were chosen before:
    then it is theirs, as the next is often beside the last. `kinds` are as Qt has them:
    "Pictures (*.png *.jpg)", several with two semicolons between.
    """

    # The folder of the file that was chosen last, by the kinds that were asked for.
    _last: ClassVar[dict[str, str]] = {}

    @classmethod
    def open_file(cls, parent: QWidget | None, title: str, start: str, kinds: str) -> str:
        """Ask for a file that is there."""
        last = cls._last.get(kinds, "")
        begin = last if is_folder(last) else start
        if system_has_dialog():
            answer = as_listed(QFileDialog.getOpenFileName(parent, title, begin, kinds)[0])
        else:
            answer = _ask(FileQuestion.FILE, parent, title, begin, kinds)
        if answer:
            cls._last[kinds] = str(Path(answer).parent)
        return answer

    @staticmethod
    def open_folder(parent: QWidget | None, title: str, start: str) -> str:
        """Ask for a folder."""
        if system_has_dialog():
            return as_listed(QFileDialog.getExistingDirectory(parent, title, start))
        return _ask(FileQuestion.FOLDER, parent, title, start)

    @staticmethod
    def save_file(parent: QWidget | None, title: str, start: str, kinds: str) -> str:
        """Ask for the name of a new file; `start` is its suggested path."""
        if system_has_dialog():
            return QFileDialog.getSaveFileName(parent, title, start, kinds)[0]
        return _ask(FileQuestion.NEW_FILE, parent, title, start, kinds)


def system_has_dialog() -> bool:
    """Return True if the system has a dialog for files, which Qt then shows.

    Windows, macOS, GTK and the portals of Linux's desktops have one.
    """
    # Qt tells by making the widgets of its own dialog, or not. A portal's answer may come late.
    dialog = QFileDialog()
    is_qt = dialog.findChild(QLineEdit) is not None
    dialog.deleteLater()
    return not is_qt


def _ask(
    question: FileQuestion, parent: QWidget | None, title: str, start: str, kinds: str = ""
) -> str:
    # Here, as the window starts sooner without its dialogs.
    from ui.files.dialog import FileDialog

    application = QApplication.instance()
    theme = application.findChild(Theme) if application is not None else None
    assert theme is not None
    dialog = FileDialog(theme, question, kinds_of(kinds), parent)
    dialog.setWindowTitle(title)
    dialog.begin(Path(start))
    dialog.exec()
    dialog.deleteLater()
    return dialog.answer
