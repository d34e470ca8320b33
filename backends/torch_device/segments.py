"""Cuts a graph's steps into segments, for weights that do not fit a device's memory at once.

A segment is steps in a row whose weights are copied to the device together. Nothing here needs
torch.
"""

from collections.abc import Mapping, Sequence

import msgspec

from backends.base import IN_FLIGHT

# Weights in a segment's memory begin at multiples of this, as those in memory of their own do.
ALIGNMENT = 512


class Segment(msgspec.Struct, frozen=True):
    """The steps from `first` up to `stop`, and the names of their weights."""

    first: int
    stop: int
    weights: tuple[str, ...]


def aligned(nbytes: int) -> int:
    """Return the bytes that a weight takes in a segment's memory."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def streamed_segments(
    uses: Sequence[Sequence[str]], sizes: Mapping[str, int], room_bytes: int
) -> tuple[Segment, ...]:
    """Return the segments to be streamed so that the weights on the device fit `room_bytes`.

    `uses` names the weights of each step, `sizes` has the bytes of each weight. Segments hold at
    most what the largest step needs, so that the room left to weights that stay is the largest. The
    streamed ones are spread evenly between those that stay: the next is read meanwhile. Returns
    none where all weights fit, or no more than two segments would be streamed. A room that is too
    small for two segments streams all of them.
    """
    used = {name for names in uses for name in names}
    if sum(aligned(sizes[name]) for name in used) <= room_bytes:
        return ()
    segments = _cut(uses, sizes)
    largest = max(_bytes_of(segment.weights, sizes) for segment in segments)
    staying = _staying(segments, sizes, max(0, room_bytes - IN_FLIGHT * largest))
    streamed = [
        Segment(segment.first, segment.stop, weights)
        for segment in segments
        if (weights := tuple(name for name in segment.weights if name not in staying))
    ]
    return tuple(streamed) if len(streamed) > IN_FLIGHT else ()


def _cut(uses: Sequence[Sequence[str]], sizes: Mapping[str, int]) -> list[Segment]:
    """Return all steps in segments, each with as many as weigh no more than the largest step."""
    most = max(_bytes_of(dict.fromkeys(names), sizes) for names in uses)
    segments: list[Segment] = []
    first, weights = 0, dict[str, None]()
    for step, names in enumerate(uses):
        joined = weights | dict.fromkeys(names)
        if _bytes_of(joined, sizes) > most:
            segments.append(Segment(first, step, tuple(weights)))
            first, joined = step, dict.fromkeys(names)
        weights = joined
    return [*segments, Segment(first, len(uses), tuple(weights))]


def _staying(segments: Sequence[Segment], sizes: Mapping[str, int], room_bytes: int) -> set[str]:
    """Return the names of weights that stay on the device, together at most `room_bytes`."""
    total = sum(_bytes_of(segment.weights, sizes) for segment in segments)
    passed = held = 0
    names: set[str] = set()
    for segment in segments:
        passed += _bytes_of(segment.weights, sizes)
        more = _bytes_of([name for name in segment.weights if name not in names], sizes)
        if (held + more) * total <= room_bytes * passed:
            held += more
            names.update(segment.weights)
    return names


def _bytes_of(names: Sequence[str] | Mapping[str, None], sizes: Mapping[str, int]) -> int:
    return sum(aligned(sizes[name]) for name in names)
