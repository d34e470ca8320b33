"""The parts that a checkpoint lacks, and the user's files that fit; one press uses the best."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.library.checkpoint_store import CheckpointStore
from app.paths import nearest_folder
from app.session import Session
from engine.api.checkpoints import CheckpointInfo, Gap
from engine.api.request import ComponentFiles
from ui.checkpoint_labels import fit_label, given_parts, part_label
from ui.files.chooser import FileChooser
from ui.files.kinds import MODEL_PATTERNS
from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label

translate = QCoreApplication.translate


class GapPanel(QWidget):
    """A row for each missing part, and one for all parts that the user supplied."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.rows: list[GapRow] = []
        self.given = _GivenRow(theme)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(S)
        self._column.addWidget(self.given)
        self.given.drop.clicked.connect(self._drop)
        session.generation.declaration_changed.connect(self._show_given)
        self._show_given()

    def show_gaps(self, info: CheckpointInfo | None) -> None:
        """Show a row for each missing part of a checkpoint; none if `info` is None."""
        for row in self.rows:
            row.hide()
            row.deleteLater()
        self.rows = []
        for gap in info.gaps if info else ():
            row = GapRow(gap, self._session.checkpoints, self._theme)
            row.use.clicked.connect(lambda _checked=False, row=row: self._use(row))
            row.other.clicked.connect(lambda _checked=False, row=row: self._choose(row))
            self._column.addWidget(row)
            self.rows.append(row)
        self._show()

    def give(self, component: str, file: str) -> None:
        """Use a file for a part, now and whenever this checkpoint is chosen."""
        declaration = self._session.generation.declaration
        parts = msgspec.structs.replace(declaration.components, **{component: file})
        self._session.checkpoint.declare(msgspec.structs.replace(declaration, components=parts))

    def _use(self, row: "GapRow") -> None:
        self.give(row.component, row.chosen)

    def _choose(self, row: "GapRow") -> None:
        title = self.tr("A file with this part: {part}").format(part=part_label(row.component))
        folder = nearest_folder(self._session.checkpoints.models)
        name = FileChooser.open_file(self, title, folder, MODEL_PATTERNS)
        if name:
            self.give(row.component, str(Path(name)))

    def _drop(self) -> None:
        declaration = self._session.generation.declaration
        declared = msgspec.structs.replace(declaration, components=ComponentFiles())
        self._session.checkpoint.declare(declared)

    def _show_given(self) -> None:
        self.given.tell(given_parts(self._session.generation.declaration.components))
        self._show()

    def _show(self) -> None:
        wanted = bool(self.rows) or not self.given.isHidden()
        # A visible widget without a parent would open as a window of its own.
        self.setVisible(wanted and self.parentWidget() is not None)


class GapRow(QWidget):
    """A missing part: a list of fitting files, best first, and buttons to use one or browse."""

    def __init__(self, gap: Gap, checkpoints: CheckpointStore, theme: Theme) -> None:
        super().__init__()
        self.component = gap.component
        part = part_label(gap.component)
        self._paths = [fit.path for fit in gap.fits]
        if gap.fits:
            text = self.tr("{part} is missing. Of your files this one fits best:")
        else:
            text = self.tr("{part} is missing, and none of your files has one that fits.")
        self.words = plain_label(text.format(part=part), "error", wrap=True)
        self.box = ChoiceBox(theme, of_files=True)
        self.box.setAccessibleName(self.tr("Files that fit: {part}").format(part=part))
        for fit in gap.fits:
            family = checkpoints.family_title(fit.family)
            self.box.addItem(fit_label(fit, checkpoints.models, family))
        self.use = QPushButton(self.tr("Use"))
        self.use.setAccessibleName(self.tr("Use this file: {part}").format(part=part))
        self.other = _browse_button(gap, theme)
        if not gap.fits:
            self.box.hide()
            self.use.hide()
        row = QHBoxLayout()
        row.setSpacing(S)
        row.addWidget(self.box, 1)
        row.addWidget(self.use)
        row.addWidget(self.other)
        if not gap.fits:
            row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(XS)
        column.addWidget(self.words)
        column.addLayout(row)

    @property
    def chosen(self) -> str:
        """The path of the selected file."""
        return self._paths[max(0, self.box.currentIndex())]


def _browse_button(gap: Gap, theme: Theme) -> QAbstractButton:
    """Return the button to choose a file: in words where it is the only one."""
    part = part_label(gap.component)
    if not gap.fits:
        alone = QPushButton(translate("GapRow", "Choose a file with it…"))
        alone.setAccessibleName(
            translate("GapRow", "Choose a file with it: {part}").format(part=part)
        )
        return alone
    beside = IconButton(theme, "folder", translate("GapRow", "Another file…"), outlined=True)
    beside.set_name(translate("GapRow", "Another file: {part}").format(part=part))
    return beside


class _GivenRow(QWidget):
    """The files that supply or replace parts, with a button to drop them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.text = plain_label("", "caption", wrap=True)
        self.drop = IconButton(theme, "close", self.tr("Take all parts from the model again"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.text, 1)
        row.addWidget(self.drop)

    def tell(self, text: str) -> None:
        """Show the files in use; an empty text hides the row."""
        self.text.setText(breakable(text))
        self.setVisible(bool(text))
