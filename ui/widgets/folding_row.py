"""A row that folds where it is narrow."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QLayout


class FoldingRow(QBoxLayout):
    """Words with buttons beside them, or below them where the words would have too little room."""

    def __init__(self, words: QLayout, buttons: QLayout, least: int) -> None:
        """`least` is the width in pixels that words want beside buttons."""
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self._words, self._buttons, self._least = words, buttons, least
        self.addLayout(words, 1)
        self.addLayout(buttons)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 (Qt's name)
        """Words are wrapped."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 (Qt's name)
        """The height with buttons where they will be at that width."""
        hint = self._buttons.sizeHint()
        if hint.isEmpty():
            return self._height_of_words(width)
        if self._folds(width):
            return self._height_of_words(width) + self.spacing() + hint.height()
        left = width - hint.width() - self.spacing()
        return max(self._height_of_words(left), hint.height())

    def minimumHeightForWidth(self, width: int) -> int:  # noqa: N802 (Qt's name)
        """Nothing of it can be left out."""
        return self.heightForWidth(width)

    def minimumSize(self) -> QSize:  # noqa: N802 (Qt's name)
        """The size of the folded row, which is its narrowest."""
        words, buttons = self._words.minimumSize(), self._buttons.minimumSize()
        return QSize(max(words.width(), buttons.width()), super().minimumSize().height())

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 (Qt's name)
        """Fold or unfold, and lay out."""
        folds = self._folds(rect.width())
        direction = QBoxLayout.Direction
        wanted = direction.TopToBottom if folds else direction.LeftToRight
        if wanted != self.direction():
            self.setDirection(wanted)
            leading = Qt.AlignmentFlag.AlignLeading
            self.setAlignment(self._buttons, leading if folds else Qt.AlignmentFlag(0))
        super().setGeometry(rect)

    def _folds(self, width: int) -> bool:
        hint = self._buttons.sizeHint().width()
        return hint > 0 and width < self._least + self.spacing() + hint

    def _height_of_words(self, width: int) -> int:
        words = self._words
        return (
            words.heightForWidth(width) if words.hasHeightForWidth() else words.sizeHint().height()
        )
