"""The buffers that OpenVINO's processor plug-in gives to results, in graphs of a few nodes."""

from collections.abc import Callable
from functools import partial

import msgspec
import pytest

from backends.base import Device, DType, HeldResults, OperatorSet, Precision
from backends.intel_openvino import OpenVinoBackend
from backends.intel_openvino.devices import BACKEND
from engine.graphs.flux import flux
from engine.graphs.live_results import held_results
from engine.graphs.operators import GraphBuilder
from engine.graphs.sd3 import sd3
from tests.graphs.networks import Emit, wanted
from tests.graphs.wide_networks import DENOISERS, FLUX, SD3_LARGE

_OPERATORS: OperatorSet = OpenVinoBackend().operators(Device(BACKEND, "cpu", ""))
_WIDTH, _ROWS = 8, 5
# The numbers of a result of one row of `_WIDTH` for each of `_ROWS`.
_ONE = _WIDTH * _ROWS

Body = Callable[[GraphBuilder, str], str]


def held_by(
    emit: Callable[[GraphBuilder], None], precision: Precision = Precision.F32
) -> HeldResults:
    g = GraphBuilder("small", wanted(emit), _OPERATORS, precision.dtype, precision)
    emit(g)
    return held_results(g.build({}), {"rows": _ROWS})


def buffers(body: Body, precision: Precision = Precision.F32) -> int:
    """The buffers of a product, what `body` makes of it, and a product of that, in whole results.

    The last product leaves.
    """

    def emit(g: GraphBuilder) -> None:
        x = product(g, g.input("x", DType.F32, ("rows", _WIDTH)), "first")
        g.output(product(g, body(g, x), "last"), "y", DType.F32, ("rows", _WIDTH))

    numbers = held_by(emit, precision).grouped
    assert numbers % _ONE == 0
    return numbers // _ONE


def product(g: GraphBuilder, x: str, name: str) -> str:
    return g.linear(x, name, (_WIDTH, _WIDTH), bias=False)


def chain(g: GraphBuilder, x: str) -> str:
    return product(g, product(g, x, "second"), "third")


def normed(g: GraphBuilder, x: str) -> str:
    return g.op("LayerNormalization", x, g.constant([1.0] * _WIDTH), axis=-1)


def sliced(g: GraphBuilder, x: str, start: int, end: int) -> str:
    return g.op("Slice", x, g.integers([start]), g.integers([end]), g.integers([0]))


def test_a_result_gets_the_buffer_of_one_that_is_no_longer_held() -> None:
    assert buffers(chain) == 2


def test_results_that_leave_have_memory_of_their_own_unless_they_were_rounded() -> None:
    exact, rounded = (
        buffers(lambda g, x: product(g, x, "second"), precision)
        for precision in (Precision.F32, Precision.BF16)
    )
    assert exact == 2
    # The converted input, in place of which the second result lies, the first, and what leaves.
    assert rounded == 2

    def shown(g: GraphBuilder) -> None:
        x = product(g, g.input("x", DType.F32, ("rows", _WIDTH)), "first")
        g.output(x, "x shown", DType.F32, ("rows", _WIDTH))
        g.output(product(g, x, "second"), "y", DType.F32, ("rows", _WIDTH))

    assert held_by(shown).grouped == 0
    assert held_by(shown, Precision.BF16).grouped == 2 * _ONE


def test_nothing_is_written_over_what_it_is_made_of() -> None:
    # The first product, its norm, and the sum of both.
    assert buffers(lambda g, x: g.op("Add", g.op("Neg", normed(g, x)), x)) == 3


def test_results_that_leave_first_are_made_first() -> None:
    def emit(g: GraphBuilder) -> None:
        x = product(g, g.input("x", DType.F32, ("rows", _WIDTH)), "first")
        second = product(g, x, "second")
        g.output(product(g, second, "third"), "y", DType.F32, ("rows", _WIDTH))
        wide = g.op("Concat", x, x, x, x, axis=0)
        g.output(product(g, sliced(g, wide, 0, _ROWS), "last"), "z", DType.F32, ("rows", _WIDTH))

    # What is four times as large gets the second product's buffer, and its slice the first one's.
    assert held_by(emit).grouped == (4 + 1) * _ONE


def test_results_held_where_a_size_is_computed_are_held_to_the_next_such_place() -> None:
    def again(g: GraphBuilder, x: str, *, shaped: bool) -> str:
        for name in "abcd":
            y = product(g, x, name)
            if shaped:
                y = g.op("Reshape", y, g.op("Shape", y))
            x = product(g, y, f"{name} again")
        return x

    assert buffers(lambda g, x: again(g, x, shaped=False)) == 2
    assert buffers(lambda g, x: again(g, x, shaped=True)) == 3


def test_a_constant_that_is_repeated_for_the_sizes_of_a_run_is_a_result() -> None:
    def beside(g: GraphBuilder, x: str, *, times: str) -> str:
        ones = g.op("Tile", g.constant([[1.0] * _WIDTH]), times)
        return sliced(g, g.op("Concat", normed(g, x), ones, axis=0), 0, _ROWS)

    def rows(g: GraphBuilder, x: str) -> str:
        size = g.op("Slice", g.op("Shape", x), g.integers([0]), g.integers([1]), g.integers([0]))
        return g.op("Concat", size, g.integers([1]), axis=0)

    # The norm, and both joined.
    assert buffers(lambda g, x: beside(g, x, times=g.integers([_ROWS, 1]))) == 1 + 2
    # Its size is computed in the run, so that the norm and the first product are held longer.
    assert buffers(lambda g, x: beside(g, x, times=rows(g, x))) == 2 + 1 + 2


def test_results_of_one_size_share_memory_apart_from_buffers() -> None:
    def emit(g: GraphBuilder, rows: int | str) -> None:
        x = product(g, g.input("x", DType.F32, ("rows", _WIDTH)), "first")
        y = g.input("fixed", DType.F32, (rows, _WIDTH))
        y = product(g, product(g, y, "a"), "b")
        g.output(g.op("Add", chain(g, x), y), "y", DType.F32, ("rows", _WIDTH))

    # Two of one size, while the others take turns in two buffers, of which the second waits.
    assert held_by(lambda g: emit(g, _ROWS)).grouped == (2 + 2) * _ONE
    assert held_by(lambda g: emit(g, "rows")).grouped == 3 * _ONE


def sd3_of(blocks: int) -> Emit:
    return partial(sd3, config=msgspec.structs.replace(SD3_LARGE, blocks=blocks))


def flux_of(blocks: int) -> Emit:
    return partial(
        flux, config=msgspec.structs.replace(FLUX, double_blocks=blocks, single_blocks=blocks)
    )


@pytest.mark.parametrize("precision", [Precision.F32, Precision.BF16])
@pytest.mark.parametrize(("name", "of"), [("SD 3.5 large", sd3_of), ("Flux.1", flux_of)])
def test_later_blocks_take_the_buffers_of_earlier_ones(
    name: str, of: Callable[[int], Emit], precision: Precision
) -> None:
    sizes = DENOISERS[name].sizes(512, 512, 1)
    found: list[int] = []
    for blocks in (3, 12):
        emit = of(blocks)
        g = GraphBuilder("blocks", wanted(emit), _OPERATORS, precision.dtype, precision)
        emit(g)
        found.append(held_results(g.build({}), sizes).grouped)
    assert found[0] <= found[1] < 1.4 * found[0]
