"""The places of the headings that a scrolled grid shows."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect

from ui.gallery.grid_layout import HEADING, GridLayout


def heading_places(grid: GridLayout, offset: int, height: int) -> Iterator[tuple[int, QRect]]:
    """Yield the sections that are seen with the places of their headings in the viewport.

    `offset` is how far the grid is scrolled, `height` that of the viewport, both in pixels.
    """
    if not grid.headed:
        return
    sections = grid.sections_between(offset, offset + height)
    # The first one last: it stays at the top, until the next one pushes it out.
    for section in reversed(sections):
        place = grid.heading(section).translated(0, -offset)
        if section == sections.start:
            place.moveTop(min(0, grid.end(section) - offset - HEADING))
        yield section, place


def heading_at(grid: GridLayout, offset: int, height: int, place: QPoint) -> int | None:
    """Return the section whose heading is drawn at a place; the upper one of two."""
    places = dict(heading_places(grid, offset, height))
    return next((number for number in sorted(places) if places[number].contains(place)), None)
