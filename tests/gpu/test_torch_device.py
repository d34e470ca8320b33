"""torch_device on whatever accelerator torch has here: memory, recorded runs, speed.

`make gpu` runs this, the contract's tests (tests/backends/test_contract.py) and the comparison of
every network with the cpu backend (tests/backends/torch_device) on the same devices. What is
printed is a measurement, never a test.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.gpu
torch = pytest.importorskip("torch")

from backends.base import BackendError, Device, DType, Graph, Precision  # noqa: E402
from backends.torch_device import TorchBackend, TorchOptions  # noqa: E402
from engine.graphs.unet import UNetConfig, timestep_embedding, unet  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.gpu.accelerators import ACCELERATORS, REASON  # noqa: E402
from tests.graphs.networks import (  # noqa: E402
    graph_in_memory,
    random_weights,
    sd15_unet,
    small_unet,
)

every_device = pytest.mark.parametrize("device", ACCELERATORS, ids=lambda device: device.id)
GRAPHS, COMPILED = TorchOptions(cuda_graphs=True), TorchOptions(compiled=True)
ROUNDS = 10


@pytest.mark.skipif(not ACCELERATORS, reason=REASON)
def test_an_accelerator_is_chosen_automatically() -> None:
    assert all(device.automatic for device in ACCELERATORS)


def loaded(
    emit: Callable[..., None],
    weights: dict[str, Any],
    device: Device,
    precision: Precision,
    options: TorchOptions | None = None,
    room: float | None = None,
) -> Any:
    """A session of a network; `room` is the share of its weights that the device may hold."""
    backend = TorchBackend(options or TorchOptions())
    operators = backend.operators(device)
    graph = graph_in_memory(emit, weights, operators, precision.dtype, precision)
    if room is not None:
        graph = msgspec.structs.replace(graph, room_bytes=int(room * weight_bytes(graph)))
    return Target(backend, device, precision, precision.dtype).load(graph)


def weight_bytes(graph: Graph) -> int:
    return sum(ref.nbytes for ref in graph.weights.values())


def feeds_of(config: UNetConfig, cells: int) -> dict[str, Any]:
    random = np.random.default_rng(3)
    return {
        "sample": random.standard_normal((1, 4, cells, cells), np.float32),
        "timestep_embedding": timestep_embedding(config, 500.0),
        "context": random.standard_normal((2, 77, config.context_width), np.float32),
    }


@every_device
def test_weights_are_on_the_device_and_freed_by_close(device: Device) -> None:
    if not device.id.startswith("cuda"):
        pytest.skip("only CUDA counts what is allocated on each device")
    config = small_unet()
    emit = partial(unet, config=config)
    session = loaded(emit, random_weights(emit), device, Precision.F16)
    tensors = [value for value in session._constants.values() if hasattr(value, "device")]
    assert {str(tensor.device) for tensor in tensors} == {device.id}
    session.run(feeds_of(config, 16))  # cuBLAS takes its workspace, 32 MB on an H100
    before = torch.cuda.memory_allocated(device.id)
    session.run(feeds_of(config, 16))
    assert torch.cuda.memory_allocated(device.id) == before
    del tensors
    session.close()
    assert torch.cuda.memory_allocated(device.id) < before


@every_device
def test_out_of_memory_is_reported_and_leaves_the_device_usable(device: Device) -> None:
    def emit(g: Any) -> None:
        x = g.input("x", DType.F32, ("rows", 1))
        y = g.linear(x, "l", (1, 1 << 21), bias=False)
        g.output(y, "y", DType.F32, ("rows", 1 << 21))

    session = loaded(emit, random_weights(emit), device, Precision.F32)
    with pytest.raises(BackendError) as caught:
        session.run({"x": np.ones((1 << 22, 1), np.float32)})  # 35 terabytes
    assert caught.value.out_of_memory
    assert session.run({"x": np.ones((2, 1), np.float32)})["y"].shape == (2, 1 << 21)


@every_device
def test_recorded_runs_compute_the_same(device: Device) -> None:
    if not device.id.startswith("cuda"):
        pytest.skip("CUDA graphs are CUDA's")
    config = small_unet()
    emit = partial(unet, config=config, halves_evenly=True)
    weights = random_weights(emit)
    plain = loaded(emit, weights, device, Precision.F16)
    recorded = loaded(emit, weights, device, Precision.F16, GRAPHS)
    for cells in (16, 16, 16, 8, 8, 16, 16):
        feeds = feeds_of(config, cells)
        feeds["sample"] += cells  # other numbers than those it was recorded with
        expected, result = plain.run(feeds), recorded.run(feeds)
        assert relative_error(result["prediction"], expected["prediction"]) < 1e-3
    assert recorded._run.refused == {}
    assert recorded._run._record is not None


@every_device
@pytest.mark.parametrize("room", [0.2, 0.6])
def test_streamed_weights_compute_the_same_within_their_room(
    device: Device, room: float, capsys: Any
) -> None:
    """SD 1.5's UNet; what is allocated on a card is counted by torch, and timed."""
    if not device.id.startswith(("cuda", "xpu")):
        pytest.skip("weights are streamed to cards")
    config, precision = sd15_unet(), device.precisions[0]
    emit = partial(unet, config=config, halves_evenly=True)
    weights, feeds = random_weights(emit), feeds_of(config, 64)
    counted = getattr(torch, device.id.partition(":")[0])
    peaks, results, times = list[int](), list[Any](), list[float]()
    for share in (None, room):
        session = loaded(emit, weights, device, precision, room=share)
        session.run(feeds)  # libraries take their workspaces
        counted.reset_peak_memory_stats(device.id)
        results.append([session.run(feeds)["prediction"] for _ in range(3)])
        peaks.append(counted.max_memory_allocated(device.id))
        times.append(milliseconds(partial(session.run, feeds)))
        assert (session._stream is not None) is (share is not None)
        session.close()
        del session
    for result in (*results[0], *results[1]):
        np.testing.assert_array_equal(result, results[0][0])
    total = sum(array.size for array in weights.values()) * precision.dtype.itemsize
    assert peaks[0] - peaks[1] > 0.95 * (1 - room) * total
    with capsys.disabled():
        print(f"\n{room:.0%} of {total / 1e9:.2f} GB: {times[1]:.0f} ms for {times[0]:.0f} ms")  # noqa: T201


