"""The CUDA provider as far as it gets without a card: what it asks for, and why it cannot be used.

On a card: `tests/gpu/test_nvidia_cuda.py`. Its operators: `tests/backends/operators`.
"""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from backends import hardware, nvidia_cuda
from backends.base import BackendError, Device, DeviceValue, DType, Feeds, Precision
from backends.hardware import Adapter
from backends.nvidia_cuda import ARCHITECTURES, GRAPH_ID, OPTIONS, CudaBackend, CudaOptions
from backends.nvidia_cuda.recording import RecordingSession
from backends.onnx_runtime.session import OnnxRuntimeSession
from engine.weights.binding import element_type
from tests.backends.samples import NeverCancelled, Target, ignore, sample_graph

CARD = Adapter(
    "NVIDIA",
    "NVIDIA GeForce RTX 4070",
    memory_total=12 << 30,
    memory_free=11 << 30,
    driver="nvidia",
    driver_version="580.65",
    integrated=False,
    architecture="sm_89",
)


def with_cards(monkeypatch: pytest.MonkeyPatch, *cards: Adapter) -> None:
    """Pretend that the machine has these adapters and that everything is installed."""
    found = [Adapter("Intel", "UHD Graphics"), *cards]
    monkeypatch.setattr(hardware, "list_adapters", lambda: found)
    monkeypatch.setattr(nvidia_cuda, "_missing", lambda: None)


def test_a_machine_without_an_nvidia_card_has_that_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with_cards(monkeypatch)
    (device,) = CudaBackend().probe()
    assert device.unusable == "no NVIDIA graphics card found"


@pytest.mark.parametrize(
    ("card", "precisions"),
    [
        (CARD, (Precision.F16, Precision.F32)),
        (msgspec.structs.replace(CARD, architecture=""), (Precision.F16, Precision.F32)),
        (msgspec.structs.replace(CARD, name="NVIDIA GeForce GTX 1660 Ti"), (Precision.F32,)),
    ],
    ids=["tensor cores", "unknown", "wrong in half"],
)
def test_a_card_computes_in_half_precision_unless_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, card: Adapter, precisions: tuple[Precision, ...]
) -> None:
    with_cards(monkeypatch, card)
    (device,) = CudaBackend().probe()
    assert (device.id, device.unusable, device.precisions) == ("0", None, precisions)


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        (
            msgspec.structs.replace(CARD, architecture="sm_61"),
            "no kernels for sm_61, only for sm_75",
        ),
        (
            msgspec.structs.replace(CARD, unusable="its driver is not loaded"),
            "its driver is not loaded",
        ),
    ],
)
def test_an_unusable_card_has_its_reason(
    monkeypatch: pytest.MonkeyPatch, card: Adapter, reason: str
) -> None:
    with_cards(monkeypatch, CARD, card)
    first, second = CudaBackend().probe()
    assert first.usable
    assert reason in str(second.unusable)


def test_the_plain_build_of_onnx_runtime_is_told_from_the_one_for_cards(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hardware, "list_adapters", lambda: [CARD])
    (device,) = CudaBackend().probe()
    if device.usable:
        pytest.skip("onnxruntime-gpu is installed")
    assert "onnxruntime-gpu" in str(device.unusable)
    target = Target(CudaBackend(), device, Precision.F16, DType.F16)
    with pytest.raises(BackendError, match="onnxruntime-gpu"):
        CudaBackend().load(sample_graph(target, tmp_path), None, device, ignore, NeverCancelled())


@pytest.mark.parametrize(
    ("there", "fault"),
    [("cuda", "libcudart.so.13: cannot open"), ("", "libcudnn.so.9: cannot open")],
)
def test_libraries_that_do_not_load_are_named(
    monkeypatch: pytest.MonkeyPatch, there: str, fault: str
) -> None:
    monkeypatch.setattr(nvidia_cuda, "unusable", lambda provider, package: None)
    monkeypatch.setattr(nvidia_cuda, "library_fault", lambda name: fault if there else None)
    monkeypatch.setattr(nvidia_cuda, "_load_fault", lambda name: fault)
    monkeypatch.setattr(hardware, "list_adapters", lambda: [CARD])
    (device,) = CudaBackend().probe()
    assert fault in str(device.unusable)
    assert "CUDA or cuDNN is absent" in str(device.unusable)


