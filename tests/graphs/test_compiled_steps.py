"""The nodes that OpenVINO's processor plug-in makes of a graph, by their kinds."""

from collections.abc import Callable

from onnx import ModelProto

from backends.base import Device, DType, OperatorSet, PackedAttention, Precision
from backends.intel_openvino import OpenVinoBackend
from backends.intel_openvino.devices import BACKEND
from engine.graphs.compiled_steps import CHANNELS_FIRST, COPY, SLICES, Step, compiled_steps
from engine.graphs.joined_steps import joined_steps
from engine.graphs.live_results import result_shapes, run_names
from engine.graphs.operators import GraphBuilder
from tests.graphs.networks import wanted

_OPERATORS: OperatorSet = OpenVinoBackend().operators(Device(BACKEND, "cpu", ""))
_WIDTH, _ROWS = 8, 5
# The numbers of a result of one row of `_WIDTH` for each of `_ROWS`.
_ONE = _WIDTH * _ROWS
_EXACT, _ROUNDED = Precision.F32, Precision.BF16

Body = Callable[[GraphBuilder, str], str]


def steps_of(
    emit: Callable[[GraphBuilder], None], precision: Precision = _EXACT, rows: int = _ROWS
) -> list[Step]:
    g = GraphBuilder("small", wanted(emit), _OPERATORS, precision.dtype, precision)
    emit(g)
    graph = g.build({})
    found = ModelProto.FromString(graph.model).graph
    shapes = result_shapes(graph, found, {"rows": rows})
    names = run_names(graph, found)
    return joined_steps(compiled_steps(shapes, found.node, names), rounds=names.rounds)


def inner(body: Body, precision: Precision = _EXACT) -> list[Step]:
    """The steps of `body` between two products of rows, without copies."""

    def emit(g: GraphBuilder) -> None:
        x = product(g, g.input("x", DType.F32, ("rows", _WIDTH)), "first")
        g.output(product(g, body(g, x), "last"), "y", DType.F32, ("rows", _WIDTH))

    first, *steps, last = (step for step in steps_of(emit, precision) if step.kind != COPY)
    assert first.kind == last.kind == "MatMul"
    return steps


def kinds(body: Body, precision: Precision = _EXACT) -> list[str]:
    return [step.kind for step in inner(body, precision)]


def product(g: GraphBuilder, x: str, name: str, *, bias: bool = False) -> str:
    return g.linear(x, name, (_WIDTH, _WIDTH), bias=bias)


def normed(g: GraphBuilder, x: str) -> str:
    return g.op("LayerNormalization", x, g.constant([1.0] * _WIDTH), axis=-1)


def sliced(g: GraphBuilder, x: str, start: int, end: int) -> str:
    return g.op("Slice", x, g.integers([start]), g.integers([end]), g.integers([1]))


def test_a_product_is_one_node_with_what_computes_number_by_number_of_it_alone() -> None:
    def gelu(g: GraphBuilder, x: str) -> str:
        return g.op("Gelu", product(g, x, "second", bias=True))

    assert kinds(gelu) == ["MatMul"]
    # What takes something else, too, is a node of its own.
    assert kinds(lambda g, x: g.op("Add", gelu(g, x), x)) == ["MatMul", "Add"]
    # So is what takes a result that something else takes, or that leaves.
    assert kinds(lambda g, x: g.op("Add", g.op("Tanh", x), x)) == ["Tanh"]

    def shown(g: GraphBuilder, x: str) -> str:
        y = product(g, x, "second")
        g.output(y, "shown", DType.F32, ("rows", _WIDTH))
        return g.op("Tanh", y)

    assert kinds(shown) == ["MatMul", "Tanh"]


def test_nodes_that_compute_number_by_number_are_one_where_nothing_else_takes_what_is_between() -> (
    None
):
    def chain(g: GraphBuilder, x: str) -> str:
        return g.op("Add", g.op("Tanh", normed(g, x)), x)

    assert kinds(chain) == ["LayerNormalization", "Tanh"]

    def beside(g: GraphBuilder, x: str) -> str:
        y = g.op("Tanh", normed(g, x))
        return g.op("Add", g.op("Add", y, x), normed(g, y))

    assert kinds(beside) == ["LayerNormalization", "Tanh", "Add", "LayerNormalization"]

    def of_two(g: GraphBuilder, x: str) -> str:
        row = g.op("Neg", g.op("ReduceMax", normed(g, x), g.integers([0])))
        return g.op("Mul", row, g.op("Tanh", g.op("Softmax", x, axis=-1)))

    # The larger of two is one with what takes both.
    (row,) = (step for step in inner(of_two) if step.kind == "Neg")
    assert list(row.made.values()) == [_WIDTH]


def test_takers_of_a_slice_are_nodes_of_their_own() -> None:
    half = _WIDTH // 2

    def gated(g: GraphBuilder, x: str) -> str:
        y = product(g, x, "second")
        first, second = sliced(g, y, 0, half), sliced(g, y, half, _WIDTH)
        return g.op("Concat", g.op("Mul", g.op("Tanh", first), second), first, axis=1)

    assert kinds(gated) == ["MatMul", SLICES, "Tanh", "Mul", "Concat"]


def test_a_product_with_the_sigmoid_of_its_own_input_is_one_node() -> None:
    def gated(g: GraphBuilder, x: str) -> str:
        y = product(g, x, "second")
        return g.op("Add", g.op("Mul", y, g.op("Sigmoid", y)), x)

    assert kinds(gated) == ["MatMul", "Add"]


