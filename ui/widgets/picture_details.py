"""A pane with everything that made a picture: a row for each fact, with a button to copy it."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QLocale, Qt
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from ui.copying import copy_text
from ui.picture_facts import Fact, PictureTexts
from ui.slices import Slices
from ui.theme.metrics import XS, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import plain_label
from ui.widgets.scroll_area import scroll_area

# The facts that most pictures have, and what a row has before it has one.
_USUAL_ROWS = 12
_NO_FACT = Fact("", "")
# More rows are not made in one turn of the event loop: one takes two milliseconds.
_AT_ONCE = 3


class PictureDetails(QWidget):
    """Rows of facts that scroll; texts are plain, and can be selected."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._texts = PictureTexts((), "")
        self.rows: list[FactRow] = []
        # Further ones are hidden until a picture has more facts: to make them takes long.
        self._made: list[FactRow] = []
        self._making: Slices | None = None
        self.setProperty("role", "panel")
        self.heading = plain_label(self.tr("How it was made"), "heading")
        self.copy_all = QPushButton(self.tr("Copy all"))
        self.copy_all.setProperty("role", "link")
        self.copy_all.clicked.connect(self._copy_all)
        self._area = scroll_area(self.tr("How the picture was made"))
        content = QWidget()
        content.setProperty("role", "panel")
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(M, 0, S, M)
        self._column.setSpacing(S)
        self._column.addStretch(1)
        self._area.setWidget(content)
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

    def show_facts(self, facts: Sequence[Fact], settings: str = "") -> None:
        """Show other facts; `settings` is what is copied of them, and can be pasted.

        Where many rows are missing, the facts before stay until these are made.
        """
        before, self._texts = self._texts.facts, PictureTexts(tuple(facts), settings)
        self.copy_all.setText(self.tr("Copy settings") if settings else self.tr("Copy all"))
        if facts and self._texts.facts == before:
            return
        self.copy_all.setVisible(bool(facts))
        if len(facts) > len(self._made) + _AT_ONCE:
            self.make_rows()
        else:
            self._show()

    def make_rows(self) -> None:
        """Make the rows of a usual picture, and those that are wanted, in slices."""
        if self._making is not None:
            self._making.stop()
        self._making = Slices(self._made_rows(), self)

    def _made_rows(self) -> Iterator[None]:
        facts = self._texts.facts
        while len(self._made) < max(_USUAL_ROWS, len(facts)):
            number = len(self._made)
            self._make(facts[number] if number < len(facts) else _NO_FACT)
            self._made[-1].hide()
            yield
        self._show()

    def _show(self) -> None:
        facts = self._texts.facts
        for row, fact in zip(self._made, facts, strict=False):
            row.show_fact(fact)
        for fact in facts[len(self._made) :]:
            self._make(fact)
        self.rows = self._made[: len(facts)]
        for number, row in enumerate(self._made):
            row.setVisible(number < len(facts))
        self._area.verticalScrollBar().setValue(0)

    def _make(self, fact: Fact) -> None:
        self._made.append(FactRow(self._theme, fact))
        self._column.insertWidget(len(self._made) - 1, self._made[-1])

    def _copy_all(self) -> None:
        copy_text(self._texts.copied, self.copy_all)


# The most characters of a value that are shown before one asks for the rest: to lay out a text of
# 20,000 takes longer than a frame.
_MOST_SHOWN = 4000


class FactRow(QWidget):
    """A label, its value below, and a button to copy the value.

    Of a long value the beginning is shown, and the rest where the user asks for it.
    """

    def __init__(self, theme: Theme, fact: Fact) -> None:
        super().__init__()
        self._fact = _NO_FACT
        self.value = _Value()
        self._label = plain_label("", "caption")
        self.copy = IconButton(theme, "copy", "")
        self.copy.clicked.connect(lambda: copy_text(self._fact.text, self.copy))
        self.more = QPushButton()
        self.more.setProperty("role", "link")
        self.more.clicked.connect(self._show_all)
        self.more.hide()
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._label)
        words.addWidget(self.value)
        words.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeading)
        # The button is higher than one line: what it leaves would part a label from its value.
        words.addStretch()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(XS)
        row.addLayout(words, 1)
        row.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)
        self.show_fact(fact)

    def show_fact(self, fact: Fact) -> None:
        """Show another fact; one that the row was made with is there already."""
        if fact is self._fact:
            return
        self._fact = fact
        self._label.setText(fact.label)
        is_long = len(fact.text) > _MOST_SHOWN
        shown = f"{fact.text[:_MOST_SHOWN]}…" if is_long else fact.text
        self.value.show_text(fact.label, shown)
        count = QLocale().toString(len(fact.text))
        self.more.setText(self.tr("Show all {n} characters").format(n=count))
        self.more.setVisible(is_long)
        self.copy.set_name(self.tr("Copy: {name}").format(name=fact.label))

    def _show_all(self) -> None:
        self.value.show_text(self._fact.label, self._fact.text)
        # Else the focus goes to whatever comes next, and the pane scrolls there.
        self.copy.setFocus()
        self.more.hide()


class _Value(QPlainTextEdit):
    """A text that wraps anywhere, as high as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "value")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self._align()

    def changeEvent(self, e: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Have the text begin where the window's texts do, in whatever direction it is read."""
        super().changeEvent(e)
        if e.type() is QEvent.Type.LayoutDirectionChange:
            self._align()

    def _align(self) -> None:
        leading = QStyle.visualAlignment(self.layoutDirection(), Qt.AlignmentFlag.AlignLeading)
        option = self.document().defaultTextOption()
        # Qt turns it round in lines that are read from right to left, unless it is absolute.
        option.setAlignment(leading | Qt.AlignmentFlag.AlignAbsolute)
        self.document().setDefaultTextOption(option)

    def show_text(self, name: str, text: str) -> None:
        """Show another text, of this name."""
        self.setAccessibleName(name)
        self.setPlainText(text)
        self._fit()

    def resizeEvent(self, e: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Take the height of the text at the new width."""
        super().resizeEvent(e)
        # To fit sets the height, which must not lay the text out once more.
        if e.size().width() != e.oldSize().width():
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