# --- speed ---


def milliseconds(run: Callable[[], object]) -> float:
    """The median of a few runs, after two that warm up."""
    taken: list[float] = []
    for _ in range(ROUNDS + 2):
        start = perf_counter()
        run()
        taken.append(1000 * (perf_counter() - start))
    return median(taken[2:])


def matrix_peak(device: Device, dtype: Any) -> float:
    """Return the operations per second of one large matrix product."""
    a, b = (torch.randn(8192, 8192, dtype=dtype, device=device.id) for _ in range(2))
    taken = milliseconds(lambda: (a @ b)[:1, :1].cpu())
    return 2 * 8192**3 / (taken / 1000)


def operations(run: Callable[[], object]) -> int:
    """Count the operations of matrix products, convolutions and attention in one run."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


@every_device
def test_the_speed_of_a_full_size_step_is_printed(device: Device, capsys: Any) -> None:
    """SD 1.5 at 512x512, guided, in the device's first precision, each way torch can run it."""
    config, precision = sd15_unet(), device.precisions[0]
    emit = partial(unet, config=config, halves_evenly=True)
    weights, feeds = random_weights(emit), feeds_of(config, 64)
    lines = [f"\n{TorchBackend().fingerprint(device)}, {precision}: SD 1.5 step at 512x512, guided"]
    results: dict[str, Any] = {}
    for name, options in (("eager", None), ("CUDA graphs", GRAPHS), ("torch.compile", COMPILED)):
        session = loaded(emit, weights, device, precision, options)
        run = partial(session.run, feeds)
        try:
            taken = milliseconds(run)
        except BackendError as error:
            lines.append(f"  {name}: {error}")
            continue
        results[name] = run()["prediction"]
        lines.append(f"  {name}: {taken:.1f} ms")
        if name == "eager":
            lines += rates(device, run, taken, session)
        session.close()
    with capsys.disabled():
        print("\n".join(lines))  # noqa: T201
    for result in results.values():
        assert np.isfinite(result).all()
        assert relative_error(result, results["eager"]) < 0.1


def rates(device: Device, run: Callable[[], object], taken: float, session: Any) -> list[str]:
    """The share of the matrix peak, and the ten operators that take longest."""
    rate = operations(run) / (taken / 1000)
    peak = matrix_peak(device, session._constants["conv_in.weight"].dtype)
    lines = [f"  {rate / 1e12:.1f} TFLOP/s, {rate / peak:.0%} of a large matrix product's"]
    kind = device.id.partition(":")[0]
    if kind in {"cuda", "xpu"}:
        from torch.profiler import ProfilerActivity, profile

        device_too = getattr(ProfilerActivity, kind.upper())
        with profile(activities=[ProfilerActivity.CPU, device_too]) as profiled:
            run()
        lines.append(profiled.key_averages().table(sort_by=f"self_{kind}_time_total", row_limit=10))
    return lines
