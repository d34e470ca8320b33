"""Sessions through a provider: bound to its device, or refused because it is not the one that runs.

With WebGPU's plug-in where a driver for it is installed (docs/webgpu.md), a software one included.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import ml_dtypes
import numpy as np
import onnxruntime as ort
import pytest

from backends.base import (
    BackendError,
    Device,
    DType,
    Graph,
    OperatorSet,
    Precision,
    RunCancelled,
)
from backends.null import NullBackend
from backends.onnx_runtime.bound import Binding
from backends.onnx_runtime.plugins import plugin_devices
from backends.onnx_runtime.provider import CPU, Provider
from backends.onnx_runtime.session import OnnxRuntimeSession
from backends.onnx_runtime.static import quiet_options
from engine.graphs.operators import GraphBuilder
from tests.backends.samples import (
    NeverCancelled,
    Target,
    relative_error,
    sample_feeds,
    sample_graph,
    sample_result,
)

WEBGPU = "WebGpuExecutionProvider"


@pytest.fixture
def webgpu() -> Provider:
    """The provider on a device that is really there."""
    try:
        devices = plugin_devices("onnxruntime_ep_webgpu")
    except BackendError as error:
        pytest.skip(f"no WebGPU: {error}")
    real = [d for d in devices if d.device.metadata.get("is_virtual") != "1"]
    if not real:
        pytest.skip("no driver offers a graphics processor to WebGPU")
    return Provider(WEBGPU, devices=(real[0],))


def sample(folder: Path) -> Graph:
    class Plain(NullBackend):
        def operators(self, device: Device) -> OperatorSet:
            return OperatorSet(opset=19)

    return sample_graph(Target(Plain(), Device("null", "null", "null")), folder)


def bound(graph: Graph, provider: Provider) -> OnnxRuntimeSession:
    return OnnxRuntimeSession(
        graph, quiet_options(), provider, NeverCancelled(), binding=Binding.ALWAYS
    )


@pytest.fixture(params=["cpu", "webgpu"])
def provider(request: pytest.FixtureRequest) -> Provider:
    """Binding is the same thing in host memory, whatever else there is."""
    return Provider(CPU) if request.param == "cpu" else request.getfixturevalue("webgpu")


def test_a_bound_session_computes_at_every_size_in_turn(provider: Provider, tmp_path: Path) -> None:
    session = bound(sample(tmp_path), provider)
    for seed, size in enumerate(((2, 7, 5), (2, 7, 5), (1, 3, 4), (2, 7, 5))):
        feeds = sample_feeds(*size, seed=seed)
        result = session.run(feeds)["doubled"]
        assert relative_error(result, sample_result(feeds, DType.F32)) < 1e-5
    session.close()


def test_a_bound_result_survives_the_next_run(provider: Provider, tmp_path: Path) -> None:
    session = bound(sample(tmp_path), provider)
    first = session.run(sample_feeds(seed=1))["doubled"]
    kept = first.copy()
    session.run(sample_feeds(seed=2))
    np.testing.assert_array_equal(first, kept)


def test_a_pinned_input_crosses_once_and_outlasts_a_feed(
    provider: Provider, tmp_path: Path
) -> None:
    session, feeds = bound(sample(tmp_path), provider), sample_feeds()
    expected = session.run(feeds)["doubled"]
    shift, other = feeds.pop("shift"), sample_feeds(seed=5)["shift"]
    session.pin("shift", shift)
    np.testing.assert_array_equal(session.run(feeds)["doubled"], expected)
    # Written over where it is, which nobody may do: so that it is seen not to be read again.
    shift[:] = 0
    np.testing.assert_array_equal(session.run(feeds)["doubled"], expected)
    fed = session.run(feeds | {"shift": other})["doubled"]
    assert relative_error(fed, sample_result(feeds | {"shift": other}, DType.F32)) < 1e-5
    again = session.run(feeds)["doubled"]
    assert relative_error(again, sample_result(feeds | {"shift": shift}, DType.F32)) < 1e-5


def test_a_bound_session_misses_a_feed_and_refuses_another_shape(
    provider: Provider, tmp_path: Path
) -> None:
    session, feeds = bound(sample(tmp_path), provider), sample_feeds()
    session.run(feeds)
    with pytest.raises(BackendError, match="shift"):
        session.run({"image": feeds["image"]})
    with pytest.raises(BackendError, match="image"):
        session.run(feeds | {"image": np.zeros((2, 5, 7, 5), np.float32)})
    assert session.run(feeds)


def test_a_bound_session_is_cancelled(provider: Provider, tmp_path: Path) -> None:
    session = bound(sample(tmp_path), provider)
    session.cancel()
    with pytest.raises(RunCancelled):
        session.run(sample_feeds())


def test_numbers_cross_to_the_device_and_back_only_where_they_must(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (bound(sample(tmp_path / name), provider) for name in folders(tmp_path))
    crossed: list[tuple[int, ...]] = []
    up, down = ort.OrtValue.update_inplace, ort.OrtValue.numpy

    def sent(value: ort.OrtValue, data: np.ndarray | ort.OrtValue) -> None:
        if isinstance(data, np.ndarray):
            crossed.append(tuple(data.shape))
        up(value, data)

    def fetched(value: ort.OrtValue) -> np.ndarray:
        crossed.append(tuple(value.shape()))
        return down(value)

    feeds = sample_feeds()
    for session in (first, second):
        session.pin("shift", feeds["shift"])
        session.run({"image": feeds["image"]})  # what is pinned, and zeros for what is absent
    monkeypatch.setattr(ort.OrtValue, "update_inplace", sent)
    monkeypatch.setattr(ort.OrtValue, "numpy", fetched)
    image = {"image": feeds["image"]}
    made = first.run_on_device(image)["doubled"]
    assert crossed == [feeds["image"].shape]
    result = second.run(image | {"residual": made})["doubled"]
    assert crossed == [feeds["image"].shape, feeds["image"].shape, result.shape]
    assert relative_error(result, 2 * sample_result(feeds, DType.F32)) < 1e-5


def folders(path: Path) -> tuple[str, str]:
    names = ("first", "second")
    for name in names:
        (path / name).mkdir()
    return names


# --- not the provider that was asked for ---


def with_hardmax() -> Graph:
    """An operator that WebGPU has no kernel for, after one that it has."""
    g = GraphBuilder("choice", {}, OperatorSet(opset=19), DType.F32, Precision.F32)
    x = g.op("Sin", g.input("x", DType.F32, ("batch", 4)))
    g.output(g.op("Hardmax", x), "y", DType.F32, ("batch", 4))
    return g.build({})


def test_a_node_left_to_the_processor_is_an_error_with_its_name(webgpu: Provider) -> None:
    with pytest.raises(BackendError) as error:
        OnnxRuntimeSession(with_hardmax(), quiet_options(), webgpu, NeverCancelled())
    assert str(error.value) == (
        f"1 of 2 nodes of the choice would not run with {WEBGPU} but on the processor: Hardmax"
    )


def test_a_provider_that_the_build_lacks_is_an_error_and_not_a_warning() -> None:
    with pytest.raises(BackendError, match="this build of ONNX Runtime has no DmlExecution"):
        OnnxRuntimeSession(
            with_hardmax(), quiet_options(), Provider("DmlExecutionProvider"), NeverCancelled()
        )


def test_entries_of_the_configuration_reach_the_session() -> None:
    options = quiet_options()
    provider = Provider(CPU, config={"session.intra_op.allow_spinning": "0"})
    OnnxRuntimeSession(with_hardmax(), options, provider, NeverCancelled())
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


# --- stopping, and types that NumPy lacks ---


class AskedWhileLoading:
    """Is asked to stop while the runtime compiles, and has the means to tell it thrown away."""

    def __init__(self) -> None:
        self.asked = 0

    def is_set(self) -> bool:
        self.asked += 1
        return True

    def calling(self, stop: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()


def test_a_load_that_missed_the_cancellation_is_cancelled_at_its_end() -> None:
    with pytest.raises(RunCancelled):
        OnnxRuntimeSession(with_hardmax(), quiet_options(), Provider(CPU), AskedWhileLoading())


def test_feeds_of_bfloat16_are_taken() -> None:
    g = GraphBuilder("brain", {}, OperatorSet(opset=19), DType.BF16, Precision.BF16)
    x = g.input("x", DType.BF16, ("batch", 4))
    g.output(g.cast(x, DType.F32), "y", DType.F32, ("batch", 4))
    numbers = np.arange(8, dtype=np.float32).reshape(2, 4).astype(ml_dtypes.bfloat16)
    for binding in (Binding.NONE, Binding.ALWAYS):
        session = OnnxRuntimeSession(
            g.build({}), ort.SessionOptions(), Provider(CPU), NeverCancelled(), binding=binding
        )
        np.testing.assert_array_equal(session.run({"x": numbers})["y"], numbers.astype(np.float32))
