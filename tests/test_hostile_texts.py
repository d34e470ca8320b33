"""No text takes longer to read than in proportion to its length, whatever it is made of.

Seconds are not judged, but what four times the length takes beside once the length, in time of the
processor, the least of several runs.
"""

from itertools import islice

import pytest

from tests.hostile_texts import (
    GRAMMARS,
    READERS,
    Shape,
    grows_too_steeply,
    random_shapes,
    simple_shapes,
)
from tests.thinned import thinned


def test_the_measure_distinguishes_quadratic_from_linear_time() -> None:
    # Both take well over what the measure passes by as a fixed cost.
    def square(text: str) -> int:
        return sum(1 for _ in text for _ in range(len(text) // 16))

    def line(text: str) -> int:
        return sum(1 for _ in text for _ in range(200))

    assert grows_too_steeply(square, Shape("", "a", ""))
    assert not grows_too_steeply(line, Shape("", "a", ""))


@pytest.mark.parametrize("one_in", thinned([2, 1], [2]))
@pytest.mark.parametrize("name", GRAMMARS)
def test_a_grammar_takes_linear_time(name: str, one_in: int) -> None:
    shapes = islice(simple_shapes(), 0, None, one_in)
    steep = [shape for shape in shapes if grows_too_steeply(GRAMMARS[name], shape)]
    assert steep == []


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name: str) -> None:
    shapes = islice(simple_shapes(), 0, None, 3)
    steep = [shape for shape in shapes if grows_too_steeply(READERS[name], shape)]
    assert steep == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [*GRAMMARS, *READERS])
def test_combined_hostile_texts_take_linear_time(name: str, seed: int) -> None:
    read = {**GRAMMARS, **READERS}[name]
    shapes = islice(random_shapes(seed), 200)
    assert [shape for shape in shapes if grows_too_steeply(read, shape)] == []
