"""A row whose buttons move below its text if it is narrow."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QLayout


class FoldingRow(QBoxLayout):
    """A layout of text with buttons beside it, or below it if the text would be too narrow."""

    def __init__(self, words: QLayout, buttons: QLayout, least: int) -> None:
        """Create the row; `least` is the least width in pixels of text beside buttons."""
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self._words, self._buttons, self._least = words, buttons, least
        # Qt asks for the heights at several widths again and again, from each layout around.
        self._heights: dict[int, int] = {}
        self._least_size = QSize()
        self.addLayout(words, 1)
        self.addLayout(buttons)

    def invalidate(self) -> None:
        """Forget what was measured: a text or a button is another."""
        super().invalidate()
        # Set, not cleared: Qt calls this while the row is deleted, too, when it has neither.
        self._heights, self._least_size = {}, QSize()

    def hasHeightForWidth(self) -> bool:  # noqa: N802 (Qt's name)
        """Return True: the text wraps."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 (Qt's name)
        """Return the height at a width, folded or not as at that width."""
        if width not in self._heights:
            self._heights[width] = self._measured(width)
        return self._heights[width]

    def minimumHeightForWidth(self, width: int) -> int:  # noqa: N802 (Qt's name)
        """Return the full height: no part may be cut off."""
        return self.heightForWidth(width)

    def minimumSize(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the least size, which is that of the folded row."""
        if not self._least_size.isValid():
            words, buttons = self._words.minimumSize(), self._buttons.minimumSize()
            width = max(words.width(), buttons.width())
            self._least_size = QSize(width, super().minimumSize().height())
        return self._least_size

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 (Qt's name)
        """Fold or unfold the row for the width, and lay it out."""
        folds = self._folds(rect.width())
        direction = QBoxLayout.Direction
        wanted = direction.TopToBottom if folds else direction.LeftToRight
        if wanted != self.direction():
            self.setDirection(wanted)
            leading = Qt.AlignmentFlag.AlignLeading
            self.setAlignment(self._buttons, leading if folds else Qt.AlignmentFlag(0))
        super().setGeometry(rect)

    def _measured(self, width: int) -> int:
        hint = self._buttons.sizeHint()
        if hint.isEmpty():
            return self._height_of_words(width)
        if self._folds(width):
            return self._height_of_words(width) + self.spacing() + hint.height()
        left = width - hint.width() - self.spacing()
        return max(self._height_of_words(left), hint.height())

    def _folds(self, width: int) -> bool:
        hint = self._buttons.sizeHint().width()
        return hint > 0 and width < self._least + self.spacing() + hint

    def _height_of_words(self, width: int) -> int:
        words = self._words
        return (
            words.heightForWidth(width) if words.hasHeightForWidth() else words.sizeHint().height()
        )
