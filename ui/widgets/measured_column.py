"""A column of widgets whose heights depend on its width, measured once for each width."""

from PySide6.QtWidgets import QVBoxLayout


class MeasuredColumn(QVBoxLayout):
    """A column that remembers its height at each width until something in it changes.

    Qt's own remembers one width. Layouts around it ask for the least width and for the real one in
    turns, so that each of them measures all texts of the column anew.
    """

    def __init__(self) -> None:
        """Begin with no widget."""
        super().__init__()
        # The height and the least height at each width.
        self._heights: dict[int, tuple[int, int]] = {}

    def invalidate(self) -> None:
        """Forget what was measured: a widget came, went or is another."""
        super().invalidate()
        # Set, not cleared: Qt calls this while the column is deleted, too, when it has none.
        self._heights = {}

    def heightForWidth(self, arg__1: int) -> int:  # noqa: N802 (Qt's name)
        """Return the height at a width."""
        return self._measured(arg__1)[0]

    def minimumHeightForWidth(self, arg__1: int) -> int:  # noqa: N802 (Qt's name)
        """Return the least height at a width."""
        return self._measured(arg__1)[1]

    def _measured(self, width: int) -> tuple[int, int]:
        if width not in self._heights:
            height = super().heightForWidth(width)
            # Qt asks for the height again before it tells the least one, of the width before.
            self._heights[width] = height, height
            self._heights[width] = height, super().minimumHeightForWidth(width)
        return self._heights[width]
