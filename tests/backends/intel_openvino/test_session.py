"""The path of GPUs and NPUs, one size at a time and blobs kept, run on the processor.

All of it is the GPU's own but what `on_the_processor` replaces: the device's name and options.
"""

# pyright: reportUnknownMemberType=false
# (the runtime ships no complete types)

from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from backends.base import (
    Array,
    Artifact,
    BackendError,
    Device,
    DimensionRange,
    DType,
    Graph,
    OperatorSet,
    Precision,
    RunCancelled,
    ShapeProfile,
    ShapeSupport,
    WeightRef,
    size_of,
)
from backends.cpu import CpuBackend
from backends.intel_openvino import OpenVinoBackend, core, devices, options
from backends.intel_openvino.model import (
    fix_sizes,
    largest_tensor,
    read_with_weights,
)
from backends.intel_openvino.session import BLOB, OpenVinoSession
from backends.mapped_weights import mapped_weights
from tests.backends.networks import NETWORKS
from tests.backends.samples import (
    NeverCancelled,
    Target,
    ignore,
    relative_error,
    sample_feeds,
    sample_graph,
    sample_result,
)
from tests.graphs.networks import graph_in_memory, random_weights
from tests.thinned import thinned

pytestmark = pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
GPU = Device(devices.BACKEND, "gpu.0", "a GPU", (Precision.F16, Precision.F32))
BACKEND = OpenVinoBackend()
NEVER = NeverCancelled()


