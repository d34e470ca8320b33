"""Networks in parts: the numbers of one session, and its ways to stop, fail and end."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the runtime ships no complete types)

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import Any

import msgspec
import numpy as np
import pytest
from onnx import ModelProto

from backends.base import (
    Array,
    BackendError,
    DType,
    FileSlice,
    Graph,
    Precision,
    RunCancelled,
    Session,
)
from backends.cpu import CpuBackend, session_options
from backends.onnx_runtime import parts
from backends.onnx_runtime.parts import MOST_PARTS, SessionInParts, cut
from backends.onnx_runtime.provider import CPU, Provider
from backends.onnx_runtime.session import OnnxRuntimeSession
from engine.api.request import ComponentFiles
from engine.cancel import CancelToken
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from engine.weights.sources import FileWeight, WeightSource
from tests.backends.samples import NeverCancelled, Target
from tests.checkpoints.gguf_files import blocks as random_blocks
from tests.families.flow_models import MODELS, write_parts
from tests.families.test_gguf import write_encoder, write_transformer
from tests.pipeline.jobs import a_request, run
from tests.thinned import thinned

WIDTH, LAYERS = 256, 8
INTEGERS = WIDTH * WIDTH // 2


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One layer is enough for a part."""
    monkeypatch.setattr(parts, "PART_BYTES", INTEGERS)


@pytest.fixture
def target() -> Target:
    backend = CpuBackend()
    return Target(backend, backend.probe()[0])


def layers(
    target: Target,
    folder: Path,
    *,
    layers: int = LAYERS,
    odd: bool = False,
    convolved_at: int | None = None,
) -> Graph:
    """Layers with a residual stream, and a sum of another input at the end.

    With `odd`, a value of a type that parts do not hand on is used by the first and the last. One
    layer may begin with a convolution.
    """
    stored = random_blocks(DType.Q4_0, (WIDTH, WIDTH))
    (folder / "blocks").write_bytes(stored.raw)
    blocks = FileWeight(FileSlice(folder / "blocks", 0, DType.Q4_0, stored.shape))
    names: dict[str, WeightSource] = {f"{n}.weight": blocks for n in range(layers)}
    kernel = np.full((1, 1, 1, 1), 0.5, np.float32)
    element = DType.F32
    g = GraphBuilder(
        "layers", names, target.backend.operators(target.device), element, Precision.F32
    )
    x = g.input("x", element, ("batch", "rows", WIDTH))
    shift = g.input("shift", element, ("batch", "rows", WIDTH), optional=True)
    shape = g.op("Shape", x)
    half = g.cast(x, DType.F16) if odd else None
    for number in range(layers):
        if number == convolved_at:
            planes = g.op("Unsqueeze", x, g.constant(np.array([1], np.int64)))
            planes = g.op("Conv", planes, g.constant(kernel))
            x = g.op("Squeeze", planes, g.constant(np.array([1], np.int64)))
        made = g.op("Tanh", g.linear(x, str(number), (WIDTH, WIDTH), bias=False))
        x = g.op("Add", x, made)
        if number == 0:
            g.output(x, "first", element, ("batch", "rows", WIDTH))
    if half:
        x = g.op("Add", x, g.cast(half, element))
    g.output(g.op("Reshape", g.op("Add", x, shift), shape), "y", element, ("batch", "rows", WIDTH))
    return g.build(bind(g.used, element))


def feeds(rows: int = 5, seed: int = 0) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {name: random.standard_normal((2, rows, WIDTH), np.float32) for name in ("x", "shift")}


def load(part: Graph) -> OnnxRuntimeSession:
    return OnnxRuntimeSession(part, session_options(part), Provider(CPU), NeverCancelled())


def in_parts(graph: Graph, cores: int = 2) -> SessionInParts:
    found = cut(graph, cores)
    assert len(found) == cores
    return SessionInParts(graph, found, load)


