"""The buffers of a runtime that gives results whose lives do not meet the same one.

That is OpenVINO's processor plug-in, for networks of any size. Its rules were read in its sources
(2026: graph.cpp, edge.cpp, memory_control.cpp, nodes/eltwise.cpp), and their sizes compared with
the blocks that it allocates:

- Nodes, which `compiled_steps` tells, run as each first input needs them.
- Nothing is written over what it is made of: that is for networks of one size.
- The size of some results follows from numbers of the run, such as a shape. The plug-in computes
  sizes and grows buffers from one of them to the next; so a result that is held across one of them
  is held to the one after.
- A result gets the first buffer whose last one is no longer held. Buffers are not cut.
- What leaves the run has memory of its own. What is rounded is copied there.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import msgspec
from onnx import NodeProto

from backends.base import PackedAttention
from engine.graphs.compiled_steps import Run, Step, compiled_steps
from engine.graphs.joined_steps import joined_steps
from engine.graphs.result_shapes import ResultShapes


class _Life(msgspec.Struct):
    """The first and last step in which a buffer is held, and its numbers."""

    first: int
    last: int
    size: int


def shared_buffers(
    shapes: ResultShapes, nodes: Iterable[NodeProto], run: Run
) -> tuple[int, frozenset[PackedAttention]]:
    """Return the numbers of all buffers, each as large as the largest of its results.

    And what each attention packs beside them. `shapes` has all results' shapes.
    """
    compiled = compiled_steps(shapes, nodes, run)
    steps = joined_steps(compiled, rounds=run.rounds)
    order = _by_first_inputs(steps, compiled.leaving)
    apart = () if run.rounds else compiled.leaving
    of_any = list(_lives(order, apart, of_one_size=False))
    of_one = list(_lives(order, apart, of_one_size=True))
    packed = frozenset(step.packs for step in steps if step.packs)
    return _shared(of_any) + _at_once(of_one), packed


def _by_first_inputs(steps: Sequence[Step], leaving: Sequence[str]) -> list[Step]:
    """Return the steps in the order of a search from what leaves the run, first inputs first.

    Steps without a result follow what they take.
    """
    makers = {name: n for n, step in enumerate(steps) for name in step.made}
    seers = defaultdict[str, list[Step]](list)
    for step in steps:
        if not step.made:
            seers[step.taken[0]].append(step)
    ends = [makers[name] for name in leaving if name in makers]
    waiting, seen, order = [(n, False) for n in reversed(ends)], set[int](), list[Step]()
    while waiting:
        number, is_ready = waiting.pop()
        step = steps[number]
        if is_ready:
            order += [step, *(seer for name in step.made for seer in seers[name])]
        elif number not in seen:
            seen.add(number)
            waiting.append((number, True))
            needed = dict.fromkeys(makers[name] for name in step.taken if name in makers)
            waiting += ((maker, False) for maker in reversed(needed) if maker not in seen)
    return order


def _lives(steps: Sequence[Step], apart: Iterable[str], *, of_one_size: bool) -> Iterator[_Life]:
    """Return the lives of results whose size is always the same, or not; but for those `apart`."""
    waits = [place for place, step in enumerate(steps) if step.waits and not of_one_size]
    lives = dict[str, _Life]()
    for place, step in enumerate(steps):
        for name in step.taken:
            if name in lives:
                lives[name].last = place
        if step.of_one_size is of_one_size:
            lives |= {name: _Life(place, place, size) for name, size in step.made.items()}
    for name in apart:
        lives.pop(name, None)
    for life in lives.values():
        after = bisect_left(waits, life.last)
        if bisect_left(waits, life.first) < after:
            life.last = waits[after] if after < len(waits) else len(steps)
        yield life


def _at_once(lives: Sequence[_Life]) -> int:
    """Return the most numbers of results that are held at once."""
    firsts = {life.first for life in lives}
    held = (sum(life.size for life in lives if life.first <= n <= life.last) for n in firsts)
    return max(held, default=0)


def _shared(lives: Iterable[_Life]) -> int:
    """Return the sum of the buffers that are given to results with these lives."""
    buffers: list[_Life] = []
    for life in sorted(lives, key=attrgetter("first", "last")):
        held = next((buffer for buffer in buffers if buffer.last < life.first), None)
        if held is None:
            buffers.append(msgspec.structs.replace(life))
        else:
            held.last, held.size = life.last, max(held.size, life.size)
    return sum(buffer.size for buffer in buffers)
