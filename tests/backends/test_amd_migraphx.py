"""MIGraphX with AMD's published build and no ROCm, which is what most people have at first."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# (devices are of the runtime, which ships no complete types)

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from backends.amd_migraphx import MiGraphXBackend, built_in, plugged_in
from backends.base import BackendError, Compilation, Device, ShapeSupport
from backends.hardware import Adapter
from backends.onnx_runtime.plugins import plugin_devices
from tests.backends.networks import network
from tests.backends.options.wheels import download
from tests.backends.samples import NeverCancelled, ignore

ROOT = Path(__file__).parents[2]
DEVICE = Device("amd_migraphx", "0", "Radeon RX 7900 XTX")
PROBE = """
from backends import hardware
from backends.hardware import Adapter
card = Adapter(vendor="AMD", name="Radeon RX 7900 XTX", driver="amdgpu", architecture="gfx1100")
hardware.list_adapters = lambda: (card,)
from backends.amd_migraphx import MiGraphXBackend
backend = MiGraphXBackend()
(device,) = backend.probe()
print(device.unusable)
print(backend.fingerprint(device))
"""


def test_programs_are_for_one_size_and_hold_the_weights() -> None:
    static = Compilation(ShapeSupport.STATIC, carries_weights=True)
    assert MiGraphXBackend().compilation(DEVICE) == static


def test_each_kind_of_provider_keeps_its_programs_where_it_is_told(tmp_path: Path) -> None:
    assert built_in(1, tmp_path).options == {
        "device_id": "1",
        "migraphx_model_cache_dir": str(tmp_path),
    }
    assert built_in(0, None).options == {"device_id": "0"}
    device: object = object()
    plugged = plugged_in(device, tmp_path)  # pyright: ignore[reportArgumentType]
    assert (plugged.devices, plugged.options) == ((device,), {"cache_dir": str(tmp_path)})


def test_an_unusable_device_cannot_load(monkeypatch: pytest.MonkeyPatch) -> None:
    adapters = (Adapter(vendor="AMD", name=DEVICE.name),)
    monkeypatch.setattr("backends.hardware.list_adapters", lambda: adapters)
    backend = MiGraphXBackend()
    graph = network("vae decoder", backend.operators(DEVICE))
    with pytest.raises(BackendError, match=r"MIGraphXExecutionProvider|windowsml"):
        backend.load(graph, None, DEVICE, ignore, NeverCancelled())


@pytest.mark.skipif(sys.platform != "linux", reason="ROCm's node is Linux's")
def test_a_node_of_rocm_that_may_not_be_opened_is_named_before_anything_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "kfd"
    card = Adapter(vendor="AMD", name=DEVICE.name, driver="amdgpu", architecture="gfx1100")
    monkeypatch.setattr("backends.hardware.list_adapters", lambda: (card,))
    monkeypatch.setattr("backends.hardware.reading.ROCM_NODE", node)

    def refused(path: object, mode: int) -> bool:
        return path != node

    # As root everything may be opened.
    monkeypatch.setattr("backends.hardware.reading.os.access", refused)
    (device,) = MiGraphXBackend().probe()
    assert "group render" not in str(device.unusable)
    assert device.install == ("amd-migraphx",)
    node.touch()
    (device,) = MiGraphXBackend().probe()
    assert str(device.unusable).startswith(f"{node} may not be opened: add yourself to the group")
    assert device.install == ()


def test_the_plug_in_is_absent_here() -> None:
    with pytest.raises(BackendError, match="onnxruntime-ep-migraphx is not installed"):
        plugin_devices("onnxruntime_ep_migraphx")


@pytest.mark.oracle
@pytest.mark.skipif(sys.platform != "linux", reason="AMD's build is for Linux")
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the wheel fetched is of Python 3.11")
def test_amds_build_without_rocm_says_which_library_is_missing(tmp_path: Path) -> None:
    try:
        wheel = download("onnxruntime-migraphx==1.27.1", ("manylinux_2_34_x86_64",), tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no index has it: {error.stderr[-200:]}")
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    told = subprocess.run(
        [sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{ROOT}"},
    )
    reason, fingerprint = told.stdout.splitlines()
    assert reason.startswith("ROCm is absent or of another version: libmigraphx_c.so.3: "), told
    assert fingerprint.startswith("onnxruntime-migraphx 1.27.1 no plug-in ROCm none amdgpu")
