"""Steps of a graph that OpenVINO's processor plug-in makes one of, when it compiles all of them.

Its rules were read in its sources (2026: graph_optimizer.cpp, nodes/eltwise.cpp, and those of its
snippets) and in the compiled networks of all families:

- What computes number by number is one node with such a node before it, if nothing else takes what
  that makes, and if it takes no slice. It is one with a product, or with what puts channels first,
  if it takes nothing else.
- Attention in single nodes is one node, in which scores vanish; and so do turns of its queries and
  values. In float32 the turn of its result does.
- In float32, a norm by the root of the mean of squares is one node.
"""

from collections import defaultdict
from math import prod

import msgspec

from backends.block_products import OPERATOR
from engine.graphs.compiled_steps import (
    BY_NUMBER,
    CHANNELS_FIRST,
    SLICES,
    CompiledSteps,
    Step,
    packed_attention,
)

_WITH_WHAT_FOLLOWS = BY_NUMBER | {"MatMul", "Gemm", OPERATOR, CHANNELS_FIRST}
# Nodes of the norm of squares after their mean.
_AFTER_MEAN = ("Add", "Sqrt", "Div", "Mul", "Mul")


def joined_steps(compiled: CompiledSteps, *, rounds: bool) -> list[Step]:
    """Return the steps that are left; `rounds`: results are not in float32."""
    return _Joins(compiled, rounds=rounds).steps()


class _Joins:
    def __init__(self, compiled: CompiledSteps, *, rounds: bool) -> None:
        self._steps: list[Step | None] = list(compiled.steps)
        self._sizes, self._shapes, self._rounds = compiled.sizes, compiled.shapes, rounds
        self._makers = {name: n for n, step in enumerate(compiled.steps) for name in step.made}
        # The places of the steps that take a value; one more where it leaves.
        self._takers = defaultdict[str, list[int]](list)
        for place, step in enumerate(compiled.steps):
            for name in step.taken if step.made else ():
                self._takers[name].append(place)
        for name in compiled.leaving:
            self._takers[name].append(len(self._steps))

    def steps(self) -> list[Step]:
        """Return the steps that are left."""
        for place, step in enumerate(self._steps):
            if step and step.kind == "Softmax":
                self._attend(step)
            elif step and step.kind == "ReduceMean" and not self._rounds:
                self._normalise(step)
            elif step and step.kind in BY_NUMBER:
                self._join(place, step)
        return [step for step in self._steps if step]

    def _maker(self, name: str) -> Step | None:
        return self._steps[self._makers[name]] if name in self._makers else None

    def _taker(self, name: str, kind: str) -> Step | None:
        """Return the step that takes a value, if it is the only one and of a kind."""
        places = self._takers[name]
        is_one = len(places) == 1 and places[0] < len(self._steps)
        step = self._steps[places[0]] if is_one else None
        return step if step and step.kind == kind else None

    def _replace(self, name: str, step: Step | None) -> None:
        """Put a step, or none, in the place of the one that makes a value."""
        place = self._makers[name]
        self._steps[place] = step
        self._makers |= dict.fromkeys(step.made if step else (), place)

    def _join(self, place: int, step: Step) -> None:
        """Join a step that computes number by number with one that makes what it takes."""
        kinds = _WITH_WHAT_FOLLOWS if len(step.taken) == 1 else BY_NUMBER
        makers = {name: maker for name in step.taken if (maker := self._maker(name))}
        found = [
            name
            for name, maker in makers.items()
            if maker.kind in kinds and len(self._takers[name]) == 1
        ]
        if not found or any(maker.kind == SLICES for maker in makers.values()):
            return
        # Where it could be joined with two, the larger result counts: that is one with it.
        over = max(found, key=self._sizes.__getitem__)
        before = makers[over]
        taken = (*before.taken, *(name for name in step.taken if name != over))
        fixed = before.of_one_size and step.of_one_size
        self._steps[place] = None
        self._replace(
            over, msgspec.structs.replace(before, taken=taken, made=step.made, of_one_size=fixed)
        )

    def _normalise(self, mean: Step) -> None:
        """Make one step of a norm, if this is its mean of squares."""
        squares = self._maker(mean.taken[0])
        if not squares or squares.kind != "Pow":
            return
        passed = [mean.taken[0], *mean.made]
        for kind in _AFTER_MEAN:
            step = self._taker(passed[-1], kind)
            if not step:
                return
            passed += step.made
        for name in passed:
            self._replace(name, None)
        last = passed[-1]
        fixed = squares.of_one_size
        norm = Step("Norm", squares.taken, {last: self._sizes[last]}, of_one_size=fixed)
        self._replace(last, norm)

    def _attend(self, softmax: Step) -> None:
        """Make one step of attention in single nodes, if this is its softmax."""
        (weights,) = softmax.made
        last = self._taker(weights, "MatMul")
        scores, passed, biases = softmax.taken[0], [weights], list[str]()
        while (step := self._maker(scores)) and step.kind in {"Add", "Mul"}:
            passed.append(scores)
            inner = next((name for name in step.taken if self._is_alike(name, scores)), "")
            biases += (name for name in step.taken if name != inner)
            scores = inner
        if not (step and step.kind == "MatMul" and last):
            return
        if len(step.taken) != 2 or len(last.taken) != 2:
            return
        (queries, keys), values = step.taken, last.taken[1]
        for name in (*passed, scores):
            self._replace(name, None)
        taken = (self._unturned(queries), keys, *biases, self._unturned(values))
        (result,) = last.made
        turn = None if self._rounds else self._taker(result, "Transpose")
        made = turn.made if turn else last.made
        if turn:
            self._replace(next(iter(made)), None)
        *heads, length, width = self._shapes[values]
        packs = packed_attention(prod(heads), length, width)
        self._replace(result, Step("Attention", taken, made, packs=packs))

    def _is_alike(self, name: str, scores: str) -> bool:
        return name in self._makers and self._sizes[name] == self._sizes[scores]

    def _unturned(self, name: str) -> str:
        """Return what a value is turned of, if it is for one step alone; else it."""
        maker = self._maker(name)
        if not maker or maker.kind != "Transpose" or len(self._takers[name]) != 1:
            return name
        self._replace(name, None)
        return maker.taken[0]
