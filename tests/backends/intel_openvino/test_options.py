"""Every name OpenVINO is told or asked for is one that the installed OpenVINO knows."""

import mmap
from importlib.util import find_spec
from pathlib import Path

import pytest

from backends.base import Precision
from backends.intel_openvino import options

SPEC = find_spec("openvino")
FOLDER = Path(SPEC.origin).parent / "libs" if SPEC and SPEC.origin else Path("nowhere")
PLUGINS = {"cpu": "intel_cpu", "gpu.0": "intel_gpu", "npu": "intel_npu"}
READ = {
    "cpu": (options.AVAILABLE_DEVICES, options.CAPABILITIES, options.RUNS_ON),
    "gpu.0": (
        options.AVAILABLE_DEVICES,
        options.CAPABILITIES,
        options.RUNS_ON,
        options.FULL_NAME,
        options.KIND,
        options.UUID,
        options.ARCHITECTURE,
        options.GPU_DRIVER,
        options.GPU_MEMORY,
        options.GPU_LARGEST_BUFFER,
        options.GPU_MEMORY_USED,
    ),
    "npu": (
        options.AVAILABLE_DEVICES,
        options.RUNS_ON,
        options.FULL_NAME,
        options.NPU_DRIVER,
        options.NPU_COMPILER,
    ),
}

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="openvino is not installed")


def known(device: str, names: set[str]) -> set[str]:
    """The names that occur in the libraries of a device's plug-in."""
    found: set[str] = set()
    for library in (f"*openvino_{PLUGINS[device]}_plugin.*", "*openvino.*"):
        for path in FOLDER.glob(library):
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as m:
                found |= {name for name in names if m.find(name.encode()) >= 0}
    return found


@pytest.mark.parametrize("device", PLUGINS)
def test_every_option_is_known_to_the_installed_openvino(device: str) -> None:
    told: dict[str, str] = {}
    for precision in Precision:
        told |= options.compile_options(device, precision, large_buffers=True)
    names = set(told) | set(READ[device])
    # Values that are words of OpenVINO's own.
    names |= {value for value in told.values() if value.isupper() and value != options.ON}
    assert known(device, names) == names
    assert known(device, {"GPU_ENABLE_MAGIC"}) == set()


def test_a_gpu_in_single_precision_lowers_no_precision() -> None:
    assert options.compile_options("gpu.1", Precision.F32) == {
        "INFERENCE_PRECISION_HINT": "f32",
        "EXECUTION_MODE_HINT": "ACCURACY",
        "GPU_ENABLE_SDPA_OPTIMIZATION": "YES",
    }
    assert options.compile_options("gpu.1", Precision.F16)["EXECUTION_MODE_HINT"] == "PERFORMANCE"


def test_the_npu_gets_no_options() -> None:
    assert options.compile_options("npu", Precision.F16, large_buffers=True) == {}