def test_a_node_like_an_earlier_one_is_that_one() -> None:
    def twice(g: GraphBuilder, x: str) -> str:
        scale = g.constant([1.0] * _WIDTH)
        first, second = (g.op("LayerNormalization", x, scale, axis=-1) for _ in "ab")
        return g.op("Concat", first, g.op("Softmax", second, axis=-1), axis=1)

    def taken(g: GraphBuilder, x: str) -> str:
        return sliced(g, twice(g, x), 0, _WIDTH)

    assert kinds(taken) == ["LayerNormalization", "Softmax", "Concat", SLICES]


def test_a_norm_without_weights_multiplies_by_one_where_results_are_rounded() -> None:
    assert kinds(normed) == ["LayerNormalization"]
    assert kinds(normed, _ROUNDED) == ["LayerNormalization", "Mul"]

    def weighted(g: GraphBuilder, x: str) -> str:
        scale = g.constant([2.0] * _WIDTH)
        return g.op("LayerNormalization", x, scale, scale, axis=-1)

    assert kinds(weighted) == ["LayerNormalization", "Mul"]


def test_a_norm_by_the_root_of_the_mean_of_squares_is_one_node_in_float32() -> None:
    def scaled(g: GraphBuilder, x: str) -> str:
        squares = g.op("Pow", x, g.constant(2.0))
        mean = g.op("ReduceMean", squares, g.integers([-1]))
        root = g.op("Sqrt", g.op("Add", mean, g.constant(1e-6)))
        y = g.op("Mul", x, g.op("Div", g.constant(1.0), root))
        return g.op("Mul", y, g.constant([1.0] * _WIDTH))

    assert kinds(scaled) == ["Norm"]
    assert kinds(scaled, _ROUNDED) == ["Pow", "ReduceMean", "Add"]
    # What follows is not one with it.
    assert kinds(lambda g, x: g.op("Tanh", scaled(g, x))) == ["Norm", "Tanh"]


def test_convolutions_copy_what_has_channels_first() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.conv(g.input("x", DType.F32, (1, 4, "rows", 2)), "a", (4, 4), kernel=1)
        y = g.op("Add", g.conv(x, "b", (4, 4), kernel=1), x)
        y = g.conv(g.op("Concat", y, g.op("Softmax", y, axis=-1), axis=1), "c", (4, 8), kernel=1)
        g.output(y, "y", DType.F32, (1, 4, "rows", 2))

    # The second takes what the first makes, and so does the sum. Softmax has channels first.
    sums = [COPY, "Conv", "Conv", "Add", CHANNELS_FIRST, "Softmax"]
    assert [step.kind for step in steps_of(emit)] == [*sums, COPY, "Concat", "Conv", CHANNELS_FIRST]


def attention(g: GraphBuilder, *, keys: str) -> None:
    x = g.input("x", DType.F32, (1, "rows", _WIDTH))
    q, k, v = (product(g, x, name) for name in "qkv")
    if keys == "put together":
        k, v = (g.op("Concat", y, y, axis=1) for y in (k, v))
    y = g.attention(q, k, v, heads=2, head_width=_WIDTH // 2)
    g.output(y, "y", DType.F32, (1, "rows", _WIDTH))


def test_attention_takes_keys_that_are_scaled_and_turned() -> None:
    found = [step.kind for step in steps_of(lambda g: attention(g, keys="of a product"))]
    # A product of keys scales them.
    assert found == [*["MatMul"] * 3, COPY, "Attention"]
    found = [step.kind for step in steps_of(lambda g: attention(g, keys="put together"))]
    assert found == [*["MatMul"] * 3, *["Concat"] * 2, "Mul", COPY, "Attention"]


def test_attention_turns_its_result_and_inputs_are_converted_where_results_are_rounded() -> None:
    found = [step.kind for step in steps_of(lambda g: attention(g, keys="of a product"), _ROUNDED)]
    assert found == [COPY, *["MatMul"] * 3, COPY, "Attention", COPY]


def test_attention_packs_heads_whose_widths_are_rounded_up() -> None:
    *_, step = steps_of(lambda g: attention(g, keys="of a product"))
    of_head = _ROWS * (16 + 64)
    assert step.packs == PackedAttention(2 * of_head, of_head)


def test_attention_in_single_nodes_is_one_node_without_scores() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, (1, "rows", _WIDTH))
        shape = g.integers([0, 0, 2, _WIDTH // 2])
        q, k, v = (g.op("Reshape", product(g, x, name), shape) for name in "qkv")
        q, v = (g.op("Transpose", y, perm=[0, 2, 1, 3]) for y in (q, v))
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 3, 1]))
        biased = g.op("Add", g.op("Mul", scores, g.constant(0.5)), g.input("b", DType.F32, (1,)))
        y = g.op("MatMul", g.op("Softmax", biased, axis=-1), v)
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.integers([0, 0, _WIDTH]))
        g.output(product(g, y, "out"), "y", DType.F32, (1, "rows", _WIDTH))

    # Keys alone are turned.
    exact, rounded = (
        [step.kind for step in steps_of(emit, precision)] for precision in (_EXACT, _ROUNDED)
    )
    assert exact == ["MatMul", "MatMul", "MatMul", "Transpose", "Attention", "MatMul"]
    assert rounded[-3:] == ["Attention", "Transpose", "MatMul"]
