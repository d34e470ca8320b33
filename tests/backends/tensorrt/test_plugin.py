"""The options of the plug-in, and the call that compiles. Anything more needs a card."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportAttributeAccessIssue=false
# (the runtime ships no complete types)

import re
from importlib.util import find_spec
from pathlib import Path

import msgspec
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from backends.base import (
    BackendError,
    DimensionRange,
    Graph,
    MemoryInfo,
    RunCancelled,
    ShapeProfile,
)
from backends.hardware import Adapter, PciId
from backends.nvidia_tensorrt_rtx import (
    CUDA_GRAPH,
    KERNEL_CACHE,
    MAXIMUM,
    MINIMUM,
    OPTIMUM,
    OPTIONS,
    PROVIDER,
    WEIGHT_STREAMING,
    WORKSPACE,
    matching,
    provider_options,
)
from backends.onnx_runtime.provider import CPU, Provider
from backends.tensorrt.plugin import compile_graph, compiled_session, require_compatible
from engine.cancel import CancelToken
from tests.backends.samples import NeverCancelled
from tests.backends.tensorrt.networks import NETWORKS, PROFILE, UNBOUND
from tests.graphs.networks import PLAIN, graph_in_memory, random_weights

PLUGIN = "onnxruntime_ep_nv_tensorrt_rtx"
LARGE = MemoryInfo(total=12 << 30, free=11 << 30, integrated=False)
ON_CPU = Provider(CPU)


@pytest.fixture(scope="module")
def unet() -> Graph:
    return graph_in_memory(NETWORKS["unet"], random_weights(NETWORKS["unet"]), PLAIN)


# --- options ---


def test_the_provider_gets_the_sizes_of_every_input(unet: Graph) -> None:
    options = provider_options(unet, PROFILE, LARGE, None)
    ranges = {
        MINIMUM: "sample:1x4x8x8,timestep_embedding:1x32,context:1x77x24",
        OPTIMUM: "sample:1x4x16x16,timestep_embedding:1x32,context:2x77x24",
        MAXIMUM: "sample:4x4x24x24,timestep_embedding:1x32,context:8x231x24",
    }
    residuals = {MINIMUM: "1x64x4x4", OPTIMUM: "2x64x8x8", MAXIMUM: "8x64x12x12"}
    for end, shapes in ranges.items():
        assert options[end].startswith(shapes)
        assert f"control.4:{residuals[end]}" in options[end].split(",")


def test_launches_are_recorded_for_fixed_sizes(unet: Graph) -> None:
    sizes = {"batch": 1, "contexts": 2, "height": 16, "width": 16, "tokens": 77}
    fixed = {name: DimensionRange(size, size, size) for name, size in sizes.items()}
    assert provider_options(unet, ShapeProfile(fixed), LARGE, None)[CUDA_GRAPH] == "1"
    assert provider_options(unet, PROFILE, LARGE, None)[CUDA_GRAPH] == "0"


def test_the_options_bind_no_weights(unet: Graph) -> None:
    """A load would convert gigabytes that its engine has already."""
    weights = unet.weight_bytes
    small = MemoryInfo(weights, weights, integrated=False)
    unbound = msgspec.structs.replace(unet, weights=UNBOUND, room_bytes=weights)
    budget = str(weights - 2 * max(unet.weight_sizes.values()))
    assert provider_options(unbound, PROFILE, small, None)[WEIGHT_STREAMING] == budget


def test_weights_stream_if_they_need_half_of_the_card(unet: Graph) -> None:
    weights = sum(ref.nbytes for ref in unet.weights.values())
    small = MemoryInfo(2 * weights - 2, weights, integrated=False)
    enough = MemoryInfo(2 * weights, weights, integrated=False)
    assert provider_options(unet, PROFILE, small, None)[WEIGHT_STREAMING] == "-1"
    assert WEIGHT_STREAMING not in provider_options(unet, PROFILE, enough, None)
    assert provider_options(unet, PROFILE, enough, None)[WORKSPACE] == str(weights)
    tiny = MemoryInfo(800, 100, integrated=False)
    assert provider_options(unet, PROFILE, tiny, None)[WORKSPACE] == "100"


def test_the_card_keeps_the_weights_that_the_plan_has_room_for(unet: Graph) -> None:
    sizes = [ref.nbytes for ref in unet.weights.values()]
    small = MemoryInfo(sum(sizes), sum(sizes), integrated=False)

    def budget(room_bytes: int) -> str:
        planned = msgspec.structs.replace(unet, room_bytes=room_bytes)
        return provider_options(planned, PROFILE, small, None)[WEIGHT_STREAMING]

    # Two layers are on their way beside what stays. The plug-in takes 1 for the least.
    assert budget(2 * max(sizes) + 4096) == "4096"
    assert budget(2 * max(sizes)) == budget(0) == "1"


def test_kernels_are_kept_beside_the_engine(unet: Graph, tmp_path: Path) -> None:
    assert provider_options(unet, PROFILE, LARGE, tmp_path)[KERNEL_CACHE] == str(tmp_path)
    assert KERNEL_CACHE not in provider_options(unet, PROFILE, LARGE, None)


def test_every_option_is_in_the_list(unet: Graph, tmp_path: Path) -> None:
    tiny = MemoryInfo(800, 100, integrated=False)
    assert set(provider_options(unet, PROFILE, tiny, tmp_path)) == set(OPTIONS)


@pytest.mark.oracle
@pytest.mark.skipif(not find_spec(PLUGIN), reason="the plug-in is not installed")
def test_every_option_is_in_the_plug_ins_own_header() -> None:
    """Read where it lies: importing the plug-in loads its libraries."""
    spec = find_spec(PLUGIN)
    assert spec
    assert spec.origin
    package = Path(spec.origin).parent
    header = (package / "tensorrt_rtx_provider_options.h").read_text()
    named = set(re.findall(r'constexpr const char\* k\w+ = "(\w+)";', header))
    assert set(OPTIONS) <= named
    assert f'_KNOWN_EP_NAME = "{PROVIDER}"' in (package / "__init__.py").read_text()
    # The gate that the backend's reasons repeat.
    assert 'kTargetSMValues[] = {"sm86", "sm89", "sm120", "sm121"}' in header
    assert "if (compute_capability >= 120)" in header


# --- compiling: what a provider that compiles nothing makes of it ---


def test_a_provider_that_takes_no_node_is_an_error(unet: Graph, tmp_path: Path) -> None:
    """Weights come from memory: ONNX Runtime got as far as asking the provider."""
    with pytest.raises(BackendError, match="Unable to compile any nodes"):
        compile_graph(unet, ON_CPU, tmp_path / "ctx.onnx", NeverCancelled())
    assert not list(tmp_path.iterdir())


def test_a_compile_may_be_stopped_before_it_begins(unet: Graph, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(RunCancelled):
        compile_graph(unet, ON_CPU, tmp_path / "ctx.onnx", token)


def compiled_by_nobody(path: Path, said: str = "") -> Path:
    """A model without weights, and what the processor's provider is said to have said of it."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", "x", "y")], "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    if said:
        # ONNX Runtime keeps what providers say of their work in the model's metadata.
        model.metadata_props.add(key=f"ep_compatibility_info.{CPU}", value=said)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("said", ["", "version 1"])
