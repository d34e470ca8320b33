"""Networks of ONNX Runtime's fused operators beside diffusers', computed by torch_device.

Weights are rounded to the element type on both sides, and computed with in single precision.
"""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from backends.base import DType, Precision  # noqa: E402
from backends.nvidia_cuda import OPERATORS  # noqa: E402
from engine.graphs.clip_text import Activation, ClipTextConfig  # noqa: E402
from engine.graphs.vae import VaeConfig  # noqa: E402
from tests.backends.samples import Target  # noqa: E402
from tests.backends.torch_device.test_fused import CPU, Fused  # noqa: E402
from tests.graphs.networks import small_unet, wide_unet  # noqa: E402
from tests.oracle.networks import Case  # noqa: E402
from tests.oracle.sdxl_folder import unet_module  # noqa: E402
from tests.oracle.test_networks import (  # noqa: E402
    clip_case,
    decoder_case,
    encoder_case,
    unet_case,
)
from tests.oracle.test_sdxl_networks import saved  # noqa: E402
from tests.oracle.test_sdxl_networks import unet_case as sdxl_case  # noqa: E402

VAE = VaeConfig(4, (32, 64, 64, 64), 1, 16)
CASES = {
    "unet": lambda: unet_case(small_unet(), (17, 23)),
    "unet, linear projection": lambda: unet_case(small_unet(linear=True, depth=2), (16, 16)),
    "unet, wide": lambda: unet_case(wide_unet(), (8, 8)),
    "decoder": lambda: decoder_case(VAE, (7, 9)),
    "encoder": lambda: encoder_case(VAE, (8, 8)),
    "text encoder": lambda: clip_case(
        Activation.GELU, 1, ClipTextConfig(100, 48, 96, 3, 4, activation=Activation.GELU)
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("element", [DType.F16, DType.F32])
def test_a_fused_network_equals_diffusers(name: str, element: DType) -> None:
    if name == "text encoder" and element is DType.F16:
        pytest.skip("the graph has GELU's constants in half precision")
    case: Case = CASES[name]()
    if element is DType.F16:
        case.module.half().float()
    case.check(Target(Fused(OPERATORS), CPU, Precision.F32, element))


@pytest.mark.parametrize("element", [DType.F16, DType.F32])
def test_a_fused_sdxl_unet_distinguishes_its_contexts(element: DType, tmp_path: Path) -> None:
    """Each has sizes and a text of its own in the time, which no bias may hold for all."""
    module = unet_module()
    case = sdxl_case(saved(tmp_path, module), module, (16, 16))
    if element is DType.F16:
        case.module.half().float()
    case.check(Target(Fused(OPERATORS), CPU, Precision.F32, element))
