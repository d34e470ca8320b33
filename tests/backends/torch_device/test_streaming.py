"""Weights streamed to a device that is too small for them: the same numbers, within its memory."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")

from backends.base import BackendError, Device, DType, Graph, Precision, RunCancelled  # noqa: E402
from backends.torch_device import TorchBackend, TorchOptions  # noqa: E402
from engine.api.request import GenerateRequest  # noqa: E402
from engine.api.values import SamplerName, ScheduleName  # noqa: E402
from engine.graphs.qwen3 import Qwen3Config, place_inputs, qwen3_encoder  # noqa: E402
from engine.graphs.unet import timestep_embedding, unet  # noqa: E402
from engine.weights.rounding import EXACT, Rounding  # noqa: E402
from tests.backends.samples import Target, matmul_graph  # noqa: E402
from tests.backends.torch_device.limited_memory import LimitedMemory  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.families.flow_models import MODELS, write_parts  # noqa: E402
from tests.families.flux.files import drawn  # noqa: E402
from tests.graphs.networks import graph_in_memory, random_weights, wide_unet  # noqa: E402
from tests.pipeline.jobs import a_request, run  # noqa: E402
from tests.tiny_checkpoint import write_checkpoint as write_tiny  # noqa: E402

CONFIG = wide_unet()
EMIT = partial(unet, config=CONFIG)


class Processor(TorchBackend):
    """The processor alone, as a device with room for a share of each network's weights.

    `streamed` are the numbers of segments of the sessions.
    """

    def __init__(self, share: float | None = None, options: TorchOptions | None = None) -> None:
        super().__init__(options or TorchOptions())
        self._share, self.streamed = share, list[int]()

    def probe(self) -> list[Device]:
        return [device for device in super().probe() if device.id == "cpu"]

    def load(self, graph: Graph, *others: Any) -> Any:
        if self._share is not None:
            graph = msgspec.structs.replace(
                graph, room_bytes=int(self._share * weight_bytes(graph))
            )
        session: Any = super().load(graph, *others)
        stream = session._stream
        self.streamed.append(0 if stream is None else len(stream._places))
        return session


def weight_bytes(graph: Graph) -> int:
    return sum(ref.nbytes for ref in graph.weights.values())


def network(precision: Precision = Precision.F32, element: DType = DType.F32) -> Graph:
    backend = Processor()
    operators = backend.operators(backend.probe()[0])
    assert operators.streaming
    return graph_in_memory(EMIT, random_weights(EMIT), operators, element, precision)


def loaded(graph: Graph, room_bytes: int | None, options: TorchOptions | None = None) -> Any:
    backend = Processor(options=options)
    target = Target(backend, backend.probe()[0])
    return target.load(msgspec.structs.replace(graph, room_bytes=room_bytes))


def feeds(cells: int = 8, seed: int = 3) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "sample": random.standard_normal((1, 4, cells, cells), np.float32),
        "timestep_embedding": timestep_embedding(CONFIG, 500.0),
        "context": random.standard_normal((2, 77, CONFIG.context_width), np.float32),
    }


def result_of(session: Any, given: dict[str, Any]) -> Any:
    return session.run(given)["prediction"]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("precision", [Precision.F32, Precision.BF16])
def test_numbers_are_the_same_and_memory_is_within_the_room(
    precision: Precision, share: float
) -> None:
    """Several runs of two sizes; weights are turned into bfloat16 on their way, too."""
    graph = network(precision)
    total = weight_bytes(graph) * precision.dtype.itemsize // 4
    with LimitedMemory() as all_at_once:
        resident = loaded(graph, None)
        expected = [result_of(resident, feeds(cells)) for cells in (8, 8, 4)]
    working = all_at_once.peak - total
    assert 0 < working < 0.2 * total
    resident.close()
    with LimitedMemory() as memory:
        session = loaded(graph, int(share * total))
        found = [result_of(session, feeds(cells)) for cells in (8, 8, 4)]
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)
    stream = session._stream
    buffers = sum(
        buffer.memory.nbytes for buffer in (*stream._free, *(c.buffer for c in stream._coming))
    )
    assert memory.peak <= max(share * total, buffers) + working
    assert memory.peak >= 0.85 * (max(share * total, buffers) + working)
    session.close()
    del session, stream
    assert memory.held == 0


def test_a_device_without_the_memory_for_all_has_enough_for_segments() -> None:
    graph = network()
    total = weight_bytes(graph)
    with LimitedMemory(total), pytest.raises(BackendError) as caught:
        result_of(loaded(graph, None), feeds())
    assert caught.value.out_of_memory
    with LimitedMemory(total // 2) as memory:
        session = loaded(graph, int(0.3 * total))
        result = result_of(session, feeds())
    assert memory.peak <= total // 2
    np.testing.assert_array_equal(result, result_of(loaded(graph, None), feeds()))


def test_room_for_all_weights_streams_nothing() -> None:
    graph = network()
    assert loaded(graph, weight_bytes(graph) * 2)._stream is None


@pytest.mark.parametrize("option", ["graphs", "compile"])
def test_streamed_weights_are_neither_recorded_nor_compiled(option: str) -> None:
    graph = network()
    session = loaded(graph, 0, TorchOptions.named(option))
    assert session._run == session._compute
    np.testing.assert_array_equal(
        result_of(session, feeds()), result_of(loaded(graph, None), feeds())
    )


def test_a_run_after_one_that_failed_reads_from_the_beginning() -> None:
    graph = network()
    session, expected = loaded(graph, 0), result_of(loaded(graph, None), feeds())
    whole = list(session._steps)

    def failing(*_: object) -> None:
        raise RuntimeError("broken")

    for broken in (1, len(whole) // 3, len(whole) - 1):
        session._steps = [*whole]
        session._steps[broken] = (failing, *whole[broken][1:])
        with pytest.raises(BackendError, match="broken"):
            result_of(session, feeds())
        session._steps = whole
        np.testing.assert_array_equal(result_of(session, feeds()), expected)


def test_a_cancelled_run_ends_and_everything_is_freed() -> None:
    with LimitedMemory() as memory:
        session = loaded(network(), 0)
        result_of(session, feeds())
        session.cancel()
        with pytest.raises(RunCancelled):
            result_of(session, feeds())
        reader: Thread = next(iter(session._stream._thread._threads))
        session.close()
    assert not reader.is_alive()
    del session
    assert memory.held == 0


def test_weights_that_a_result_only_looks_at_are_copied() -> None:
    """A transposed or cut weight is used by later segments, when its memory holds others."""

    def emit(g: Any) -> None:
        x = g.input("x", DType.F32, (1, 64))
        views = [g.op("Transpose", g.weight(f"{i}.view", (64, 64)), perm=[1, 0]) for i in range(3)]
        for i in range(9):
            x = g.linear(x, f"{i}", (64, 64), bias=False)
        for view in views:
            x = g.op("MatMul", x, view)
        g.output(x, "y", DType.F32, (1, 64))

    backend = Processor()
    operators = backend.operators(backend.probe()[0])
    graph = graph_in_memory(emit, random_weights(emit), operators)
    given = {"x": np.random.default_rng(0).standard_normal((1, 64), np.float32)}
    streamed, resident = loaded(graph, 0), loaded(graph, None)
    for _ in range(2):
        np.testing.assert_array_equal(streamed.run(given)["y"], resident.run(given)["y"])


TABLE = (32_000, 64)


def a_text_encoder(g: Any) -> None:
    """Eight megabytes of vectors of tokens, and layers that take less."""
    qwen3_encoder(g, Qwen3Config(*TABLE, 4, 2, 16, 256, 6), (6,))


@pytest.mark.parametrize(
    ("element", "precision"),
    [
        (DType.F32, Precision.F32),
        *((element, Precision.BF16) for element in (DType.F32, DType.F16, DType.BF16)),
    ],
)
def test_only_the_rows_of_a_texts_tokens_are_copied(element: DType, precision: Precision) -> None:
    config, tokens = Qwen3Config(*TABLE, 4, 2, 16, 256, 6), 12
    backend = Processor()
    operators = backend.operators(backend.probe()[0])
    weights = random_weights(a_text_encoder)
    graph = graph_in_memory(a_text_encoder, weights, operators, element, precision)
    given = {"tokens": np.random.default_rng(1).integers(0, TABLE[0], (2, tokens), np.int64)}
    given |= place_inputs(config, tokens)
    expected = loaded(graph, None).run(given)["states"]
    table = TABLE[0] * TABLE[1] * precision.dtype.itemsize
    # All but the table fits; then little does.
    for room in (table // 2, 0):
        with LimitedMemory(table // 2):
            session = loaded(graph, room)
            found = [session.run(given)["states"] for _ in range(2)]
        for states in found:
            np.testing.assert_array_equal(states, expected)
        assert (session._stream is None) == (room > 0)
        session.close()


def test_a_table_that_is_multiplied_with_too_is_copied_whole() -> None:
    def emit(g: Any) -> None:
        table = g.weight("table", (8192, 64))
        x = g.op("Gather", table, g.input("numbers", DType.I64, (5,)))
        g.output(g.op("MatMul", x, g.op("Transpose", table, perm=[1, 0])), "y", DType.F32,
                 (5, 8192))  # fmt: skip

    backend = Processor()
    operators = backend.operators(backend.probe()[0])
    graph = graph_in_memory(emit, random_weights(emit), operators)
    given = {"numbers": np.array([0, 8191, 7, 7, 100])}
    streamed, resident = loaded(graph, 0), loaded(graph, None)
    assert streamed._constants["table"].data_ptr() == resident._constants["table"].data_ptr()
    np.testing.assert_array_equal(streamed.run(given)["y"], resident.run(given)["y"])


def test_a_file_that_is_gone_is_an_error_of_the_load(tmp_path: Path) -> None:
    backend = Processor(0.0)
    target = Target(backend, backend.probe()[0])
    graph = matmul_graph(target, tmp_path, side=64)
    (tmp_path / "matmul.safetensors").unlink()
    with pytest.raises(BackendError):
        target.load(graph)


# --- whole pictures ---


def flow(family: str, folder: Path) -> GenerateRequest:
    model = MODELS[family]
    parts = write_parts(folder, model).parts
    path = folder / f"{model.name}.safetensors"
    write_arrays(path, drawn(model.transformer))
    return a_request(
        path,
        components=parts,
        width=96,
        height=64,
        steps=2,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.SIMPLE,
        guidance=1.0,
    )


MAKERS: dict[str, Callable[[Path], GenerateRequest]] = {
    "SD 1.5": lambda folder: a_request(write_tiny(folder / "tiny")),
    **{family: partial(flow, family) for family in MODELS},
}


@pytest.mark.parametrize(
    ("family", "bits"), [*((family, 16) for family in MAKERS), ("zimage", 8), ("zimage", 4)]
)
def test_pictures_of_every_family_are_the_same(family: str, bits: int, tmp_path: Path) -> None:
    """All networks are streamed: with weights as they are, and in blocks of 8 and 4 bits."""
    request = MAKERS[family](tmp_path)
    rounding = EXACT if bits == 16 else Rounding(text_encoder=bits, denoiser=bits)
    backends = Processor(), Processor(0.0), Processor(0.6)
    made = [
        run(request, backend, (Precision.F32,), rounding=rounding).pixels[0] for backend in backends
    ]
    assert np.std(made[0]) > 1
    np.testing.assert_array_equal(made[1], made[0])
    np.testing.assert_array_equal(made[2], made[0])
    assert max(backends[2].streamed) > 2
