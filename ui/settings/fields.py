"""Controls of settings that take more than a tick or a choice: folders and the names of files."""

import os
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.paths import nearest_folder, set_path
from app.session import Session
from app.settings.values import USUAL, converted
from engine.api.picture_names import PLACEHOLDERS, PictureFacts, stem_of, unknown_placeholders
from ui.bind import bind_shown
from ui.files.chooser import FileChooser
from ui.settings.labels import placeholder_words
from ui.settings.rows import CONTROL_WIDTH
from ui.theme.metrics import CONTROL_HEIGHT, XS, S
from ui.theme.theme import Theme
from ui.widgets.flow_layout import FlowLayout
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label
from ui.widgets.line_field import LineField

translate = QCoreApplication.translate
# A folder that takes longer to answer is waited for with words.
_PATIENCE_MS = 500
_EXAMPLE_COUNTER, _EXAMPLE_SEED = 42, 3_141_592_653


class FolderField(QWidget):
    """A folder that is typed or chosen; empty for the usual one, which stands there in grey.

    A folder that `variable` of the environment names cannot be changed here.
    """

    def __init__(self, session: Session, theme: Theme, name: str, title: str, usual: Path) -> None:
        super().__init__()
        settings = session.settings
        self._settings, self._name, self._title, self._usual = settings, name, title, usual
        # A drive that sleeps, or that a lost network had, keeps whoever asks it for seconds.
        self._background = session.background
        # The folder that is being looked for, if one is, and the wait until that is told.
        self._asked: str | None = None
        self._waiting = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._waiting.timeout.connect(self._tell_waiting)
        self.path = LineField()
        self.path.setAccessibleName(title)
        self.path.setPlaceholderText(str(usual))
        self.path.setFixedHeight(CONTROL_HEIGHT)
        self.choose = QPushButton(self.tr("Choose…"))
        self.choose.setAccessibleName(self.tr("Choose: {setting}").format(setting=title))
        self.usual = IconButton(theme, "undo", self.tr("Use the usual folder"))
        self.problem = plain_label("", "error", wrap=True)
        row = QHBoxLayout()
        row.setSpacing(S)
        for widget in (self.path, self.choose, self.usual):
            row.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addLayout(row)
        column.addWidget(self.problem)
        self.setFocusProxy(self.path)
        bind_shown(self.path, settings.changed, self._folder, self._show)
        self.path.editingFinished.connect(lambda: self.use(self.path.text()))
        self.choose.clicked.connect(self._choose)
        self.usual.clicked.connect(lambda: self.use(""))
        self._tell("")

    def lock(self, variable: str) -> None:
        """Forbid changes, because a variable of the environment names the folder."""
        for widget in (self.path, self.choose, self.usual):
            widget.setEnabled(False)
        self.path.setPlaceholderText(os.environ.get(variable, ""))
        words = self.tr("The variable {name} of the environment names this folder.")
        self._tell(words.format(name=variable), "caption")

    def use(self, text: str) -> None:
        """Take a folder that was typed or chosen; tell what is wrong with one that is not taken."""
        text, usual = text.strip(), self._usual
        if text == self._asked:
            return
        self._asked = None
        self._waiting.stop()
        if text == self._folder():
            self._tell("")
            return
        self._asked = text
        self._waiting.start()
        self._background.run(lambda: _folder_problem(text, usual), partial(self._take, text))

    def _take(self, text: str, problem: str) -> None:
        if text != self._asked:
            return
        self._asked = None
        self._waiting.stop()
        self._tell(problem)
        if not problem:
            self._settings.change(**{self._name: text})

    def _tell_waiting(self) -> None:
        self._tell(
            self.tr("Waiting for this folder. The one before is used until then."), "caption"
        )

    def _folder(self) -> str:
        return getattr(self._settings.now, self._name)

    def _show(self, folder: str) -> None:
        self.path.setText(folder)
        self.usual.setVisible(bool(folder))

    def _tell(self, text: str, role: str = "error") -> None:
        self.problem.setProperty("role", role)
        self.problem.setText(breakable(text))
        self.problem.setVisible(bool(text))

    def _choose(self) -> None:
        folder, usual = self._folder(), self._usual
        self._background.run(lambda: nearest_folder(set_path(folder, usual)), self._choose_from)

    def _choose_from(self, before: str) -> None:
        folder = FileChooser.open_folder(self, self._title, before)
        if folder:
            self.use(folder)


