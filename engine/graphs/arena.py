"""The memory that ONNX Runtime's arena hands out in a run, simulated call by call.

Its rules are those of its sources (1.31: bfc_arena.cc, mem_pattern_planner.h, execution_frame.cc).
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Sequence

import msgspec

_STEP = 256
_FIRST_REGION, _FIRST_GROWTH, _LAST_GROWTH = 1 << 20, 2 << 20, 1 << 30
# The bytes of a region for which one is noted: the eighth part of a step.
_NOTED = _STEP // 8
# A free chunk is cut for a request if it is twice as large, or if so much would be lost.
_MOST_LOST = 128 << 20
_LAST_BIN = 20

# A region's number and the place in it.
_Place = tuple[int, int]
_Free = tuple[int, int, int, int]


class Call(msgspec.Struct, frozen=True):
    """A step's calls of the arena: bytes made by name, of working memory, and names freed after."""

    made: Sequence[tuple[str, int]]
    worked: Sequence[int]
    freed: Sequence[str]


class Taken(msgspec.Struct, frozen=True):
    """Bytes of an arena that were `written`, and those of the `regions` in which they lie."""

    written: int
    regions: int

    @property
    def bytes(self) -> int:
        """The bytes in memory: an arena notes eight for each 256 of a region, all at once."""
        return self.written + self.regions // _NOTED


class ArenaBytes(msgspec.Struct, frozen=True):
    """Bytes of the arena in a `first` run of a size, and in a `second`.

    In the second, results that do not leave the run lie in one `block`, where the calls of the
    first have laid them out; what a node works in and what leaves does not. `kept` is of regions
    in which something lies that left the first run: a region is given back whole.
    """

    first: Taken
    second: Taken
    block: int
    kept: Taken

    @property
    def most(self) -> int:
        """The bytes of the run that takes more."""
        return max(self.first.bytes, self.second.bytes)


def arena_bytes(calls: Sequence[Call], leaving: Collection[str]) -> ArenaBytes:
    """Return the bytes that calls take; `leaving` are the results that leave the run."""
    arena, block = _Arena(), _Block()
    places, spans = dict[str, _Place](), dict[str, tuple[int, int]]()
    for call in calls:
        for name, size in call.made:
            places[name] = arena.allocate(size)
            if name not in leaving:
                spans[name] = block.allocate(size)
        arena.work(call.worked)
        for name in call.freed:
            arena.free(places.pop(name))
            block.free(spans.pop(name))
    kept = arena.taken({places[name][0] for name in leaving})
    again = _in_block(calls, leaving, block.size)
    second = Taken(again.written + kept.written, again.regions + kept.regions)
    return ArenaBytes(arena.taken(), second, block.size, kept)


def _in_block(calls: Iterable[Call], leaving: Collection[str], block: int) -> Taken:
    """Return what a run takes whose results lie in one block."""
    arena = _Arena()
    if block:
        arena.allocate(block)
    for call in calls:
        for name, size in call.made:
            if name in leaving:
                arena.allocate(size)
        arena.work(call.worked)
    return arena.taken()


class _Chunk(msgspec.Struct):
    """A part of a region; `before` and `after` are the places of its neighbours in it."""

    size: int
    is_used: bool = False
    before: int | None = None
    after: int | None = None


