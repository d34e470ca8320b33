"""The wrong build of ONNX Runtime, and two at once.

`dist_info` has what the published wheels of those names say of themselves: the head of METADATA,
and of RECORD the rows of the runtime's own files. The files are made in the sizes recorded, which
is all that is looked at.
"""

import csv
import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import distributions
from pathlib import Path

import msgspec
import pytest

from backends.amd_migraphx import MiGraphXBackend
from backends.apple_coreml import CoreMlBackend
from backends.cpu import CpuBackend
from backends.hardware import Adapter
from backends.onnx_runtime import installed
from backends.onnx_runtime.installed import (
    Build,
    builds,
    conflict,
    library_fault,
    package_version,
    unusable,
)
from backends.windows_directml import DirectMlBackend

REAL = Path(__file__).with_name("dist_info")
ROOT = Path(__file__).parents[3]
WINDOWS = "onnxruntime-1.31.1-cp311-cp311-win_amd64"
LINUX = "onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_x86_64"
DIRECTML = "onnxruntime_directml-1.24.4-cp311-cp311-win_amd64"
MIGRAPHX = "onnxruntime_migraphx-1.27.1-cp311-cp311-manylinux_2_34_x86_64"
DML, MGX = "DmlExecutionProvider", "MIGraphXExecutionProvider"


def install(wheel: str, folder: Path, share: float = 1.0) -> None:
    """Install over an existing build as pip does; its metadata stays. `share` of the files only."""
    name, version, *_ = wheel.split("-")
    told = folder / f"{name}-{version}.dist-info"
    shutil.copytree(REAL / wheel, told)
    rows = list(csv.reader((told / "RECORD").read_text().splitlines()))
    files = [(path, size) for path, _, size in rows if path.startswith("onnxruntime/")]
    for path, size in files[: int(len(files) * share)]:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            file.truncate(int(size))


def test_the_build_of_this_environment_is_found() -> None:
    (found,) = builds()
    assert found.name == "onnxruntime"
    assert found.intact
    assert installed.installed() == f"onnxruntime {found.version}"
    assert unusable("CPUExecutionProvider", "onnxruntime") is None


def test_plug_ins_and_tools_are_no_builds(tmp_path: Path) -> None:
    for name in ("onnxruntime_ep_webgpu", "onnxruntime_genai", "onnxruntime_extensions", "onnx"):
        told = tmp_path / f"{name}-1.0.dist-info"
        told.mkdir()
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    assert builds([str(tmp_path)]) == ()


@pytest.mark.parametrize(
    ("first", "second", "active"),
    [
        (WINDOWS, DIRECTML, "onnxruntime-directml 1.24.4"),
        (DIRECTML, WINDOWS, "onnxruntime 1.31.1"),
        (MIGRAPHX, LINUX, "onnxruntime 1.31.1"),
    ],
)
def test_the_build_installed_last_is_used(
    tmp_path: Path, first: str, second: str, active: str
) -> None:
    install(first, tmp_path)
    assert [build.intact for build in builds([str(tmp_path)])] == [True]
    install(second, tmp_path)
    found = builds([str(tmp_path)])
    assert [str(build) for build in found if build.intact] == [active]
    assert conflict(found) is None
    assert installed.installed(found) == active


def test_two_mixed_builds_are_unusable(tmp_path: Path) -> None:
    install(WINDOWS, tmp_path)
    install(DIRECTML, tmp_path, share=0.6)
    found = builds([str(tmp_path)])
    mixed = conflict(found)
    assert mixed is not None
    assert "onnxruntime 1.31.1" in mixed
    assert "onnxruntime-directml 1.24.4" in mixed
    assert "uninstall onnxruntime" in mixed
    assert unusable(DML, "onnxruntime-directml", found) == mixed


@pytest.mark.skipif(
    ".cpython-311-x86_64-linux-gnu.so" not in EXTENSION_SUFFIXES, reason="wheels of Python 3.11"
)
def test_a_native_module_left_behind_by_the_other_build_goes_first(tmp_path: Path) -> None:
    """AMD's build over Microsoft's has the Python files of one and the native module of both."""
    install(LINUX, tmp_path)
    install(MIGRAPHX, tmp_path)
    assert conflict(builds([str(tmp_path)])) is not None


def test_uninstalling_the_lower_of_two_builds_makes_the_other_unusable(tmp_path: Path) -> None:
    """`pip uninstall` takes the files of both, and the metadata of one."""
    install(WINDOWS, tmp_path)
    install(DIRECTML, tmp_path)
    shutil.rmtree(tmp_path / "onnxruntime")
    assert conflict(builds([str(tmp_path)])) is not None


def test_a_build_without_the_provider_is_unusable() -> None:
    """The build of this environment is the wrong one for all of them."""
    version = builds()[0].version
    reason = unusable(DML, "onnxruntime-directml")
    assert reason == f"onnxruntime {version} has no {DML}, which onnxruntime-directml has"
    assert unusable(MGX, "onnxruntime") == f"onnxruntime {version} has no {MGX} on this system"


