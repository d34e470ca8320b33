"""The backends for an adapter, in order of preference."""

import pytest

from backends.hardware import Adapter
from backends.preference import backends_for


def gpu(vendor: str, **facts: str) -> Adapter:
    return Adapter(vendor=vendor, name="a card", **facts)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("adapter", "system", "first"),
    [
        (gpu("NVIDIA", architecture="sm_89"), "linux", "nvidia_tensorrt_rtx"),
        (gpu("NVIDIA"), "win32", "nvidia_tensorrt_rtx"),
        (gpu("NVIDIA", architecture="sm_90"), "linux", "nvidia_cuda"),
        (gpu("NVIDIA", architecture="sm_75"), "linux", "nvidia_cuda"),
        (gpu("AMD", driver="amdgpu"), "linux", "amd_migraphx"),
        (gpu("AMD", driver="amdgpu", architecture="gfx1201"), "linux", "amd_migraphx"),
        (gpu("AMD", driver="amdgpu", architecture="gfx1030"), "linux", "webgpu"),
        (gpu("Intel", driver="xe"), "linux", "intel_openvino"),
        (gpu("Qualcomm"), "win32", "webgpu"),
        (gpu("Apple"), "darwin", "webgpu"),
    ],
)
def test_an_adapter_has_its_preferred_backend(adapter: Adapter, system: str, first: str) -> None:
    assert backends_for(adapter, system)[0] == first


def test_nouveau_serves_only_webgpu_and_radeon_nothing() -> None:
    assert backends_for(gpu("NVIDIA", driver="nouveau"), "linux") == ("webgpu",)
    assert backends_for(gpu("AMD", driver="radeon"), "linux") == ()


def test_directml_is_only_for_windows() -> None:
    for vendor in ("NVIDIA", "AMD", "Intel", "Qualcomm"):
        assert "windows_directml" in backends_for(gpu(vendor), "win32")
        assert "windows_directml" not in backends_for(gpu(vendor), "linux")


def test_an_unusable_adapter_and_an_old_mac_have_no_backend() -> None:
    assert backends_for(gpu("NVIDIA", unusable="no driver is loaded for it"), "linux") == ()
    assert backends_for(gpu("AMD"), "darwin") == ()