def assert_equal(found: dict[str, Array], expected: dict[str, Array]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


def is_closed(session: OnnxRuntimeSession) -> bool:
    return "_session" not in vars(session)


def packed(part: Graph) -> int:
    nodes = ModelProto.FromString(part.model).graph.node
    return sum(INTEGERS for node in nodes if node.op_type == "MatMulNBits")


# --- the numbers ---


@pytest.mark.parametrize("cores", [2, 3, 4])
def test_numbers_are_those_of_one_session_at_every_size(
    target: Target, tmp_path: Path, cores: int
) -> None:
    graph = layers(target, tmp_path)
    whole, session = load(graph), in_parts(graph, cores)
    for seed, rows in enumerate((5, 5, 3, 7)):
        given = feeds(rows, seed)
        assert_equal(session.run(given), whole.run(given))
    values = session.run_on_device(feeds())
    assert_equal({name: value.numpy() for name, value in values.items()}, whole.run(feeds()))


class _BothWays:
    """Runs a network as one session and in parts, and compares every number."""

    def __init__(self, whole: Session, session: Session) -> None:
        self._whole, self._session = whole, session
        self.inputs, self.outputs = whole.inputs, whole.outputs

    def run(self, feeds: Any) -> dict[str, Array]:
        expected = self._whole.run(feeds)
        assert_equal(self._session.run(feeds), expected)
        return expected

    def run_on_device(self, feeds: Any) -> Any:
        assert_equal(self._session.run(feeds), self._whole.run(feeds))
        return self._session.run_on_device(feeds)

    def pin(self, name: str, array: Array) -> None:
        self._whole.pin(name, array)
        self._session.pin(name, array)

    def cancel(self) -> None:
        self._whole.cancel()

    def close(self) -> None:
        self._whole.close()
        self._session.close()


class _Comparing(CpuBackend):
    """The processor, with each network loaded both ways; `found` are those that were cut."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: list[str] = []
        self._monkeypatch = monkeypatch

    def load(self, graph: Graph, *others: Any) -> Session:  # pyright: ignore[reportIncompatibleMethodOverride]
        with self._monkeypatch.context() as patch:
            patch.setattr(parts, "PART_BYTES", 1 << 40)
            whole = super().load(graph, *others)
            patch.setattr(parts, "PART_BYTES", 1)
            patch.setattr("os.cpu_count", lambda: 3)
            session = super().load(graph, *others)
        if isinstance(session, SessionInParts):
            self.found.append(graph.name)
        return _BothWays(whole, session)


def quantised(family: str, folder: Path) -> tuple[Path, ComponentFiles]:
    model = MODELS[family]
    written = write_parts(folder, model)
    transformer = write_transformer(folder / f"{model.name}.gguf", model, DType.Q4_0)
    encoder = write_encoder(folder / "encoder.gguf", model, DType.Q4_0)
    changes = {model.encoder_part: str(encoder)}
    return transformer, msgspec.structs.replace(written.parts, **changes)


# Each kind of text encoder once.
@pytest.mark.parametrize("family", thinned(MODELS, ["zimage", "sd3"]))
def test_every_family_computes_the_same_in_parts(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transformers and text encoders: the types of what is handed on, and all that is fused."""
    transformer, files = quantised(family, tmp_path)
    backend = _Comparing(monkeypatch)
    request = a_request(
        transformer, components=files, width=96, height=64, steps=1, prompt="a red house"
    )
    run(request, backend, (Precision.F32,))
    assert len(backend.found) >= 2


# --- where it is cut ---


def test_parts_pack_alike_and_no_more_than_are_worth_it(target: Target, tmp_path: Path) -> None:
    graph = layers(target, tmp_path)
    for cores in (2, 4):
        assert {packed(part) for part in cut(graph, cores)} == {LAYERS * INTEGERS // cores}
    assert len(cut(graph, 64)) == MOST_PARTS
    assert len(cut(layers(target, tmp_path, layers=3), 64)) == 3
    for small in (graph, 1), (layers(target, tmp_path, layers=1), 2):
        assert cut(*small) == (small[0],)


def test_weights_read_in_place_count_for_nothing(target: Target, tmp_path: Path) -> None:
    graph = layers(target, tmp_path)
    mapped = frozenset(f"{n}.weight:integers" for n in range(4))
    first, second = cut(msgspec.structs.replace(graph, in_place=mapped), 2)
    assert (len(first.weights), len(second.weights)) == (2 * 6, 2 * 2)
    assert (first.in_place, second.in_place) == (mapped, frozenset[str]())
    everything = msgspec.structs.replace(graph, in_place=frozenset(graph.weights))
    assert cut(everything, 2) == (everything,)


def test_graphs_without_a_good_place_stay_whole(target: Target, tmp_path: Path) -> None:
    assert len(cut(layers(target, tmp_path, convolved_at=0), 2)) == 2
    for graph in (
        layers(target, tmp_path, convolved_at=LAYERS - 1),
        layers(target, tmp_path, odd=True),
        msgspec.structs.replace(layers(target, tmp_path), is_foreign=True),
    ):
        assert cut(graph, 2) == (graph,)


def test_a_part_has_only_what_it_uses(target: Target, tmp_path: Path) -> None:
    first, second = cut(layers(target, tmp_path), 2)
    assert [spec.name for spec in first.inputs] == ["x"]
    assert first.outputs[0].name == "first"
    assert "shift" in [spec.name for spec in second.inputs]
    assert [spec.name for spec in second.outputs] == ["y"]
    assert not first.weights.keys() & second.weights.keys()


def test_the_processor_takes_parts_where_they_are_worth_it(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = layers(target, tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert isinstance(target.load(graph), SessionInParts)
    monkeypatch.setattr(parts, "PART_BYTES", LAYERS * INTEGERS // 2 + 1)
    assert isinstance(target.load(graph), OnnxRuntimeSession)


# --- inputs, stopping, failing, ending ---


def test_pinned_and_optional_inputs_reach_the_part_that_takes_them(
    target: Target, tmp_path: Path
) -> None:
    graph = layers(target, tmp_path)
    whole, session = load(graph), in_parts(graph)
    given = feeds()
    expected = whole.run(given)
    session.pin("shift", given["shift"])
    assert_equal(session.run({"x": given["x"]}), expected)
    other = feeds(seed=5)
    assert_equal(
        session.run({"x": given["x"], "shift": other["shift"]}),
        whole.run({"x": given["x"], "shift": other["shift"]}),
    )
    assert_equal(in_parts(graph).run({"x": given["x"]}), whole.run({"x": given["x"]}))
    with pytest.raises(BackendError, match="nothing is given for x"):
        in_parts(graph).run({"shift": given["shift"]})


def test_sessions_are_made_side_by_side(target: Target, tmp_path: Path) -> None:
    graph, both = layers(target, tmp_path), Barrier(2)

    def waiting(part: Graph) -> OnnxRuntimeSession:
        both.wait(timeout=60)  # breaks, and fails the test, if the other is not under way
        return load(part)

    session = SessionInParts(graph, cut(graph, 2), waiting)
    assert_equal(session.run(feeds()), load(graph).run(feeds()))


def test_a_cancelled_session_runs_no_part(target: Target, tmp_path: Path) -> None:
    session = in_parts(layers(target, tmp_path))
    session.cancel()
    with pytest.raises(RunCancelled):
        session.run(feeds())


def test_a_run_is_cancelled_between_its_parts(target: Target, tmp_path: Path) -> None:
    graph, loaded = layers(target, tmp_path), list[_Stopping]()
    session = SessionInParts(
        graph, cut(graph, 2), lambda part: loaded.append(stopping := _Stopping(part)) or stopping
    )
    (first,) = (part for part in loaded if part.inputs[0].name == "x")
    first.then = session.cancel
    with pytest.raises(RunCancelled):
        session.run(feeds())


class _Stopping(OnnxRuntimeSession):
    """A session that calls `then` after its run."""

    then: Callable[[], None] | None = None

    def __init__(self, part: Graph) -> None:
        super().__init__(part, session_options(part), Provider(CPU), NeverCancelled())

    def run(self, feeds: Any) -> dict[str, Array]:
        results = super().run(feeds)
        if self.then:
            self.then()
        return results


class _AskedMeanwhile(CancelToken):
    """Is asked to stop as soon as all parts listen."""

    def __init__(self, listening: int) -> None:
        super().__init__()
        self._listening = Barrier(listening, action=self.cancel)

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Generator[None]:
        with super().calling(stop):
            self._listening.wait(timeout=60)
            yield


def test_loads_of_all_parts_are_cancelled(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = layers(target, tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with pytest.raises(RunCancelled):
        target.load(graph, _AskedMeanwhile(2))


class _Loads:
    """Loads parts, and remembers their sessions."""

    def __init__(self) -> None:
        self.sessions: list[OnnxRuntimeSession] = []

    def load(self, part: Graph) -> OnnxRuntimeSession:
        self.sessions.append(load(part))
        return self.sessions[-1]


def test_a_part_that_fails_closes_the_others(target: Target, tmp_path: Path) -> None:
    graph = layers(target, tmp_path)
    first, second = cut(graph, 2)
    gone = {
        n: FileSlice(tmp_path / "gone", 0, DType.U8, r.shape) for n, r in second.weights.items()
    }
    made = _Loads()
    with pytest.raises(BackendError, match="gone"):
        SessionInParts(graph, (first, msgspec.structs.replace(second, weights=gone)), made.load)
    (session,) = made.sessions
    assert is_closed(session)


def test_closing_frees_the_weights_of_all_parts(target: Target, tmp_path: Path) -> None:
    graph, made = layers(target, tmp_path), _Loads()
    SessionInParts(graph, cut(graph, 2), made.load).close()
    for session in made.sessions:
        assert is_closed(session)
