"""The pictures that a search found, in sections by their days."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import msgspec

from app.gallery.query import Order, midnight_ns
from ui.gallery.labels import day_label

_NS = 1_000_000_000
# In the year 9998.
_LAST_S = 253_350_000_000
_DAY = timedelta(days=1)


class Section(msgspec.Struct, frozen=True, gc=False):
    """Pictures that follow each other under a heading, empty for none; at least one picture."""

    title: str
    count: int


class Contents(msgspec.Struct, frozen=True):
    """The ids of the pictures that were found, in order, and the sections that they are in."""

    ids: Sequence[int]
    sections: tuple[Section, ...]


NOTHING = Contents((), ())


def contents_of(ids: Sequence[int], times: Sequence[int], order: Order, today: date) -> Contents:
    """Return what was found in sections: by the days of `times` (ns since 1970) if sorted by them.

    Takes no longer for more pictures on a day: each day's end is found by bisection.
    """
    if order not in (Order.NEWEST, Order.OLDEST):
        return Contents(ids, (Section("", len(ids)),) if ids else ())
    sections: list[Section] = []
    # Falling times rise when they are negated, as bisection wants them.
    sign = -1 if order is Order.NEWEST else 1
    first = 0
    while first < len(times):
        day = _day(times[first])
        # The first moment beyond the day, in the direction of the list.
        edge = midnight_ns(day) - 1 if order is Order.NEWEST else midnight_ns(day + _DAY)
        after = bisect_left(times, sign * edge, first + 1, key=lambda time: sign * time)
        sections.append(Section(day_label(day, today), after - first))
        first = after
    return Contents(ids, tuple(sections))


def _day(time_ns: int) -> date:
    """Return the local day of a time, the nearest one that calendars know."""
    seconds = min(max(time_ns // _NS, 0), _LAST_S)
    return datetime.fromtimestamp(seconds, tz=UTC).astimezone().date()
