"""Networks of ONNX Runtime's fused operators beside diffusers', computed by torch_device.

Weights are rounded to the element type on both sides, and computed with in single precision.
"""
# pyright: basic
# torch and diffusers are absent from the environment that is type-checked.

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
from tests.oracle.test_networks import (  # noqa: E402
    clip_case,
    decoder_case,
    encoder_case,
    unet_case,
)

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
def test_a_fused_network_is_diffusers_own(name: str, element: DType) -> None:
    if name == "text encoder" and element is DType.F16:
        pytest.skip("the graph has GELU's constants in half precision")
    case: Case = CASES[name]()
    if element is DType.F16:
        case.module.half().float()
    case.check(Target(Fused(OPERATORS), CPU, Precision.F32, element))
