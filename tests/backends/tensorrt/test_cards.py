"""The two backends' answers on NVIDIA's cards: reasons in words, from real logs if possible."""

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest

from backends.base import BackendError, Device
from backends.hardware import Adapter
from backends.hardware.nvml import Nvml
from backends.nvidia_tensorrt import TensorRtBackend
from backends.nvidia_tensorrt_rtx import TensorRtRtxBackend
from backends.tensorrt.cards import card_of
from tests.backends.hardware import logs_of_users as logs
from tests.backends.hardware.test_logs import linux_adapters

PLUGIN = "onnxruntime_ep_nv_tensorrt_rtx"
with_plugin = pytest.mark.skipif(not find_spec(PLUGIN), reason="the plug-in is not installed")
without_plugin = pytest.mark.skipif(bool(find_spec(PLUGIN)), reason="the plug-in is installed")
without_tensorrt = pytest.mark.skipif(bool(find_spec("tensorrt")), reason="TensorRT is installed")

SILENT = "NVIDIA's driver does not answer (NVML)"
NOTHING = "no NVIDIA graphics card found"
RTX, NATIVE = TensorRtRtxBackend(), TensorRtBackend()
BOTH = pytest.mark.parametrize("backend", [RTX, NATIVE], ids=lambda backend: backend.name)


def card(name: str, architecture: str, driver: str = "595.71.05") -> Adapter:
    """A card under NVIDIA's driver; capabilities are those of developer.nvidia.com/cuda/gpus."""
    return Adapter(
        vendor="NVIDIA",
        name=name,
        address="0000:01:00.0",
        driver="nvidia",
        driver_version=driver,
        architecture=architecture,
        integrated=False,
    )


def reasons(devices: list[Device]) -> list[str | None]:
    return [device.unusable for device in devices]


def two_l40s(root: Path) -> tuple[Adapter, ...]:
    """A server with two L40S; that their capability is 8.9 is NVIDIA's word, not the log's."""
    text = logs.load("two_nvidia_server_lspci").text
    logs.lspci_tree(text, root)
    told = logs.nvidia_smi(text)
    capable = tuple(msgspec.structs.replace(device, capability=(8, 9)) for device in told.devices)
    return linux_adapters(root, msgspec.structs.replace(told, devices=capable))


