"""A layout of small widgets in lines that wrap, in the direction of the window."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

_Line = list[tuple[QLayoutItem, QSize]]


class FlowLayout(QLayout):
    """Widgets side by side; one that has no room in its line begins the next."""

    def __init__(self, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        # By width, as the layouts around ask for the same ones many times over.
        self._heights: dict[int, int] = {}
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, arg__1: QLayoutItem) -> None:  # noqa: N802 (Qt's name)
        """Add an item after the others."""
        self._items.append(arg__1)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 (Qt's name)
        """Return an item; None beyond the last, as Qt asks until it gets none."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 (Qt's name)
        """Remove an item and return it; None beyond the last."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 (Qt's name)
        """Return no direction: more room than needed is of no use."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 (Qt's name)
        """Return True: a narrow layout has more lines."""
        return True

    def heightForWidth(self, arg__1: int) -> int:  # noqa: N802 (Qt's name)
        """Return the height of all lines at a width."""
        if arg__1 not in self._heights:
            self._heights[arg__1] = self._arrange(QRect(0, 0, arg__1, 0), place=False)
        return self._heights[arg__1]

    def invalidate(self) -> None:
        """Forget heights: an item came, went, or has another size."""
        self._heights.clear()
        super().invalidate()

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the least size."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the size of the largest item."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, arg__1: QRect) -> None:  # noqa: N802 (Qt's name)
        """Lay the items out."""
        super().setGeometry(arg__1)
        self._arrange(arg__1, place=True)

    def _arrange(self, room: QRect, *, place: bool) -> int:
        """Return the height that the lines take; with `place`, also move the items."""
        y = 0
        for line in self._lines(room.width()):
            height = max(size.height() for _, size in line)
            if place:
                self._place(line, QRect(room.left(), room.top() + y, room.width(), height))
            y += height + self.spacing()
        return max(0, y - self.spacing())

    def _lines(self, width: int) -> list[_Line]:
        """Return the items that are shown, with their sizes, as a width puts them into lines."""
        lines: list[_Line] = []
        taken = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().boundedTo(QSize(width, item.sizeHint().height()))
            if not lines or taken + size.width() > width:
                lines.append([])
                taken = 0
            lines[-1].append((item, size))
            taken += size.width() + self.spacing()
        return lines

    def _place(self, line: _Line, room: QRect) -> None:
        """Put a line's items side by side, lower ones in its middle."""
        parent = self.parentWidget()
        is_mirrored = isinstance(parent, QWidget) and parent.isRightToLeft()
        x = 0
        for item, size in line:
            left = room.right() + 1 - x - size.width() if is_mirrored else room.left() + x
            top = room.top() + (room.height() - size.height()) // 2
            item.setGeometry(QRect(QPoint(left, top), size))
            x += size.width() + self.spacing()
