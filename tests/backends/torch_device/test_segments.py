"""Steps cut into segments whose weights are streamed."""

from itertools import pairwise

import pytest

from backends.torch_device.segments import IN_FLIGHT, Segment, aligned, streamed_segments

KB = 1024
# Forty layers, each a step without weights, a matrix and a list.
USES = [names for i in range(40) for names in ((), (f"{i}.matrix",), (f"{i}.list",))]
SIZES = {name: 64 * KB if "matrix" in name else 100 for names in USES for name in names}
TOTAL = sum(map(aligned, SIZES.values()))


def held(segments: tuple[Segment, ...], sizes: dict[str, int] = SIZES) -> int:
    """The bytes of weights on the device: those that stay, and two segments."""
    streamed = {name for segment in segments for name in segment.weights}
    largest = max(sum(aligned(sizes[name]) for name in segment.weights) for segment in segments)
    stay = sum(aligned(size) for name, size in sizes.items() if name not in streamed)
    return stay + IN_FLIGHT * largest


def test_nothing_is_streamed_where_all_weights_fit() -> None:
    assert streamed_segments(USES, SIZES, TOTAL) == ()
    assert streamed_segments(USES, SIZES, TOTAL - 1)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_the_room_is_filled_and_kept(share: float) -> None:
    room = int(share * TOTAL)
    segments = streamed_segments(USES, SIZES, room)
    assert room - 70 * KB < held(segments) <= room


def test_the_weights_of_a_step_come_together_and_before_it() -> None:
    for room in (0, TOTAL // 2):
        segments = streamed_segments(USES, SIZES, room)
        for segment in segments:
            of_steps = {name for names in USES[segment.first : segment.stop] for name in names}
            assert set(segment.weights) == of_steps
        ends = [end for segment in segments for end in (segment.first, segment.stop)]
        assert ends == sorted(ends)
        assert all(segment.weights for segment in segments)


def test_streamed_segments_are_spread_between_those_that_stay() -> None:
    """With three quarters of the room, a segment is read while several others compute."""
    segments = streamed_segments(USES, SIZES, int(0.75 * TOTAL))
    gaps = [after.first - before.stop for before, after in pairwise(segments)]
    assert max(gaps) <= 4 * len(USES) // len(segments)
    assert min(gaps) > 0


def test_the_largest_step_says_how_much_two_segments_take() -> None:
    sizes = SIZES | {"7.matrix": 1024 * KB}
    segments = streamed_segments(USES, sizes, 0)
    assert held(segments, sizes) == IN_FLIGHT * aligned(1024 * KB)
    # Small layers share a segment.
    assert len(segments) < 10


def test_a_weight_of_several_segments_is_read_for_each_or_stays() -> None:
    uses = [(f"{i}", "shared") for i in range(10)]
    sizes = {name: KB for names in uses for name in names}
    segments = streamed_segments(uses, sizes, 0)
    assert len(segments) == 10
    assert all("shared" in segment.weights for segment in segments)
    some = streamed_segments(uses, sizes, 9 * KB)
    assert 0 < len(some) < 10
    assert all("shared" not in segment.weights for segment in some)
    assert held(some, sizes) <= 9 * KB


def test_two_segments_are_as_large_as_all_and_stay() -> None:
    uses = [("a",), ("b",)]
    assert streamed_segments(uses, {"a": 1000, "b": 1000}, 100) == ()
