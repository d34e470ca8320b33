"""The list of names below the cursor of a field, which keeps the focus."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QWidget

from app.form.completions import Completion, NameKind
from ui.delegates.completion_delegate import KIND_ROLE, CompletionDelegate
from ui.theme.metrics import XS
from ui.theme.theme import Theme

_MOST_ROWS = 8
_WIDTH = 280


class CompletionList(QListWidget):
    """Names to choose from; `chosen` emits the `Completion` that was clicked."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """`parent` is the window, above whose other widgets the list lies."""
        super().__init__(parent)
        self._window = parent
        self._names: tuple[Completion, ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "completions")
        self.setAccessibleName(self.tr("Names that fit"))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(CompletionDelegate(theme, self))
        self.hide()

    @property
    def shown(self) -> tuple[Completion, ...]:
        """The names to choose from; none while the list is hidden."""
        return self._names if self.isVisible() else ()

    @property
    def current(self) -> Completion | None:
        """The highlighted name; None while the list is hidden."""
        row = self.currentRow()
        return self._names[row] if self.isVisible() and 0 <= row < len(self._names) else None

    def offer(self, names: Sequence[Completion], cursor: QRect) -> None:
        """Show names at the rectangle of a cursor, in the parent's coordinates; hide without any.

        The list opens below the cursor, or above it where there is more room.
        """
        if tuple(names) != self._names:
            self._names = tuple(names)
            self.clear()
            for completion in names:
                item = QListWidgetItem(completion.name)
                kind = self._kind(completion)
                item.setData(KIND_ROLE, kind)
                # As a screen reader says it.
                item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{completion.name}, {kind}")
                self.addItem(item)
            self.setCurrentRow(0)
        if not names:
            self.hide()
            return
        self._place(cursor)
        self.raise_()
        self.show()

    def _kind(self, completion: Completion) -> str:
        return {
            NameKind.LORA: self.tr("LoRA"),
            NameKind.EMBEDDING: self.tr("embedding"),
            NameKind.WILDCARD: self.tr("list of words"),
            NameKind.FOLDER: self.tr("folder"),
            NameKind.FILE: self.tr("file"),
        }[completion.kind]

    def move_by(self, rows: int) -> None:
        """Highlight another name; from the last follows the first."""
        self.setCurrentRow((self.currentRow() + rows) % max(1, self.count()))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Choose the name under the mouse."""
        row = self.indexAt(event.position().toPoint()).row()
        if event.button() is Qt.MouseButton.LeftButton and 0 <= row < len(self._names):
            self.chosen.emit(self._names[row])

    def _place(self, cursor: QRect) -> None:
        window = self._window.rect()
        row = max(1, self.sizeHintForRow(0))
        wanted = min(self.count(), _MOST_ROWS) * row + 2 * XS + 2
        below, above = window.bottom() - cursor.bottom() - XS, cursor.top() - XS
        is_below = wanted <= below or below >= above
        height = min(wanted, below if is_below else above)
        top = cursor.bottom() + XS if is_below else cursor.top() - XS - height
        width = min(_WIDTH, window.width() - 2 * XS)
        left = min(max(cursor.left(), XS), window.width() - width - XS)
        self.setGeometry(left, top, width, height)
