"""A pane with everything that made a picture: a row for each fact, with a button to copy it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ui.picture_facts import Fact, facts_text
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import plain_label
from ui.widgets.scroll_area import scroll_area


class PictureDetails(QWidget):
    """Rows of facts that scroll; texts are plain, and can be selected."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._facts: tuple[Fact, ...] = ()
        self.rows: list[FactRow] = []
        self.setProperty("role", "panel")
        self.heading = plain_label(self.tr("How it was made"), "heading")
        self.copy_all = QPushButton(self.tr("Copy all"))
        self.copy_all.setProperty("role", "link")
        self.copy_all.clicked.connect(lambda: _copy(facts_text(self._facts)))
        self._area = scroll_area(self.tr("How the picture was made"))
        top = QHBoxLayout()
        top.setContentsMargins(M, S, M, S)
        top.addWidget(self.heading, 1)
        top.addWidget(self.copy_all)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._area, 1)
        self.show_facts(())

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show other facts."""
        if facts and tuple(facts) == self._facts:
            return
        self._facts = tuple(facts)
        self.copy_all.setVisible(bool(facts))
        content = QWidget()
        content.setProperty("role", "panel")
        column = QVBoxLayout(content)
        column.setContentsMargins(M, 0, S, M)
        column.setSpacing(S)
        self.rows = [FactRow(self._theme, fact) for fact in facts]
        for row in self.rows:
            column.addWidget(row)
        column.addStretch(1)
        # Deletes the rows before.
        self._area.setWidget(content)


class FactRow(QWidget):
    """A label, its value below, and a button to copy the value."""

    def __init__(self, theme: Theme, fact: Fact) -> None:
        super().__init__()
        self.value = _Value(fact)
        self.copy = IconButton(theme, "copy", self.tr("Copy: {name}").format(name=fact.label))
        self.copy.clicked.connect(lambda: _copy(fact.text))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(plain_label(fact.label, "caption"))
        words.addWidget(self.value)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(XS)
        row.addLayout(words, 1)
        row.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)


class _Value(QPlainTextEdit):
    """A text that wraps anywhere, as high as it is."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(fact.text)
        self.setReadOnly(True)
        self.setProperty("role", "value")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(fact.label)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self._fit()

    def resizeEvent(self, e: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Take the height of the text at the new width."""
        super().resizeEvent(e)
        self._fit()

    def wheelEvent(self, e: QWheelEvent) -> None:  # noqa: N802 (Qt's name)
        """Pass the event on to the pane around."""
        e.ignore()

    def _fit(self) -> None:
        height, block = 0.0, self.document().firstBlock()
        while block.isValid():
            height += self.blockBoundingRect(block).height()
            block = block.next()
        self.setFixedHeight(round(height) + 2 * self.frameWidth())


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