def test_the_right_build_under_the_wrong_one_is_unusable() -> None:
    version = builds()[0].version
    found = (Build("onnxruntime-migraphx", "1.27.1", False), *builds())
    assert unusable(MGX, "onnxruntime-migraphx", found) == (
        f"onnxruntime {version} lies over onnxruntime-migraphx and has no {MGX}: uninstall "
        "onnxruntime-migraphx and onnxruntime, then install onnxruntime-migraphx"
    )


def test_a_missing_build_is_unusable() -> None:
    assert unusable(DML, "onnxruntime-directml", ()) == "onnxruntime-directml is not installed"
    assert installed.installed(()) == "no onnxruntime"


def test_a_build_that_does_not_start_is_unusable(tmp_path: Path) -> None:
    """The build is this environment's, with an empty native module."""
    (found,) = (d for d in distributions() if d.name == "onnxruntime")
    for file in found.files or ():
        if str(file).startswith(("onnxruntime/__init__", "onnxruntime/capi", "onnxruntime-")):
            target = tmp_path / str(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            binary = ".so" in target.name or target.suffix in (".pyd", ".dll", ".dylib")
            target.write_bytes(bytes(64) if binary else Path(str(file.locate())).read_bytes())
    program = "from backends.onnx_runtime.installed import unusable; print(unusable('X', 'any'))"
    told = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    assert "does not start: " in told.stdout, told.stderr


def test_a_missing_library_is_a_fault() -> None:
    assert "onnxruntime_providers_migraphx" in (library_fault("migraphx") or "")
    assert package_version("onnxruntime_ep_migraphx") is None
    assert package_version("onnxruntime") == f"onnxruntime {builds()[0].version}"


# --- what the backends say of it ---


def machine(monkeypatch: pytest.MonkeyPatch, system: str, *adapters: Adapter) -> None:
    """Pretend that this process runs on another system with other cards."""
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("backends.hardware.list_adapters", lambda: adapters)


RADEON = Adapter(vendor="AMD", name="Radeon RX 7900 XTX", driver="amdgpu", architecture="gfx1100")
OLDER = Adapter(vendor="AMD", name="Radeon RX 6800", driver="amdgpu", architecture="gfx1030")
APPLE = Adapter(vendor="Apple", name="Apple M3 Pro")


def test_the_cpu_backend_needs_one_intact_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CpuBackend().probe()[0].usable
    install(WINDOWS, tmp_path)
    install(DIRECTML, tmp_path, share=0.6)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    (device,) = CpuBackend().probe()
    assert "the files of onnxruntime" in (device.unusable or "")


def test_migraphx_needs_amds_build(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "linux", RADEON, OLDER)
    first, second = MiGraphXBackend().probe()
    assert (first.name, first.id) == ("Radeon RX 7900 XTX", "0")
    assert "which onnxruntime-migraphx has" in (first.unusable or "")
    assert first.install == ("amd-migraphx",)
    assert second.unusable == "AMD does not list gfx1030 for MIGraphX"
    assert second.install == ()


def test_migraphx_has_no_device_without_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "linux", APPLE)
    (device,) = MiGraphXBackend().probe()
    assert device.unusable == "no AMD graphics card found"


def test_migraphx_comes_from_windows_ml_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "win32", RADEON)
    (device,) = MiGraphXBackend().probe()
    assert device.unusable == "windowsml is not installed"
    assert device.install == ("windows-ml",)


def test_directml_needs_its_build_and_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "win32", RADEON, OLDER)
    devices = DirectMlBackend().probe()
    assert [device.id for device in devices] == ["0", "1"]
    assert all("which onnxruntime-directml has" in (d.unusable or "") for d in devices)
    assert {d.install for d in devices} == {("windows-ml", "windows-directml")}
    machine(monkeypatch, "linux", RADEON)
    (device,) = DirectMlBackend().probe()
    assert device.unusable == "DirectML is a part of Windows"


def test_coreml_needs_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "darwin", APPLE)
    (device,) = CoreMlBackend().probe()
    assert device.name == "Apple M3 Pro"
    assert "has no CoreMLExecutionProvider on this system" in (device.unusable or "")
    machine(monkeypatch, "linux", RADEON)
    (device,) = CoreMlBackend().probe()
    assert device.unusable == "CoreML is a part of macOS"


def test_fingerprints_change_with_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    for version in ("6.12.12", "6.14.1"):
        machine(monkeypatch, "linux", msgspec.structs.replace(RADEON, driver_version=version))
        backend = MiGraphXBackend()
        seen.add(backend.fingerprint(backend.probe()[0]))
    assert len(seen) == 2


def test_the_memory_of_a_card_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = msgspec.structs.replace(
        RADEON, memory_total=24 << 30, memory_free=20 << 30, integrated=False
    )
    machine(monkeypatch, "linux", own)
    backend = MiGraphXBackend()
    memory = backend.memory(backend.probe()[0])
    assert (memory.total, memory.free, memory.integrated) == (24 << 30, 20 << 30, False)
    machine(monkeypatch, "linux", msgspec.structs.replace(own, integrated=True))
    assert backend.memory(backend.probe()[0]).integrated
