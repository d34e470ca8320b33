"""The arithmetic of the grid, checked against every tile's place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QRect

from ui.gallery.grid_layout import GridLayout

COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=8)
LAYOUTS = st.builds(
    GridLayout,
    COUNTS,
    st.integers(60, 1500),
    st.integers(96, 320),
    headed=st.booleans(),
    mirrored=st.booleans(),
)


@given(LAYOUTS)
def test_tiles_lie_apart_from_each_other_and_from_headings(grid: GridLayout) -> None:
    tiles = [grid.tile(row) for row in range(grid.count)]
    places = [(tile.top(), tile.left()) for tile in tiles]
    assert len(set(places)) == len(tiles)
    headings = [grid.heading(grid.section_of(row)) for row in range(grid.count)]
    assert not any(tile.intersects(heading) for tile, heading in zip(tiles, headings, strict=True))
    assert max(tile.bottom() for tile in tiles) < grid.height


@given(LAYOUTS)
def test_a_place_in_a_tile_leads_to_it(grid: GridLayout) -> None:
    for row in range(grid.count):
        assert grid.row_at(grid.tile(row).center()) == row
    assert grid.row_at(QPoint(1, grid.height + 1)) is None


@given(LAYOUTS, st.integers(-50, 4000), st.integers(0, 900))
def test_a_span_of_heights_shows_every_tile_in_it(grid: GridLayout, top: int, size: int) -> None:
    seen = {
        row
        for row in range(grid.count)
        if grid.tile(row).top() <= top + size and grid.tile(row).bottom() >= top
    }
    assert seen <= set(grid.rows_between(top, top + size))


@given(
    LAYOUTS,
    st.integers(-20, 1500),
    st.integers(-20, 3000),
    st.integers(1, 900),
    st.integers(1, 900),
)
def test_a_rubber_band_touches_what_it_overlaps(
    grid: GridLayout, x: int, y: int, width: int, height: int
) -> None:
    area = QRect(x, y, width, height)
    touched = {row for first, last in grid.spans_in(area) for row in range(first, last + 1)}
    assert touched == {row for row in range(grid.count) if grid.tile(row).intersects(area)}


@given(LAYOUTS)
def test_up_and_down_lead_to_a_neighbouring_line(grid: GridLayout) -> None:
    for row in range(grid.count):
        tile = grid.tile(row)
        above, below = grid.tile(grid.above(row)), grid.tile(grid.below(row))
        assert above.top() < tile.top() or grid.above(row) == row < grid.columns
        assert below.top() > tile.top() or grid.below(row) == row


@pytest.mark.parametrize("headed", [True, False])
def test_no_picture_has_no_place(headed: bool) -> None:
    grid = GridLayout((), 800, 128, headed=headed, mirrored=False)
    assert grid.row_at(QPoint(40, 40)) is None
    assert list(grid.rows_between(0, 500)) == []
    assert list(grid.sections_between(0, 500)) == []