def _folder_problem(text: str, usual: Path) -> str:
    """Make a typed folder; return what is wrong with it, nothing if it can be used."""
    try:
        path = set_path(text, usual)
        if text and path == usual and Path(text) != usual:
            return translate("FolderField", "There is no such home folder.")
        if path.exists() and not path.is_dir():
            return translate("FolderField", "This is a file. Choose a folder.")
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        words = translate(
            "FolderField", "This folder cannot be used: {reason}. The one before stays."
        )
        return words.format(reason=reason)
    return ""


class FileNameField(QWidget):
    """A pattern of file names: typed, or put together of buttons; an example is below it."""

    edited = Signal(str)

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._settings = session, session.settings
        self.pattern = LineField()
        self.pattern.setAccessibleName(self.tr("File names"))
        self.pattern.setFixedHeight(CONTROL_HEIGHT)
        self.pattern.setMinimumWidth(CONTROL_WIDTH)
        self.usual = IconButton(theme, "undo", self.tr("Use the usual names"))
        self.example = plain_label("", "caption", wrap=True)
        self.problem = plain_label("", "error", wrap=True)
        self.chips: dict[str, QPushButton] = {}
        self._lay_out()
        self.setFocusProxy(self.pattern)
        bind_shown(self.pattern, self._settings.changed, self._kept, self._show)
        self.pattern.textEdited.connect(self.take)
        self.usual.clicked.connect(lambda: self._settings.change(file_name=USUAL.file_name))
        session.generation.changed.connect(self._refresh)

    def take(self, pattern: str) -> None:
        """Take a pattern over where it makes sense; else tell why not."""
        problem = self._problem(pattern)
        self._tell(problem)
        if not problem:
            self._settings.change(file_name=pattern)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(S)
        row.addWidget(self.pattern, 1)
        row.addWidget(self.usual)
        flow = FlowLayout(XS)
        for name in PLACEHOLDERS:
            chip = QPushButton(f"{{{name}}}")
            chip.setProperty("role", "chip")
            chip.setToolTip(placeholder_words(name))
            chip.setAccessibleName(
                self.tr("Insert {placeholder}").format(placeholder=placeholder_words(name))
            )
            chip.clicked.connect(self._inserting(f"{{{name}}}"))
            flow.addWidget(chip)
            self.chips[name] = chip
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addLayout(row)
        column.addWidget(self.problem)
        column.addWidget(self.example)
        column.addLayout(flow)

    def _inserting(self, text: str) -> Callable[[], None]:
        def insert() -> None:
            self.pattern.insert(text)
            self.take(self.pattern.text())
            self.pattern.setFocus()

        return insert

    def _problem(self, pattern: str) -> str:
        if unknown := unknown_placeholders(pattern):
            words = self.tr("{name} stands for nothing. Use one of the words below.")
            return words.format(name=f"{{{unknown[0]}}}")
        if not pattern.strip():
            return self.tr("A name is needed. Until then the names stay as before.")
        try:
            converted("file_name", pattern)
        except msgspec.ValidationError:
            return self.tr("This is too long.")
        return ""

    def _kept(self) -> str:
        return self._settings.now.file_name

    def _show(self, pattern: str) -> None:
        if self.pattern.text() != pattern:
            self.pattern.setText(pattern)
        self.usual.setVisible(pattern != USUAL.file_name)
        self._tell("")

    def _tell(self, problem: str) -> None:
        self.problem.setText(breakable(problem))
        self.problem.setVisible(bool(problem))
        self._refresh()

    def _refresh(self) -> None:
        form, now = self._session.generation, self._settings.now
        facts = PictureFacts(
            seed=_EXAMPLE_SEED,
            prompt=form.prompt,
            checkpoint=str(form.checkpoint),
            sampler="euler_a",
            steps=20,
            guidance=7.0,
            width=512,
            height=512,
            made=datetime.now().astimezone(),
        )
        name = stem_of(now.file_name, facts, _EXAMPLE_COUNTER) + now.picture_format.suffix
        self.example.setText(breakable(self.tr("As {name}").format(name=name)))
