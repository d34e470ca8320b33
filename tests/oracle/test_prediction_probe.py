"""Networks trained for seconds on either objective, and one real checkpoint, say which it was."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("diffusers")

import diffusers
import torch

from app.paths import starter_checkpoint
from engine.api.values import PredictionType
from engine.sampling.prediction_probe import ProbeResult, probe_prediction
from tests.oracle.reference import alphas_cumprod

pytestmark = pytest.mark.oracle

_SIDE, _BATCH, _STEPS = 16, 16, 80


def latents(random: torch.Generator) -> torch.Tensor:
    """Smooth random fields of unit variance, with amplitudes as 1 / frequency."""
    white = torch.randn(_BATCH, 4, _SIDE, _SIDE, generator=random)
    rows, columns = torch.fft.fftfreq(_SIDE)[:, None], torch.fft.rfftfreq(_SIDE)[None]
    amplitude = 1 / torch.hypot(rows, columns).clamp(min=1 / _SIDE)
    fields = torch.fft.irfft2(torch.fft.rfft2(white) * amplitude, s=(_SIDE, _SIDE))
    return fields / fields.std()


def trained(prediction: PredictionType) -> torch.nn.Module:
    torch.manual_seed(0)
    unet = diffusers.UNet2DModel(
        sample_size=_SIDE,
        in_channels=4,
        out_channels=4,
        block_out_channels=(32, 64),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "UpBlock2D"),
        norm_num_groups=16,
    )
    products, random = alphas_cumprod(), torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(unet.parameters(), 2e-3)
    for _ in range(_STEPS):
        timesteps = torch.randint(0, 1000, (_BATCH,), generator=random)
        a, s = (
            x.sqrt()[:, None, None, None] for x in (products[timesteps], 1 - products[timesteps])
        )
        picture = latents(random)
        noise = torch.randn(picture.shape, generator=random)
        wanted = noise if prediction is PredictionType.EPSILON else a * noise - s * picture
        loss = torch.nn.functional.mse_loss(unet(a * picture + s * noise, timesteps).sample, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return unet.eval()


def probed(unet: torch.nn.Module, side: int, *context: torch.Tensor) -> ProbeResult:
    def ask(x: np.ndarray, timestep: np.float32) -> np.ndarray:
        with torch.no_grad():
            return unet(torch.from_numpy(x), torch.tensor(float(timestep)), *context).sample.numpy()

    return probe_prediction(ask, (4, side, side))


@pytest.mark.parametrize("prediction", [PredictionType.EPSILON, PredictionType.V])
def test_a_trained_networks_prediction_type_is_found(prediction: PredictionType) -> None:
    assert probed(trained(prediction), _SIDE).prediction is prediction


def test_an_untrained_network_gives_no_prediction_type() -> None:
    torch.manual_seed(0)
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=16,
        cross_attention_dim=32,
    )
    assert probed(unet.eval(), 32, torch.randn(1, 77, 32)).prediction is None


def test_the_starter_predicts_noise() -> None:
    """And v, once its answers are turned into what it would say if it had been trained to."""
    folder = starter_checkpoint()
    unet = diffusers.UNet2DConditionModel.from_pretrained(folder / "unet").eval()
    context = torch.zeros(1, 77, unet.config.cross_attention_dim)
    assert probed(unet, 32, context).prediction is PredictionType.EPSILON

    class Turned(torch.nn.Module):
        def forward(self, x: torch.Tensor, timestep: torch.Tensor, context: torch.Tensor):
            products = alphas_cumprod()[int(timestep)]
            a, s = products.sqrt(), (1 - products).sqrt()
            answer = unet(x, timestep, context)
            picture = (x - s * answer.sample) / a
            answer.sample = a * answer.sample - s * picture
            return answer

    assert probed(Turned(), 32, context).prediction is PredictionType.V
