"""SDXL's VAE leaves float16's range: known beforehand, so that no first try is in vain.

One channel of the decoder's last norm is made 70,000, beyond float16's largest number (65,504); the
convolution after it takes that away again, so in float32 it has no say.
"""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")
pytest.importorskip("diffusers")

from safetensors.numpy import load_file, save_file  # noqa: E402

from backends.base import Precision  # noqa: E402
from backends.torch_device import TorchBackend  # noqa: E402
from engine.api.values import PrecisionName  # noqa: E402
from tests.oracle.sdxl_folder import write_pipeline  # noqa: E402
from tests.pipeline.jobs import a_request, run  # noqa: E402

F16, F32 = Precision.F16, Precision.F32


def overflowing(folder: Path, **configuration: object) -> Path:
    """A tiny SDXL checkpoint whose VAE overflows in float16, with such a `config.json`."""
    checkpoint = write_pipeline(folder)
    vae = checkpoint / "vae"
    weights = load_file(vae / "diffusion_pytorch_model.safetensors")
    weights["decoder.conv_norm_out.weight"][0] = 0
    weights["decoder.conv_norm_out.bias"][0] = 70_000
    weights["decoder.conv_out.weight"][:, 0] = 0
    weights["decoder.conv_out.weight"][:, 0, 1, 1] = 1e-3
    weights["decoder.conv_out.bias"] -= np.float32(70)
    save_file(weights, vae / "diffusion_pytorch_model.safetensors", {"format": "pt"})
    config = json.loads((vae / "config.json").read_text())
    (vae / "config.json").write_text(json.dumps(config | configuration))
    return checkpoint


def test_the_first_precision_does_not_overflow(tmp_path: Path) -> None:
    folder = overflowing(tmp_path)
    result = run(a_request(folder), TorchBackend(), (F16, F32))
    assert result.retries == ()
    assert result.pixels[0].std() > 5


def test_a_vae_wrongly_said_to_fit_float16_is_decoded_again(tmp_path: Path) -> None:
    """So it did overflow, and the configuration of madebyollin's VAE is what tells it apart."""
    folder = overflowing(tmp_path, force_upcast=False)
    result = run(a_request(folder), TorchBackend(), (F16, F32))
    (retry,) = result.retries
    assert (retry.from_precision, retry.to_precision) == (PrecisionName.F16, PrecisionName.F32)
    assert retry.reason in {"not a number", "infinite"}