@pytest.mark.parametrize(
    ("first", "second", "numbers"),
    [
        # Set aside for a virtual machine: its driver is another, which CUDA does not see.
        (msgspec.structs.replace(CARD, unusable="it is set aside"), CARD, ["0"]),
        # Windows lists the card with the screen first, wherever it is.
        (
            msgspec.structs.replace(CARD, address="0000:05:00.0"),
            msgspec.structs.replace(CARD, address="0000:01:00.0"),
            ["1", "0"],
        ),
        (CARD, CARD, ["0", "1"]),
    ],
    ids=["set aside", "order of the bus", "twins"],
)
def test_cuda_is_asked_for_the_card_by_its_own_number(
    monkeypatch: pytest.MonkeyPatch, first: Adapter, second: Adapter, numbers: list[str]
) -> None:
    with_cards(monkeypatch, first, second)
    backend = CudaBackend()
    cards = [device for device in backend.probe() if device.usable]
    assert [backend.provider_options(card)["device_id"] for card in cards] == numbers


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ("1", {"1": "0"}),
        ("1,0", {"0": "1", "1": "0"}),
        ("0,-1,1", {"0": "0"}),
        ("GPU-bbbb", {"1": "0"}),
        ("", {}),
        ("MIG-7a2d", {"0": "0", "1": "1"}),
    ],
)
def test_a_card_that_is_hidden_from_cuda_is_not_used_and_others_keep_name_and_memory(
    monkeypatch: pytest.MonkeyPatch, value: str, numbers: dict[str, str]
) -> None:
    first = msgspec.structs.replace(CARD, address="0000:01:00.0", uuid="GPU-aaaa-1")
    second = msgspec.structs.replace(
        CARD, name="other", address="0000:05:00.0", memory_total=8 << 30
    )
    with_cards(monkeypatch, first, msgspec.structs.replace(second, uuid="GPU-bbbb-2"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    backend = CudaBackend()
    cards = {device.id: device for device in backend.probe()}
    assert [card.name for card in cards.values()] == [CARD.name, "other"]
    usable = {name: card for name, card in cards.items() if card.usable}
    found = {name: backend.provider_options(card)["device_id"] for name, card in usable.items()}
    assert found == numbers
    reasons = {card.unusable for card in cards.values() if not card.usable}
    assert reasons <= {"CUDA_VISIBLE_DEVICES hides it"}
    if "1" in usable:
        assert backend.memory(usable["1"]).total == 8 << 30


def test_memory_and_fingerprint_are_the_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    with_cards(monkeypatch, msgspec.structs.replace(CARD, name="another"), CARD)
    device = CudaBackend().probe()[1]
    memory = CudaBackend().memory(device)
    assert (memory.total, memory.free, memory.integrated) == (12 << 30, 11 << 30, False)
    assert "580.65" in CudaBackend().fingerprint(device)
    assert CARD.name in CudaBackend().fingerprint(device)


# --- what the provider is asked for ---


def test_graphs_are_written_in_the_precision_asked_for() -> None:
    operators = CudaBackend().operators(Device("nvidia_cuda", "0", CARD.name))
    for precision in (Precision.F16, Precision.F32):
        assert element_type(DType.F32, operators, precision) is precision.dtype


def test_options_are_those_that_are_looked_up_in_the_library() -> None:
    device = Device("nvidia_cuda", "1", CARD.name)
    plain = CudaBackend(CudaOptions()).provider_options(device)
    asked = CudaBackend(CudaOptions.named("graphs, bias")).provider_options(device)
    assert plain.keys() == asked.keys() == set(OPTIONS)
    assert plain["device_id"] == "1"
    differing = {key for key in plain if plain[key] != asked[key]}
    assert differing == {"enable_cuda_graph", "fuse_conv_bias"}


# Read in libonnxruntime_providers_cuda.so of onnxruntime_gpu-1.31.1-cp311-cp311-manylinux_2_28_
# x86_64.whl from PyPI (sha256 begins with e26c475fe361b201): its strings, and how many pieces of
# code .nv_fatbin has for each architecture.
FOUND_OPTIONS = {
    *("device_id", "gpu_mem_limit", "arena_extend_strategy", "cudnn_conv_algo_search"),
    *("do_copy_in_default_stream", "cudnn_conv_use_max_workspace", "enable_cuda_graph"),
    *("cudnn_conv1d_pad_to_nc1d", "tunable_op_enable", "prefer_nhwc", "use_tf32", "sdpa_kernel"),
    *("use_ep_level_unified_stream", "fuse_conv_bias", "enable_skip_layer_norm_strict_mode"),
}
FOUND_VALUES = {"kSameAsRequested", "kNextPowerOfTwo", "EXHAUSTIVE"}
FOUND_CODE = {75: 217, 80: 308, 86: 308, 89: 308, 90: 600, 120: 317}


def test_options_and_architectures_are_in_the_published_library() -> None:
    assert set(OPTIONS) <= FOUND_OPTIONS
    options = CudaBackend(CudaOptions()).provider_options(Device("nvidia_cuda", "0", ""))
    assert {value for value in options.values() if not value.isdigit()} <= FOUND_VALUES
    assert {int(name.removeprefix("sm_")) for name in ARCHITECTURES} == FOUND_CODE.keys()


# --- recorded runs ---


class Recorded(RecordingSession):
    """Without a session of ONNX Runtime: the numbers its runs are given."""

    def __init__(self) -> None:
        self.numbers: list[str] = []
        self._run_options: Any = self

    def add_run_config_entry(self, key: str, value: str) -> None:
        assert key == GRAPH_ID
        self.numbers.append(value)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    def run(self: Any, feeds: Feeds) -> dict[str, DeviceValue]:
        return {}

    monkeypatch.setattr(OnnxRuntimeSession, "run_on_device", run)
    monkeypatch.setattr(OnnxRuntimeSession, "pin", lambda self, name, array: None)
    return Recorded()


def test_a_size_is_recorded_when_it_comes_again(recorded: Recorded) -> None:
    """-1 is no record; a size that went and came back lies elsewhere in memory."""
    small, large = {"x": np.zeros((1, 4))}, {"x": np.zeros((2, 4))}
    for feeds in (small, small, small, large, small, small):
        recorded.run_on_device(feeds)
    assert recorded.numbers == ["-1", "1", "1", "-1", "-1", "2"]


def test_another_size_of_a_pinned_input_is_another_size(recorded: Recorded) -> None:
    for tokens in (77, 77, 154):
        recorded.pin("context", np.zeros((1, tokens)))
        recorded.run_on_device({"x": np.zeros((1, 4))})
    assert recorded.numbers == ["-1", "1", "-1"]


def test_the_number_of_records_is_limited(recorded: Recorded) -> None:
    for size in range(1, 9):
        for _ in range(2):
            recorded.run_on_device({"x": np.zeros(size)})
    assert [number for number in recorded.numbers if number != "-1"] == ["1", "2", "3", "4"]