@BOTH
def test_a_card_that_is_hidden_from_cuda_has_that_reason(
    monkeypatch: pytest.MonkeyPatch, backend: TensorRtRtxBackend | TensorRtBackend
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    first = card("NVIDIA GeForce RTX 4070", "sm_89")
    found = reasons(backend.judged((first, msgspec.structs.replace(first, address="0000:05:00.0"))))
    assert found[0] == "CUDA_VISIBLE_DEVICES hides it"
    assert found[1] != found[0]


# --- what stands in the way on real machines ---


@BOTH
@pytest.mark.parametrize(
    ("log", "convert", "expected"),
    [
        ("nouveau_lspci", logs.lspci_tree, ["its driver is nouveau; NVIDIA's own is needed"]),
        ("two_nvidia_laptop_lspci", logs.lspci_tree, ["no driver is loaded for it"] * 2),
        ("nvidia_laptop_inxi", logs.inxi_tree, [SILENT]),
        ("container_nvidia_proc", logs.nvidia_proc_tree, [SILENT]),
        ("amd_card_sysfs", logs.sysfs_tree, [NOTHING]),
        ("vm_without_display_lspci", logs.lspci_tree, [NOTHING]),
    ],
)
def test_users_machines_have_the_expected_reasons(
    backend: TensorRtRtxBackend | TensorRtBackend,
    log: str,
    convert: Callable[[str, Path], None],
    expected: list[str],
    tmp_path: Path,
) -> None:
    convert(logs.load(log).text, tmp_path)
    adapters = linux_adapters(tmp_path, Nvml())
    assert reasons(backend.judged(adapters)) == expected


@without_plugin
def test_a_server_without_the_plug_in(tmp_path: Path) -> None:
    devices = RTX.judged(two_l40s(tmp_path))
    assert [(device.id, device.name) for device in devices] == [
        ("0000:01:00.0", "NVIDIA L40S"),
        ("0000:91:00.0", "NVIDIA L40S"),
    ]
    assert reasons(devices) == ["the plug-in is not installed"] * 2
    assert {device.install for device in devices} == {("nvidia-tensorrt-rtx",)}


@without_tensorrt
def test_a_server_without_tensorrt(tmp_path: Path) -> None:
    devices = NATIVE.judged(two_l40s(tmp_path))
    assert reasons(devices) == ["tensorrt is not installed"] * 2
    assert {device.install for device in devices} == {("nvidia-tensorrt",)}


@pytest.mark.oracle
@with_plugin
def test_the_plug_in_without_a_driver_says_which_library_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card is another machine's, so the plug-in is really loaded, and really fails."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "")  # put back after the plug-in has changed it
    for reason in reasons(RTX.judged(two_l40s(tmp_path))):
        assert reason
        assert "libcuda.so.1: cannot open shared object file" in reason


# --- which cards ---


@pytest.mark.parametrize(
    ("adapter", "generation"),
    [
        (card("NVIDIA H100 PCIe", "sm_90"), "compute capability 9.0, Hopper"),
        (card("NVIDIA H200", "sm_90"), "compute capability 9.0, Hopper"),
        (card("NVIDIA B200", "sm_100"), "compute capability 10.0, datacentre Blackwell"),
        (card("NVIDIA A100-SXM4-40GB", "sm_80"), "compute capability 8.0, datacentre Ampere"),
        (card("Jetson AGX Orin", "sm_87"), "compute capability 8.7, Ampere"),
        (card("NVIDIA GeForce RTX 2080", "sm_75"), "compute capability 7.5, Turing"),
        (card("NVIDIA TITAN V", "sm_70"), "compute capability 7.0, Volta"),
        (card("NVIDIA GeForce GTX 1080", "sm_61"), "compute capability 6.1, Pascal"),
        (card("NVIDIA GeForce GTX 970", "sm_52"), "compute capability 5.2, older"),
    ],
)
def test_unsupported_cards_are_refused_by_tensorrt_rtx(adapter: Adapter, generation: str) -> None:
    assert reasons(RTX.judged((adapter,))) == [
        f"TensorRT-RTX serves compute capability 8.6, 8.9, and 12.0 or newer (this is {generation})"
    ]


@without_plugin
@pytest.mark.parametrize("architecture", ["sm_86", "sm_89", "sm_120", "sm_121", "sm_130"])
def test_supported_cards_are_usable_with_tensorrt_rtx(architecture: str) -> None:
    (reason,) = reasons(RTX.judged((card("a card", architecture),)))
    assert reason
    assert "the plug-in is not installed" in reason


@pytest.mark.oracle
@with_plugin
def test_a_driver_older_than_cuda_13_is_too_old() -> None:
    (reason,) = reasons(RTX.judged((card("NVIDIA GeForce RTX 3060", "sm_86", "575.64.03"),)))
    assert reason == (
        "driver 575.64.03 is too old: onnxruntime-ep-nv-tensorrt-rtx-cu13 needs 580 or newer"
    )


@without_tensorrt
def test_native_tensorrt_starts_with_turing() -> None:
    (pascal,) = reasons(NATIVE.judged((card("NVIDIA GeForce GTX 1080", "sm_61"),)))
    assert pascal == (
        "TensorRT starts with compute capability 7.5 (this is compute capability 6.1, Pascal)"
    )
    (hopper,) = reasons(NATIVE.judged((card("NVIDIA H200", "sm_90"),)))
    assert hopper == "tensorrt is not installed"


@without_tensorrt
def test_turing_uses_tensorrt_rtx_if_tensorrt_is_missing() -> None:
    (device,) = NATIVE.judged((card("NVIDIA GeForce RTX 2080", "sm_75"),))
    if find_spec("tensorrt_rtx"):
        assert [precision.value for precision in device.precisions] == ["f16"]
        (old,) = reasons(NATIVE.judged((card("RTX 2080", "sm_75", "575.64.03"),)))
        assert old == "driver 575.64.03 is too old: TensorRT-RTX needs 580 or newer"
    else:
        assert device.unusable == "tensorrt_rtx is not installed"
        assert device.install == ("nvidia-tensorrt",)


def test_a_capability_of_two_digits_is_read_as_one() -> None:
    blackwell = card_of(card("NVIDIA GeForce RTX 5090", "sm_120"))
    assert not isinstance(blackwell, str)
    assert blackwell.capability == (12, 0)
    assert blackwell.driver == (595, 71)


# --- without a card ---


@BOTH
def test_a_device_that_is_gone_is_an_error(backend: TensorRtRtxBackend | TensorRtBackend) -> None:
    gone = Device(backend.name, "ffff:ff:00.0", "NVIDIA GeForce RTX 4070")
    with pytest.raises(BackendError, match="NVIDIA GeForce RTX 4070 is no longer there"):
        backend.memory(gone)
    assert backend.fingerprint(gone).endswith("without a driver NVIDIA GeForce RTX 4070")


def test_nothing_of_nvidias_is_imported_where_there_is_no_card(tmp_path: Path) -> None:
    """The plug-in's import writes links, changes the environment and loads libraries for all."""
    for module in (PLUGIN, "tensorrt", "tensorrt_rtx"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('imported')")
    program = (
        "from backends.nvidia_tensorrt import TensorRtBackend as A\n"
        "from backends.nvidia_tensorrt_rtx import TensorRtRtxBackend as B\n"
        "import sys\n"
        "for backend in (A(), B()):\n"
        "    for device in backend.judged(()): backend.operators(device)\n"
        f"print([m for m in sys.modules if m.startswith(('tensorrt', '{PLUGIN}'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[3]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
