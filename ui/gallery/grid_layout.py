"""The arithmetic of a grid of square tiles under headings; no widget, no picture.

A hundred thousand tiles take no longer to lay out than their few hundred headings.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QPoint, QRect

from ui.theme.metrics import XS, L, M

GAP = XS
# The distance between a tile's edge and its picture: the room of the ring of chosen ones.
INSET = 5
# Pictures begin where the headings above them do.
MARGIN = M - INSET
HEADING = 44


class GridLayout:
    """Tiles in lines of equal width, a heading above each section; units are pixels.

    Tiles are at least `side` wide and grow so that each line fills the width.
    """

    def __init__(
        self, counts: Sequence[int], width: int, side: int, *, headed: bool, mirrored: bool
    ) -> None:
        """`counts` are the numbers of tiles of the sections, none of them 0."""
        room = max(width - 2 * MARGIN, side)
        self.columns = max(1, (room + GAP) // (side + GAP))
        self.side = (room + GAP) // self.columns - GAP
        self.pitch = self.side + GAP
        self._heading = HEADING if headed else 0
        self._mirrored = mirrored
        self._width = width
        self._firsts = [0, *accumulate(counts)]
        heights = (self._heading + -(-count // self.columns) * self.pitch for count in counts)
        self._tops = list(accumulate(heights, initial=0 if headed else MARGIN))

    @property
    def count(self) -> int:
        """The number of tiles."""
        return self._firsts[-1]

    @property
    def headed(self) -> bool:
        """True if sections have headings."""
        return self._heading > 0

    def first(self, section: int) -> int:
        """Return a section's first tile."""
        return self._firsts[section]

    def size(self, section: int) -> int:
        """Return the number of a section's tiles."""
        return self._firsts[section + 1] - self._firsts[section]

    @property
    def height(self) -> int:
        """The height of the whole grid."""
        return self._tops[-1] + L

    def tile(self, row: int) -> QRect:
        """Return the place of a tile."""
        section = self.section_of(row)
        line, column = divmod(row - self._firsts[section], self.columns)
        x = MARGIN + column * self.pitch
        if self._mirrored:
            x = self._width - x - self.side
        y = self._tops[section] + self._heading + line * self.pitch
        return QRect(x, y, self.side, self.side)

    def section_of(self, row: int) -> int:
        """Return the section that a tile is in."""
        return bisect_right(self._firsts, row, hi=len(self._firsts) - 1) - 1

    def section_at(self, y: int) -> int:
        """Return the section at a height, the nearest one beyond the ends."""
        last = len(self._tops) - 2
        return min(max(bisect_right(self._tops, y) - 1, 0), last)

    def heading(self, section: int) -> QRect:
        """Return the place of a section's heading, empty without headings."""
        return QRect(0, self._tops[section], self._width, self._heading)

    def end(self, section: int) -> int:
        """Return the height at which a section ends."""
        return self._tops[section + 1]

    def row_at(self, place: QPoint) -> int | None:
        """Return the tile at a place, None between tiles."""
        row = self.nearest(place)
        return row if row is not None and self.tile(row).contains(place) else None

    def nearest(self, place: QPoint) -> int | None:
        """Return the tile at a place or the one before it in reading order; None without tiles."""
        if not self.count:
            return None
        section = self.section_at(place.y())
        first, after = self._firsts[section], self._firsts[section + 1]
        line = max((place.y() - self._tops[section] - self._heading) // self.pitch, 0)
        x = self._width - 1 - place.x() if self._mirrored else place.x()
        column = min(max((x - MARGIN) // self.pitch, 0), self.columns - 1)
        return min(first + line * self.columns + column, after - 1)

    def rows_between(self, top: int, bottom: int) -> range:
        """Return the tiles that a range of heights may show."""
        if not self.count:
            return range(0)
        before = self.nearest(QPoint(self._width if self._mirrored else 0, top))
        last = self.nearest(QPoint(0 if self._mirrored else self._width, bottom))
        return range(before or 0, (last or 0) + 1)

    def sections_between(self, top: int, bottom: int) -> range:
        """Return the sections that a range of heights shows."""
        if not self.count:
            return range(0)
        return range(self.section_at(top), self.section_at(bottom) + 1)

    def spans_in(self, area: QRect) -> list[tuple[int, int]]:
        """Return the tiles that a rectangle touches as (first, last) rows, one for each line."""
        left, right = area.left(), area.right()
        if self._mirrored:
            left, right = self._width - 1 - right, self._width - 1 - left
        # A tile that ends at the left edge is touched, and so is one that begins at the right.
        first = max((left - MARGIN + GAP) // self.pitch, 0)
        last = min((right - MARGIN) // self.pitch, self.columns - 1)
        spans: list[tuple[int, int]] = []
        for section in self.sections_between(area.top(), area.bottom()):
            start, after = self._firsts[section], self._firsts[section + 1]
            top = self._tops[section] + self._heading
            low = max((area.top() - top + GAP) // self.pitch, 0)
            high = (area.bottom() - top) // self.pitch
            lines = -(-(after - start) // self.columns)
            for line in range(low, min(high, lines - 1) + 1):
                begins = start + line * self.columns
                ends = min(begins + last, after - 1)
                if begins + first <= ends:
                    spans.append((begins + first, ends))
        return spans

    def above(self, row: int) -> int:
        """Return the tile above another, the same one on the first line."""
        section = self.section_of(row)
        first = self._firsts[section]
        if row - first >= self.columns:
            return row - self.columns
        if section == 0:
            return row
        before = self._firsts[section - 1]
        lines_first = before + (first - 1 - before) // self.columns * self.columns
        return min(lines_first + row - first, first - 1)

    def below(self, row: int) -> int:
        """Return the tile below another, the same one on the last line."""
        section = self.section_of(row)
        first, after = self._firsts[section], self._firsts[section + 1]
        column = (row - first) % self.columns
        if row + self.columns < after:
            return row + self.columns
        if row - column + self.columns < after:
            return after - 1
        if section == len(self._firsts) - 2:
            return row
        return min(after + column, self._firsts[section + 2] - 1)