def test_a_provider_without_a_compatibility_check_may_try(said: str, tmp_path: Path) -> None:
    (cpu,) = (device for device in ort.get_ep_devices() if device.ep_name == CPU)
    path = compiled_by_nobody(tmp_path / "ctx.onnx", said)
    require_compatible(path, Provider(CPU, devices=(cpu,)))


def test_a_file_that_is_no_model_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ctx.onnx"
    path.write_bytes(b"half a model")
    with pytest.raises(BackendError):
        require_compatible(path, Provider(PROVIDER))


def test_a_missing_provider_is_an_error(unet: Graph, tmp_path: Path) -> None:
    path = compiled_by_nobody(tmp_path / "ctx.onnx")
    with pytest.raises(BackendError, match=f"has no {PROVIDER}"):
        compiled_session(unet, Provider(PROVIDER), path, NeverCancelled())


def test_an_adapter_is_matched_with_its_listed_device() -> None:
    """ONNX Runtime lists the one device everywhere."""
    (cpu,) = (device for device in ort.get_ep_devices() if device.ep_name == CPU)
    numbers = PciId(cpu.device.vendor_id, cpu.device.device_id)
    same, other = (
        Adapter(vendor="NVIDIA", name="a card", pci=pci, address="0000:01:00.0")
        for pci in (numbers, PciId(0x10DE, 0x2684))
    )
    assert matching([cpu], same) is cpu
    for listed, adapter in (([cpu], other), ([], same)):
        with pytest.raises(BackendError, match="the plug-in does not list a card"):
            matching(listed, adapter)


def test_a_compiled_graph_that_is_gone_is_an_error(unet: Graph, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="No such file"):
        compiled_session(unet, Provider(PROVIDER), tmp_path / "ctx.onnx", NeverCancelled())


def test_a_size_without_a_range_is_an_error(unet: Graph) -> None:
    with pytest.raises(BackendError, match="how large batch may be"):
        provider_options(unet, ShapeProfile(), LARGE, None)
