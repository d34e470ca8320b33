"""Every network through torch's operators beside ONNX Runtime, on the same small weights."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")

from backends.base import Array, Backend, DType, Precision  # noqa: E402
from backends.cpu import CpuBackend  # noqa: E402
from backends.forms import UpsamplingForm  # noqa: E402
from backends.torch_device import TorchBackend  # noqa: E402
from backends.torch_device.operators import ONNX_TYPES, OPERATORS, function_of  # noqa: E402
from backends.torch_device.plan import make_plan  # noqa: E402
from benchmarks.ablation_steps import STEPS  # noqa: E402
from engine.graphs.chroma import ChromaConfig, chroma  # noqa: E402
from engine.graphs.clip_text import Activation, clip_text  # noqa: E402
from engine.graphs.flux import FluxConfig, flux  # noqa: E402
from engine.graphs.flux2 import Flux2Config, flux2  # noqa: E402
from engine.graphs.free_u import FreeU  # noqa: E402
from engine.graphs.sd3 import Sd3Config, sd3  # noqa: E402
from engine.graphs.t2i_adapter import t2i_adapter  # noqa: E402
from engine.graphs.t5 import position_buckets, t5_encoder  # noqa: E402
from engine.graphs.unet import timestep_embedding, unet  # noqa: E402
from engine.graphs.unet_changes import NetworkChanges  # noqa: E402
from engine.graphs.vae import vae_decoder, vae_encoder  # noqa: E402
from engine.graphs.zimage import ZImageConfig, zimage  # noqa: E402
from tests.backends.networks import VAE_PARTS  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.control.small import SMALL_ADAPTER  # noqa: E402
from tests.graphs.branches import RandomBranches  # noqa: E402
from tests.graphs.networks import (  # noqa: E402
    SMALL_CLIP,
    SMALL_VAE,
    Emit,
    graph_in_memory,
    random_weights,
    small_unet,
    wide_unet,
)
from tests.graphs.test_qwen3 import emit as emit_qwen3  # noqa: E402
from tests.graphs.test_t5 import SMALL as SMALL_T5  # noqa: E402
from tests.upscalers.small import EMITS as UPSCALERS  # noqa: E402

# Against ONNX Runtime in single precision, on the processor.
TOLERANCES = {Precision.F32: 1e-5, Precision.BF16: 4e-2, Precision.F16: 1e-2}
RANDOM = np.random.default_rng(8)

UNETS = {
    "sd1": small_unet(),
    "nine_channels": small_unet(in_channels=9),
    "linear_projection": small_unet(linear=True, depth=2),
    "two_layers": small_unet(layers=2),
}
SMALL_FLUX = FluxConfig(
    in_channels=16, out_channels=16, width=48, heads=3, mlp_width=192, context_width=40,
    pooled_width=24, double_blocks=1, single_blocks=1, axes=(4, 6, 6), takes_guidance=True,
)  # fmt: skip
SMALL_FLUX2 = Flux2Config(
    in_channels=16, out_channels=16, width=48, heads=3, mlp_width=96, context_width=40,
    double_blocks=1, single_blocks=1,
)  # fmt: skip
SMALL_SD3 = Sd3Config(
    channels=4,
    width=64,
    heads=2,
    mlp_width=96,
    context_width=40,
    pooled_width=24,
    blocks=2,
    places=8,
    normalised=True,
    dual_blocks=(0,),
)
SMALL_CHROMA = ChromaConfig(
    in_channels=16, out_channels=16, width=48, heads=3, mlp_width=192, context_width=40,
    double_blocks=1, single_blocks=1, axes=(4, 6, 6), waves=16, approximator_width=32,
    approximator_layers=1,
)  # fmt: skip
SMALL_ZIMAGE = ZImageConfig(
    channels=4, width=48, heads=3, mlp_width=64, context_width=24, embedded_width=40,
    embedding_width=32, layers=1, refiners=1, axes=(4, 6, 6),
)  # fmt: skip
# Height and width, and whether every level halves evenly.
SIZES = {(16, 12): True, (13, 10): False}
NETWORKS: dict[str, Emit] = {
    **{
        f"unet_{name}_{even}": partial(unet, config=config, halves_evenly=even)
        for name, config in UNETS.items()
        for even in (True, False)
    },
    "vae_decoder": partial(vae_decoder, config=SMALL_VAE),
    "vae_encoder": partial(vae_encoder, config=SMALL_VAE),
    **{
        f"clip_{activation}": partial(
            clip_text, config=msgspec.structs.replace(SMALL_CLIP, activation=activation)
        )
        for activation in Activation
    },
    "clip_masked": partial(clip_text, config=SMALL_CLIP, attention_mask=True),
}


def targets() -> list[Target]:
    """Every precision and element type on every device that torch has here."""
    backend = TorchBackend()
    return [
        Target(backend, device, precision, element)
        for device in backend.probe()
        for precision in device.precisions
        for element in backend.operators(device).elements
        if element.itemsize >= precision.dtype.itemsize
    ]


def every(targets: list[Target]) -> pytest.MarkDecorator:
    """A test for each target; those on a graphics card are ring 7."""
    return pytest.mark.parametrize(
        "target",
        [
            pytest.param(
                target,
                id=f"{target.device.id}-{target.precision}-{target.element}",
                marks=() if target.device.id == "cpu" else pytest.mark.gpu,
            )
            for target in targets
        ],
    )


TARGETS = targets()
every_target = every(TARGETS)
every_device = every([target for target in TARGETS if target.precision is Precision.F32])


def drawn(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, np.float32)


def computed(
    emit: Emit, weights: dict[str, Array], feeds: dict[str, Array], target: Target
) -> Array:
    operators = target.backend.operators(target.device)
    graph = graph_in_memory(emit, weights, operators, target.element, target.precision)
    session = target.load(graph)
    (result,) = session.run(feeds).values()
    session.close()
    return result


def check(emit: Emit, feeds: dict[str, Array], target: Target) -> None:
    """Within the tolerance of what ONNX Runtime computes with weights rounded alike."""
    weights = {
        name: array.astype(target.element.numpy).astype(np.float32)
        for name, array in random_weights(emit).items()
    }
    oracle: Backend = CpuBackend()
    expected = computed(emit, weights, feeds, Target(oracle, oracle.probe()[0]))
    result = computed(emit, weights, feeds, target)
    assert result.shape == expected.shape
    assert relative_error(result, expected) < TOLERANCES[target.precision]


def check_unet(target: Target, name: str, contexts: int, size: tuple[int, int]) -> None:
    config, batch = UNETS[name], 1 if contexts == 1 else 2
    feeds = {
        "sample": drawn(batch, config.in_channels, *size),
        "timestep_embedding": timestep_embedding(config, 512.5),
        "context": drawn(contexts, 11, config.context_width),
    }
    check(partial(unet, config=config, halves_evenly=SIZES[size]), feeds, target)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("contexts", [1, 6])
@pytest.mark.parametrize("name", UNETS)
@every_device
def test_a_unet_equals_onnx_runtimes(
    target: Target, name: str, contexts: int, size: tuple[int, int]
) -> None:
    """One picture under one context, and two under three each: the beginning is shared."""
    check_unet(target, name, contexts, size)


@every_target
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_unet_in_every_type_equals_onnx_runtimes(target: Target, size: tuple[int, int]) -> None:
    check_unet(target, "sd1", 6, size)


@every_target
@pytest.mark.parametrize("size", [(8, 8), (7, 5), (1, 1)], ids=str)
def test_a_vae_equals_onnx_runtimes(target: Target, size: tuple[int, int]) -> None:
    latent = drawn(2, SMALL_VAE.latent_channels, *size)
    check(partial(vae_decoder, config=SMALL_VAE), {"latent": latent}, target)
    side = SMALL_VAE.downscale
    image = drawn(2, 3, side * size[0], side * size[1])
    check(partial(vae_encoder, config=SMALL_VAE), {"image": image}, target)


@every_target
@pytest.mark.parametrize("clip_skip", [1, 2])
@pytest.mark.parametrize("activation", Activation)
def test_a_text_encoder_equals_onnx_runtimes(
    target: Target, activation: Activation, clip_skip: int
) -> None:
    config = msgspec.structs.replace(SMALL_CLIP, activation=activation)
    tokens = RANDOM.integers(0, config.vocabulary, (2, config.positions))
    check(partial(clip_text, config=config, clip_skip=clip_skip), {"tokens": tokens}, target)


@every_target
def test_t5_equals_onnx_runtimes(target: Target) -> None:
    tokens = RANDOM.integers(0, SMALL_T5.vocabulary, (2, 9))
    feeds = {"tokens": tokens, "buckets": position_buckets(9)}
    check(partial(t5_encoder, config=SMALL_T5), feeds, target)


def test_the_table_has_exactly_the_operators_of_the_networks(tmp_path: Path) -> None:
    backend = TorchBackend()
    own = backend.operators(backend.probe()[-1])
    forms = [
        (msgspec.structs.replace(own, upsampling=form), own.elements) for form in UpsamplingForm
    ]
    # Those of the CUDA provider are checked by interpreting them: test_fused.
    forms += [(operators, (DType.F16,)) for operators in STEPS.values()]
    used: set[str] = set()
    emits = (*NETWORKS.values(), *VAE_PARTS.values(), *UPSCALERS.values())
    free_u = FreeU(follows_mean=True, by_width=False)
    changes = NetworkChanges(free_u=free_u, shows_attention=True)
    changed = partial(unet, config=wide_unet(), changes=changes)
    adapter = partial(t2i_adapter, config=SMALL_ADAPTER)
    of_flux = (
        partial(flux, config=SMALL_FLUX),
        partial(chroma, config=SMALL_CHROMA),
        partial(t5_encoder, config=SMALL_T5),
        partial(t5_encoder, config=SMALL_T5, masked=True),
    )
    of_sd3 = partial(sd3, config=SMALL_SD3)
    of_zimage = partial(zimage, config=SMALL_ZIMAGE), emit_qwen3
    of_flux2 = partial(flux2, config=SMALL_FLUX2)
    networks = (changed, adapter, *of_flux, *of_zimage, of_sd3, of_flux2)
    for emit in (*emits, partial(unet, config=wide_unet()), *networks):
        weights = random_weights(emit)
        for operators, elements in forms:
            for element in elements:
                graph = graph_in_memory(emit, weights, operators, element)
                for step in make_plan(graph.model).steps:
                    function_of(step, ONNX_TYPES)  # refuses what it does not know
                    used.add(step.kind)
    # The branches of LoRAs cut the rows of layers that are split.
    emit = partial(unet, config=wide_unet())
    weights = random_weights(emit)
    branches = RandomBranches(tmp_path, weights).branches
    graph = graph_in_memory(emit, weights, own, DType.F32, branches=branches)
    used.update(step.kind for step in make_plan(graph.model).steps)
    # No network of the tests has weights in blocks: tests/backends/test_blocks.py proves those.
    assert OPERATORS.keys() == used | {"MatMulNBits"}