class _Arena(msgspec.Struct):
    """Regions that grow by powers of two, cut into chunks: the smallest that fits is given.

    From a gigabyte on they grow no more. Later regions lie lower in memory, and of chunks of one
    size the lowest is given.
    """

    _growth: int = _FIRST_GROWTH
    _chunks: dict[_Place, _Chunk] = msgspec.field(default_factory=dict[_Place, _Chunk])
    _free: list[_Free] = msgspec.field(default_factory=list[_Free])
    # Places and ends of what was written, by regions.
    _written: list[list[tuple[int, int]]] = msgspec.field(
        default_factory=list[list[tuple[int, int]]]
    )
    _sizes: list[int] = msgspec.field(default_factory=list[int])

    def __post_init__(self) -> None:
        self._extend(_FIRST_REGION)

    def taken(self, regions: Collection[int] | None = None) -> Taken:
        """Return the bytes that were handed out at any time, in all regions or in these.

        What is lost in chunks is never touched.
        """
        total = size = 0
        for region, spans in enumerate(self._written):
            if regions is not None and region not in regions:
                continue
            size += self._sizes[region]
            reached = 0
            for start, end in sorted(spans):
                total += max(end - max(start, reached), 0)
                reached = max(reached, end)
        return Taken(total, size)

    def work(self, sizes: Sequence[int]) -> None:
        """Hand out memory of these sizes, and take it back."""
        for place in reversed([self.allocate(size) for size in sizes]):
            self.free(place)

    def allocate(self, size: int) -> _Place:
        wanted = -(-size // _STEP) * _STEP
        number = self._find(wanted)
        if number is None:
            self._grow(wanted)
            number = self._find(wanted)
            assert number is not None
        _, free, region, place = self._free.pop(number)
        region = -region
        chunk = self._chunks[region, place]
        if free >= 2 * wanted or free - wanted >= _MOST_LOST:
            self._cut(region, place, wanted)
        chunk.is_used = True
        self._written[region].append((place, place + wanted))
        return region, place

    def free(self, at: _Place) -> None:
        region, place = at
        chunk = self._chunks[at]
        chunk.is_used = False
        if chunk.after is not None and not self._chunks[region, chunk.after].is_used:
            self._join(region, place, chunk.after)
        if chunk.before is not None and not self._chunks[region, chunk.before].is_used:
            place = chunk.before
            self._forget(region, place)
            self._merge(region, place, self._chunks[region, place].after)
        self._offer(region, place)

    def _find(self, wanted: int) -> int | None:
        """Return the number of the smallest free chunk that fits, of the lowest bin with one."""
        number = bisect_left(self._free, (_bin(wanted), wanted, -len(self._written), -1))
        return number if number < len(self._free) else None

    def _grow(self, wanted: int) -> None:
        if wanted <= self._growth:
            self._extend(self._growth)
            self._growth = min(2 * self._growth, _LAST_GROWTH)
            return
        while wanted > self._growth:
            self._growth *= 2
        self._extend(self._growth)

    def _extend(self, size: int) -> None:
        region = len(self._written)
        self._written.append([])
        self._sizes.append(size)
        self._chunks[region, 0] = _Chunk(size)
        self._offer(region, 0)

    def _offer(self, region: int, place: int) -> None:
        size = self._chunks[region, place].size
        insort(self._free, (_bin(size), size, -region, place))

    def _forget(self, region: int, place: int) -> None:
        size = self._chunks[region, place].size
        self._free.pop(bisect_left(self._free, (_bin(size), size, -region, place)))

    def _cut(self, region: int, place: int, size: int) -> None:
        chunk = self._chunks[region, place]
        rest = place + size
        self._chunks[region, rest] = _Chunk(chunk.size - size, before=place, after=chunk.after)
        if chunk.after is not None:
            self._chunks[region, chunk.after].before = rest
        chunk.size, chunk.after = size, rest
        self._offer(region, rest)

    def _join(self, region: int, place: int, after: int) -> None:
        self._forget(region, after)
        self._merge(region, place, after)

    def _merge(self, region: int, place: int, after: int | None) -> None:
        assert after is not None
        chunk, gone = self._chunks[region, place], self._chunks.pop((region, after))
        chunk.size, chunk.after = chunk.size + gone.size, gone.after
        if gone.after is not None:
            self._chunks[region, gone.after].before = place


class _Block(msgspec.Struct):
    """The block of a second run: each result lies in the gap that it fits best, or at the end.

    What is free at the end, of as much as was needed before, is a gap, too.
    """

    size: int = 0
    # Places and ends of what is held, in order.
    _spans: list[tuple[int, int]] = msgspec.field(default_factory=list[tuple[int, int]])

    def allocate(self, size: int) -> tuple[int, int]:
        wanted = -(-size // _STEP) * _STEP
        place = end = 0
        least: int | None = None
        for start, after in (*self._spans, (self.size, self.size)):
            gap = start - end
            if gap >= wanted and (least is None or gap < least):
                least, place = gap, end
            end = after
        if least is None:
            place = self._spans[-1][1] if self._spans else 0
        span = place, place + wanted
        insort(self._spans, span)
        self.size = max(self.size, span[1])
        return span

    def free(self, span: tuple[int, int]) -> None:
        self._spans.remove(span)


def _bin(size: int) -> int:
    return min((size // _STEP).bit_length() - 1, _LAST_BIN)
