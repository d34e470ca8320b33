"""What the plug-in is told, and how it is asked to compile. It needs a card for anything more."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from backends.base import BackendError, Graph, MemoryInfo, RunCancelled, ShapeProfile
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
    provider_options,
)
from backends.onnx_runtime.provider import CPU, Provider
from backends.tensorrt.plugin import compile_graph, compiled_session, require_compatible
from backends.tensorrt.ranges import exactly
from engine.jobs.cancel import CancelToken
from tests.backends.samples import NeverCancelled
from tests.backends.tensorrt.networks import NETWORKS, PROFILE
from tests.graphs.networks import PLAIN, graph_in_memory, random_weights

PLUGIN = "onnxruntime_ep_nv_tensorrt_rtx"
LARGE = MemoryInfo(total=12 << 30, free=11 << 30, integrated=False)
ON_CPU = Provider(CPU)


@pytest.fixture(scope="module")
def unet() -> Graph:
    return graph_in_memory(NETWORKS["unet"], random_weights(NETWORKS["unet"]), PLAIN)


# --- options ---


def test_the_sizes_of_every_input_are_told(unet: Graph) -> None:
    options = provider_options(unet, PROFILE, LARGE, None)
    assert options[MINIMUM] == "sample:1x4x8x8,time_waves:1x32,context:1x77x24"
    assert options[OPTIMUM] == "sample:1x4x16x16,time_waves:1x32,context:2x77x24"
    assert options[MAXIMUM] == "sample:4x4x24x24,time_waves:1x32,context:8x231x24"


def test_launches_are_recorded_where_sizes_stay(unet: Graph) -> None:
    sizes = {"batch": 1, "contexts": 2, "height": 16, "width": 16, "tokens": 77}
    assert provider_options(unet, exactly(sizes), LARGE, None)[CUDA_GRAPH] == "1"
    assert provider_options(unet, PROFILE, LARGE, None)[CUDA_GRAPH] == "0"


def test_weights_stream_where_they_would_take_half_of_the_card(unet: Graph) -> None:
    weights = sum(ref.nbytes for ref in unet.weights.values())
    small = MemoryInfo(2 * weights - 2, weights, integrated=False)
    enough = MemoryInfo(2 * weights, weights, integrated=False)
    assert provider_options(unet, PROFILE, small, None)[WEIGHT_STREAMING] == "-1"
    assert WEIGHT_STREAMING not in provider_options(unet, PROFILE, enough, None)
    assert provider_options(unet, PROFILE, enough, None)[WORKSPACE] == str(weights)
    tiny = MemoryInfo(800, 100, integrated=False)
    assert provider_options(unet, PROFILE, tiny, None)[WORKSPACE] == "100"


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


def test_a_graph_that_was_not_compiled_is_refused(unet: Graph, tmp_path: Path) -> None:
    path = tmp_path / "ctx.onnx"
    path.write_bytes(unet.model)
    with pytest.raises(BackendError, match=f"was not compiled with {PROVIDER}"):
        require_compatible(path, Provider(PROVIDER))
    with pytest.raises(BackendError, match="was not compiled with"):
        compiled_session(unet, Provider(PROVIDER), path, NeverCancelled())


def test_a_compiled_graph_that_is_gone_is_an_error(unet: Graph, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="No such file"):
        compiled_session(unet, Provider(PROVIDER), tmp_path / "ctx.onnx", NeverCancelled())


def test_a_size_without_a_range_is_an_error(unet: Graph) -> None:
    with pytest.raises(BackendError, match="how large batch may be"):
        provider_options(unet, ShapeProfile(), LARGE, None)
