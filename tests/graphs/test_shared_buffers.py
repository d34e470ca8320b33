"""The buffers that OpenVINO's processor plug-in gives to results, in graphs of a few nodes."""

from collections.abc import Callable

from backends.base import Device, DType, HeldResults, OperatorSet, Precision
from backends.intel_openvino import OpenVinoBackend
from backends.intel_openvino.devices import BACKEND
from engine.graphs.live_results import held_results
from engine.graphs.operators import GraphBuilder
from tests.graphs.networks import wanted

_OPERATORS: OperatorSet = OpenVinoBackend().operators(Device(BACKEND, "cpu", ""))
_WIDTH, _ROWS = 8, 5
# The numbers of a result of one row of `_WIDTH` for each of `_ROWS`.
_ONE = _WIDTH * _ROWS

Body = Callable[[GraphBuilder, str], str]


def held_by(emit: Callable[[GraphBuilder], None], rows: int = _ROWS) -> HeldResults:
    g = GraphBuilder("small", wanted(emit), _OPERATORS, DType.F32, Precision.F32)
    emit(g)
    return held_results(g.build({}), {"rows": rows})


def buffers(body: Body) -> int:
    """The buffers of a product, what `body` makes of it, and a product of that, in whole results.

    The first product takes the graph's input, whose converted copy is a result, too.
    """

    def emit(g: GraphBuilder) -> None:
        x = product(g, g.input("x", DType.F32, ("rows", _WIDTH)), "first")
        g.output(product(g, body(g, x), "last"), "y", DType.F32, ("rows", _WIDTH))

    numbers = held_by(emit).grouped
    assert numbers % _ONE == 0
    return numbers // _ONE


def product(g: GraphBuilder, x: str, name: str) -> str:
    return g.linear(x, name, (_WIDTH, _WIDTH), bias=False)


def normed(g: GraphBuilder, x: str) -> str:
    """A result of x's size that is not written over x."""
    scale = g.constant([1.0] * _WIDTH)
    return g.op("LayerNormalization", x, scale, scale, axis=-1)


def test_a_result_gets_the_buffer_of_one_that_is_no_longer_held() -> None:
    assert buffers(lambda g, x: product(g, product(g, x, "second"), "third")) == 2


def test_nodes_that_compute_by_number_write_over_their_input() -> None:
    def chain(g: GraphBuilder, x: str) -> str:
        return g.op("Add", x, g.op("Tanh", g.op("Gelu", normed(g, x))))

    # The first product, and the norm of it, over which all else is written.
    assert buffers(chain) == 2
    # The sum is written over neither: something else takes the first product.
    assert buffers(lambda g, x: g.op("Add", x, normed(g, chain(g, x)))) == 3


def test_nodes_that_compute_by_number_are_joined_with_such_a_node_before_them() -> None:
    def added(g: GraphBuilder, x: str) -> str:
        return g.op("Add", product(g, x, "second"), x)

    # The second product is not written over, since something else takes what is added.
    assert buffers(lambda g, x: g.op("Add", added(g, x), x)) == 3
    # But what is joined with it writes where it does.
    assert buffers(lambda g, x: g.op("Add", g.op("Tanh", product(g, x, "second")), x)) == 2


def test_a_product_with_the_sigmoid_of_its_own_input_is_one_node() -> None:
    def gated(g: GraphBuilder, x: str, *, by: str) -> str:
        y = product(g, x, "second")
        gate = g.op("Sigmoid", y) if by == "itself" else normed(g, y)
        return g.op("Add", g.op("Mul", y, gate), x)

    assert buffers(lambda g, x: gated(g, x, by="itself")) == 2
    # The norm is held beside both products, and so is what is made of it.
    assert buffers(lambda g, x: gated(g, x, by="norm")) == 4


def test_results_that_leave_first_are_made_first() -> None:
    def emit(g: GraphBuilder) -> None:
        x = product(g, g.input("x", DType.F32, ("rows", _WIDTH)), "first")
        g.output(product(g, x, "second"), "y", DType.F32, ("rows", _WIDTH))
        wide = g.op("Concat", x, x, x, x, axis=0)
        g.output(sliced(g, wide, 0, _ROWS), "z", DType.F32, ("rows", _WIDTH))

    # What is four times as large gets the second product's buffer, and its slice the first one's.
    assert held_by(emit).grouped == (4 + 1) * _ONE


def sliced(g: GraphBuilder, x: str, start: int, end: int) -> str:
    return g.op("Slice", x, g.integers([start]), g.integers([end]), g.integers([0]))


def test_slices_at_fixed_places_are_made_at_once() -> None:
    def thirds(g: GraphBuilder, x: str) -> str:
        x = g.op("Concat", x, x, x, axis=0)
        first, second, third = (sliced(g, x, n * _ROWS, (n + 1) * _ROWS) for n in range(3))
        return g.op("Add", g.op("Add", first, second), third)

    # The three together, and each of them. One by one, the third would get the second's buffer.
    assert buffers(thirds) == 3 + 3


def test_results_held_where_a_size_is_computed_are_held_to_the_next_such_place() -> None:
    def chain(g: GraphBuilder, x: str, *, shaped: bool) -> str:
        for name in "abcd":
            y = product(g, x, name)
            if shaped:
                y = g.op("Reshape", y, g.op("Shape", y))
            x = product(g, y, f"{name} again")
        return x

    assert buffers(lambda g, x: chain(g, x, shaped=False)) == 2
    assert buffers(lambda g, x: chain(g, x, shaped=True)) == 3


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


def test_convolutions_copy_what_they_take_and_make() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, (1, 4, "rows", 2))
        g.output(g.conv(x, "a", (4, 4), kernel=1), "y", DType.F32, (1, 4, "rows", 2))

    # Its input, that with channels last, and the result with them last; as they come, it fits the
    # input's.
    assert held_by(emit).grouped == 3 * 4 * _ROWS * 2


def test_attention_packs_keys_and_values_and_turns_keys_and_its_result() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, (1, "rows", _WIDTH))
        q, k, v = (product(g, x, name) for name in "qkv")
        y = g.attention(q, k, v, heads=2, head_width=_WIDTH // 2)
        g.output(y, "y", DType.F32, (1, "rows", _WIDTH))

    held = held_by(emit)
    assert held.packed == 2 * _ONE
    # What it takes, the input's copy, in place of which the result by heads lies, and keys turned.
    assert held.grouped == 5 * _ONE


def test_scores_of_attention_in_single_nodes_vanish() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("rows", _WIDTH))
        q, k, v = (product(g, x, name) for name in "qkv")
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[1, 0]))
        y = g.op("MatMul", g.op("Softmax", scores), v)
        g.output(y, "y", DType.F32, ("rows", _WIDTH))

    # More than the width, so that scores are larger than what they are made of.
    rows = 3 * _WIDTH
    held = held_by(emit, rows)
    assert held.packed == 2 * rows * _WIDTH
    assert held.grouped == 4 * rows * _WIDTH
