"""ONNX Runtime's CUDA provider on a card: every network, recorded runs, memory, speed.

`make gpu` runs this where `onnxruntime-gpu` is installed with CUDA and cuDNN, and then the ablation
of `python -m benchmarks ablation`. What is printed is a measurement, never a test.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from backends.base import Array, BackendError, Device, DType, Precision
from backends.cpu import CpuBackend
from backends.nvidia_cuda import CudaBackend, CudaOptions
from benchmarks.ablation_steps import STEPS
from engine.graphs.unet import timestep_embedding, unet
from tests.backends.networks import NETWORKS
from tests.backends.samples import Target, relative_error
from tests.graphs.networks import (
    SMALL_CLIP,
    SMALL_VAE,
    Emit,
    graph_in_memory,
    random_weights,
    sd15_unet,
    small_unet,
    wide_unet,
)

SEEN = CudaBackend().probe()
CARDS = [device for device in SEEN if device.usable]
REASON = "; ".join(str(device.unusable) for device in SEEN if not device.usable)
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not CARDS, reason=REASON or "no card")]
every_card = pytest.mark.parametrize("card", CARDS or SEEN[:1], ids=lambda device: device.name)
GRAPHS = CudaOptions(graphs=True)
# Against ONNX Runtime on the processor; weights are rounded alike.
TOLERANCES = {Precision.F32: 1e-4, Precision.F16: 2e-2}
ROUNDS = 10


def feeds_of(name: str, pictures: int = 1, cells: int = 16) -> dict[str, Array]:
    random = np.random.default_rng(4)

    def drawn(*shape: int) -> Array:
        return random.standard_normal(shape, np.float32)

    if "encoder" in name and "vae" not in name:
        tokens = random.integers(0, SMALL_CLIP.vocabulary, (2 * pictures, SMALL_CLIP.positions))
        seen = {"attention_mask": np.ones(tokens.shape, np.float32)} if "hidden" in name else {}
        return {"tokens": tokens, **seen}
    if "vae" in name:
        side = SMALL_VAE.downscale * cells
        image = {"image": drawn(pictures, 3, side, side)}
        return image if "encoder" in name else {"latent": drawn(pictures, 4, cells, cells)}
    config = wide_unet() if name == "wide" else small_unet()
    config = sd15_unet() if name == "sd15" else config
    channels = 9 if "linear" in name else 4
    return {
        "sample": drawn(pictures, channels, cells, cells),
        "timestep_embedding": timestep_embedding(config, 500.0),
        "context": drawn(2 * pictures, 77, config.context_width),
    }


def loaded(
    emit: Emit, weights: dict[str, Array], card: Device, precision: Precision, **how: Any
) -> Any:
    backend = CudaBackend(**how)
    operators = backend.operators(card)
    graph = graph_in_memory(emit, weights, operators, precision.dtype, precision)
    return Target(backend, card, precision, precision.dtype).load(graph)


@every_card
@pytest.mark.parametrize("name", [*NETWORKS, "wide"])
@pytest.mark.parametrize("precision", [Precision.F16, Precision.F32])
def test_every_network_computes_the_same_as_on_the_processor(
    card: Device, name: str, precision: Precision
) -> None:
    emit = NETWORKS.get(name) or partial(unet, config=wide_unet(), halves_evenly=True)
    weights = {
        key: array.astype(precision.dtype.numpy).astype(np.float32)
        for key, array in random_weights(emit).items()
    }
    oracle = CpuBackend()
    device = oracle.probe()[0]
    plain = graph_in_memory(emit, weights, oracle.operators(device))
    reference, session = Target(oracle, device).load(plain), loaded(emit, weights, card, precision)
    for pictures, cells in ((1, 16), (3, 8)):
        feeds = feeds_of(name, pictures, cells)
        (expected,), (result,) = reference.run(feeds).values(), session.run(feeds).values()
        assert relative_error(result, expected) < TOLERANCES[precision]
    session.close()


@every_card
@pytest.mark.parametrize("step", STEPS)
def test_every_step_of_the_ablation_computes_the_same(card: Device, step: str) -> None:
    emit = partial(unet, config=wide_unet(), halves_evenly=True)
    weights, feeds = random_weights(emit), feeds_of("wide")
    expected = loaded(emit, weights, card, Precision.F32).run(feeds)["prediction"]
    session = loaded(emit, weights, card, Precision.F16, operators=STEPS[step])
    assert relative_error(session.run(feeds)["prediction"], expected) < 2e-2


@every_card
def test_recorded_runs_compute_the_same(card: Device) -> None:
    emit = NETWORKS["unet for even sizes"]
    weights = random_weights(emit)
    plain = loaded(emit, weights, card, Precision.F16)
    recorded = loaded(emit, weights, card, Precision.F16, options=GRAPHS)
    for round_, cells in enumerate((16, 16, 16, 8, 8, 16, 16)):
        feeds = feeds_of("unet", cells=cells)
        feeds["sample"] += round_  # other numbers than those it was recorded with
        expected, result = plain.run(feeds), recorded.run(feeds)
        # Each session's search may take other kernels: 0.002 between two of them on an H100.
        assert relative_error(result["prediction"], expected["prediction"]) < 1e-2


@every_card
def test_out_of_memory_is_reported_and_leaves_the_card_usable(card: Device) -> None:
    def emit(g: Any) -> None:
        x = g.input("x", DType.F32, ("rows", 1))
        g.output(g.linear(x, "l", (1, 1 << 21), bias=False), "y", DType.F32, ("rows", 1 << 21))

    session = loaded(emit, random_weights(emit), card, Precision.F32)
    with pytest.raises(BackendError) as caught:
        session.run({"x": np.ones((1 << 22, 1), np.float32)})  # 35 terabytes
    assert caught.value.out_of_memory
    assert session.run({"x": np.ones((2, 1), np.float32)})["y"].shape == (2, 1 << 21)


@every_card
def test_the_speed_of_a_full_size_step_is_printed(card: Device, capsys: Any) -> None:
    """SD 1.5 at 512x512, guided, in half precision, each way the provider can run it."""
    emit = partial(unet, config=sd15_unet(), halves_evenly=True)
    weights, feeds = random_weights(emit), feeds_of("sd15", cells=64)
    lines = [f"\n{CudaBackend().fingerprint(card)}: SD 1.5 step at 512x512, guided, f16"]
    for name, options in (("as it ships", CudaOptions()), ("CUDA graph", GRAPHS)):
        try:
            session = loaded(emit, weights, card, Precision.F16, options=options)
            run = partial(session.run, feeds)
            taken = milliseconds(run)
        except BackendError as error:
            lines.append(f"  {name}: {error}")
            continue
        lines.append(f"  {name}: {taken:.1f} ms")
        assert np.isfinite(run()["prediction"]).all()
        if options == CudaOptions():
            lines += rates(emit, weights, feeds, run, taken)
        session.close()
    with capsys.disabled():
        print("\n".join(lines))  # noqa: T201


def milliseconds(run: partial[Any]) -> float:
    """The median of a few runs, after three that warm up."""
    taken: list[float] = []
    for _ in range(ROUNDS + 3):
        start = perf_counter()
        run()
        taken.append(1000 * (perf_counter() - start))
    return median(taken[3:])


def rates(
    emit: Emit, weights: dict[str, Array], feeds: dict[str, Array], run: partial[Any], taken: float
) -> list[str]:
    """The share of the matrix peak, and the ten kernels that take longest, as torch sees them."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        return ["  torch has no CUDA here: neither the matrix peak nor kernels can be told"]
    from torch.profiler import ProfilerActivity, profile

    from backends.torch_device import TorchBackend
    from tests.gpu.test_torch_device import matrix_peak, operations

    backend = TorchBackend()
    device = next(d for d in backend.probe() if d.id == "cuda:0")
    graph = graph_in_memory(emit, weights, backend.operators(device), DType.F16, Precision.F16)
    same = Target(backend, device, Precision.F16, DType.F16).load(graph)
    rate = operations(partial(same.run, feeds)) / (taken / 1000)
    same.close()
    peak = matrix_peak(device, torch.float16)
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        run()
    table = profiled.key_averages().table(sort_by="self_cuda_time_total", row_limit=10)
    share = f"  {rate / 1e12:.1f} TFLOP/s, {rate / peak:.0%} of a large matrix product's"
    return [share, table]