@pytest.fixture
def on_the_processor(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """GPUs are the processor; what a GPU would have been told is listed."""
    told: list[dict[str, str]] = []
    original = options.compile_options

    def target(device: Device) -> str:
        return "CPU"

    def compile_options(
        device_id: str,
        precision: Precision,
        *,
        block_length: int = 0,
        large_buffers: bool = False,
    ) -> dict[str, str]:
        told.append(original(device_id, precision, large_buffers=large_buffers))
        return original("cpu", precision)

    monkeypatch.setattr(devices, "target", target)
    monkeypatch.setattr(options, "compile_options", compile_options)
    return told


def sample(folder: Path, element: DType = DType.F32) -> Graph:
    return sample_graph(Target(BACKEND, GPU, Precision.F32, element), folder)


def profile(batch: int, height: int, width: int) -> ShapeProfile:
    sizes = {"batch": batch, "height": height, "width": width}
    return ShapeProfile({name: DimensionRange(1, n, 2 * n) for name, n in sizes.items()})


def compiled(graph: Graph, folder: Path) -> Artifact:
    artifact = BACKEND.compile(graph, GPU, profile(2, 7, 5), folder / "kept", ignore, NEVER)
    assert artifact
    return artifact


def right(feeds: dict[str, Array], result: Array, element: DType = DType.F32) -> bool:
    return relative_error(result, sample_result(feeds, element)) < 1e-5


def test_gpus_and_npus_keep_a_blob_for_one_size_and_the_processor_keeps_nothing() -> None:
    for id_ in ("gpu.0", "gpu.1", "npu"):
        compilation = BACKEND.compilation(msgspec.structs.replace(GPU, id=id_))
        assert compilation
        assert compilation.shapes is ShapeSupport.STATIC
        assert compilation.carries_weights
        assert not compilation.interruptible
    assert BACKEND.compilation(msgspec.structs.replace(GPU, id="cpu")) is None


@pytest.mark.parametrize("element", [DType.F32, DType.F16])
def test_a_network_compiled_for_a_size_runs_from_its_blob(
    tmp_path: Path, on_the_processor: list[dict[str, str]], element: DType
) -> None:
    graph = sample(tmp_path, element)
    artifact = compiled(graph, tmp_path)
    assert [path.name for path in artifact.folder.iterdir()] == [BLOB]
    on_the_processor.clear()
    # Its weights are in the blob: binding them again might convert gigabytes.
    session = BACKEND.load(
        msgspec.structs.replace(graph, weights=Unbound()), artifact, GPU, ignore, NEVER
    )
    feeds = sample_feeds(2, 7, 5)
    assert right(feeds, session.run(feeds)["doubled"], element)
    # Imported once, compiled never; and told what a GPU would be told.
    assert on_the_processor == [options_of_a_gpu()]


class Unbound(Mapping[str, WeightRef]):
    """Weights that nobody may look at."""

    def __getitem__(self, name: str) -> WeightRef:
        raise AssertionError(name)

    def __iter__(self) -> Iterator[str]:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


def options_of_a_gpu() -> dict[str, str]:
    return {
        "INFERENCE_PRECISION_HINT": "f32",
        "EXECUTION_MODE_HINT": "ACCURACY",
        "GPU_ENABLE_SDPA_OPTIMIZATION": "YES",
    }


def test_another_size_is_compiled_when_it_is_run(
    tmp_path: Path, on_the_processor: list[dict[str, str]]
) -> None:
    graph = sample(tmp_path)
    session = BACKEND.load(graph, compiled(graph, tmp_path), GPU, ignore, NEVER)
    on_the_processor.clear()
    for size in ((2, 7, 5), (1, 3, 4), (1, 3, 4), (2, 7, 5)):
        feeds = sample_feeds(*size)
        assert right(feeds, session.run(feeds)["doubled"])
    assert len(on_the_processor) == 2


def test_without_a_blob_the_first_run_compiles(
    tmp_path: Path, on_the_processor: list[dict[str, str]]
) -> None:
    session = BACKEND.load(sample(tmp_path), None, GPU, ignore, NEVER)
    assert on_the_processor == []
    feeds = sample_feeds(1, 4, 4)
    assert right(feeds, session.run(feeds)["doubled"])
    session.close()


@pytest.mark.usefixtures("on_the_processor")
def test_a_profile_that_leaves_a_dimension_open_is_an_error(tmp_path: Path) -> None:
    graph = sample(tmp_path)
    half = ShapeProfile({"batch": DimensionRange(1, 1, 1)})
    with pytest.raises(BackendError, match="height, width of image"):
        BACKEND.compile(graph, GPU, half, tmp_path / "kept", ignore, NEVER)


@pytest.mark.usefixtures("on_the_processor")
@pytest.mark.parametrize("damage", ["missing", "empty", "short", "other"])
def test_a_damaged_blob_is_an_error(tmp_path: Path, damage: str) -> None:
    graph = sample(tmp_path)
    artifact = compiled(graph, tmp_path)
    blob = artifact.folder / BLOB
    whole = blob.read_bytes()
    blob.unlink()
    if damage != "missing":
        blob.write_bytes({"empty": b"", "short": whole[:100], "other": b"x" * 4096}[damage])
    with pytest.raises(BackendError):
        BACKEND.load(graph, artifact, GPU, ignore, NEVER)


@pytest.mark.usefixtures("on_the_processor")
def test_a_cancelled_session_compiles_nothing_more(tmp_path: Path) -> None:
    session = BACKEND.load(sample(tmp_path), None, GPU, ignore, NEVER)
    session.cancel()
    with pytest.raises(RunCancelled):
        session.run(sample_feeds())


class Elsewhere:
    """OpenVINO's core that compiles for the processor, whatever it is asked for."""

    @staticmethod
    def read_model(model: bytes) -> object:
        return core().read_model(model)

    @staticmethod
    def compile_model(model: Any, target: str, told: dict[str, str]) -> object:
        assert target == "GPU.0"
        assert told
        return core().compile_model(model, "CPU", {})

    @staticmethod
    def get_property(name: str, key: str) -> object:
        raise RuntimeError(key)


def test_a_network_that_openvino_puts_elsewhere_is_refused(tmp_path: Path) -> None:
    elsewhere: Any = Elsewhere()
    session = OpenVinoSession(elsewhere, sample(tmp_path), GPU)
    with pytest.raises(BackendError, match=r"runs it on CPU, not GPU\.0"):
        session.run(sample_feeds())


def test_the_largest_tensor_is_known_once_sizes_are_fixed(tmp_path: Path) -> None:
    graph = sample(tmp_path)
    weights = mapped_weights(graph.weights)  # the model shares their memory
    model = read_with_weights(core(), graph.model, weights)
    fix_sizes(model, graph.inputs, {"batch": 2, "height": 70, "width": 50})
    assert largest_tensor(model) == 2 * 8 * 140 * 100 * 4


@pytest.mark.parametrize(
    "name", thinned(NETWORKS, NETWORKS.keys() - {"unet", "unet for even sizes"})
)
def test_the_operators_of_gpus_compute_what_onnxruntime_computes(name: str) -> None:
    """OpenVINO reads each form; whether a GPU's kernels agree only a GPU can tell."""
    emit = NETWORKS[name]
    arrays = random_weights(emit)
    results: list[Array] = []
    for backend, operators in (
        (CpuBackend(), OperatorSet(opset=20)),
        (BACKEND, BACKEND.operators(GPU)),
    ):
        device = next(device for device in backend.probe() if device.id == "cpu")
        graph = graph_in_memory(emit, arrays, operators)
        session = backend.load(graph, None, device, ignore, NEVER)
        feeds = small_feeds(graph)
        results.append(session.run(feeds)[graph.outputs[0].name])
        session.close()
    assert relative_error(results[1], results[0].astype(np.float64)) < 1e-4


def small_feeds(graph: Graph) -> dict[str, Array]:
    """Seeded feeds of eight by eight cells, two contexts, seven tokens."""
    random = np.random.default_rng(3)
    feeds: dict[str, Array] = {}
    for spec in graph.inputs:
        side = 32 if spec.name == "image" else 8
        sizes = {"batch": 2, "contexts": 2, "tokens": 7, "height": side, "width": side}
        named = defaultdict(lambda side=side: side, sizes)
        shape = tuple(size_of(n, named) for n in spec.shape)
        if spec.dtype is DType.I64:
            feeds[spec.name] = random.integers(0, 60, shape)
        elif spec.name == "attention_mask":
            feeds[spec.name] = np.ones(shape, np.float32)
        else:
            feeds[spec.name] = random.standard_normal(shape, np.float32)
    return feeds
