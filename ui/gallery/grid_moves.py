"""The tile that a key leads to from another one, and the chosen ones in order."""

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QAbstractItemView

from ui.gallery.grid_layout import GridLayout

_Action = QAbstractItemView.CursorAction

# The keys that lead from tile to tile.
MOVING_KEYS = {
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
}


def moved(grid: GridLayout, row: int, action: _Action, lines: int, *, mirrored: bool) -> int:
    """Return the tile that a key leads to; a page has so many `lines`."""
    last = grid.count - 1
    back = _Action.MoveRight if mirrored else _Action.MoveLeft
    match action:
        case _Action.MoveUp:
            row = grid.above(row)
        case _Action.MoveDown:
            row = grid.below(row)
        case _Action.MoveLeft | _Action.MoveRight:
            row += -1 if action is back else 1
        case _Action.MovePrevious | _Action.MoveNext:
            row += 1 if action is _Action.MoveNext else -1
        case _Action.MoveHome | _Action.MoveEnd:
            row = 0 if action is _Action.MoveHome else last
        case _Action.MovePageUp | _Action.MovePageDown:
            step = grid.below if action is _Action.MovePageDown else grid.above
            for _ in range(lines):
                row = step(row)
    return min(max(row, 0), last)


def selected_rows(model: QItemSelectionModel) -> list[int]:
    """Return the chosen rows of a list, ascending."""
    selection = model.selection()
    parts = [selection.at(number) for number in range(selection.count())]
    parts.sort(key=lambda part: part.top())
    return [row for part in parts for row in range(part.top(), part.bottom() + 1)]
