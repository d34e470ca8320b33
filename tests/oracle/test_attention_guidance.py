"""PAG and SAG beside ComfyUI's nodes: their functions of 0.3, on a network of one convolution."""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import math
from dataclasses import dataclass

import numpy as np
import pytest

from engine.api.values import PredictionType
from engine.sampling.attention_guidance import (
    AttentionGuidance,
    PerturbedAttention,
    SelfAttention,
)
from engine.sampling.denoiser import Denoiser
from engine.sampling.schedules import NoiseSchedule
from tests.sampling.toy import normals

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
functional = torch.nn.functional

TRAINING = NoiseSchedule.scaled_linear()


def create_blur_map(x0, attn, sigma=3.0, threshold=1.0):
    """`comfy_extras/nodes_sag.py`."""
    _, hw1, hw2 = attn.shape
    b, _, lh, lw = x0.shape
    attn = attn.reshape(b, -1, hw1, hw2)
    mask = attn.mean(1, keepdim=False).sum(1, keepdim=False) > threshold
    ratio = 2 ** (math.ceil(math.sqrt(lh * lw / hw1)) - 1).bit_length()
    mid_shape = [math.ceil(lh / ratio), math.ceil(lw / ratio)]
    mask = mask.reshape(b, *mid_shape).unsqueeze(1).type(attn.dtype)
    mask = functional.interpolate(mask, (lh, lw))
    blurred = gaussian_blur_2d(x0, kernel_size=9, sigma=sigma)
    return blurred * mask + x0 * (1 - mask)


def gaussian_blur_2d(img, kernel_size, sigma):
    """The same file."""
    half = (kernel_size - 1) * 0.5
    x = torch.linspace(-half, half, steps=kernel_size)
    pdf = torch.exp(-0.5 * (x / sigma).pow(2))
    kernel = pdf / pdf.sum()
    kernel = torch.mm(kernel[:, None], kernel[None, :])
    kernel = kernel.expand(img.shape[-3], 1, kernel_size, kernel_size)
    img = functional.pad(img, [kernel_size // 2] * 4, mode="reflect")
    return functional.conv2d(img, kernel, groups=img.shape[-3])


@dataclass
class Toy:
    """A network whose output and attention depend on all cells, the prompt and perturbation."""

    cells: int
    prediction: PredictionType

    def output(self, x, prompt: float, perturbed: bool = False):
        kernel = torch.from_numpy(normals([5], (4, 4, 3, 3))[0]) * (0.3 if perturbed else 0.1)
        return functional.conv2d(x, kernel, padding=1) + prompt * torch.tanh(x)

    def maps(self, x, prompt: float):
        logits = torch.from_numpy(normals([6], (3, self.cells, self.cells))[0]) * (2 + prompt)
        return torch.softmax(logits + x.mean(), -1)

    # What ComfyUI asks for: the picture at a noise level.
    def picture(self, x, sigma: float, prompt: float, perturbed: bool = False):
        scaled = x / (sigma**2 + 1) ** 0.5
        out = self.output(scaled, prompt, perturbed)
        if self.prediction is PredictionType.EPSILON:
            return x - out * sigma
        return x / (sigma**2 + 1) - out * sigma / (sigma**2 + 1) ** 0.5

    # What we ask for.
    def __call__(self, x, timestep, guided):
        self.last = torch.from_numpy(x)
        prompts = [0.2, -0.4] if guided else [0.2]
        return np.concatenate([self.output(self.last, prompt).numpy() for prompt in prompts])

    def perturbed(self, x, timestep, guided):
        worse = self.output(torch.from_numpy(x), 0.2, perturbed=True).numpy()
        return np.concatenate([self(x, timestep, guided), worse])

    def attention(self):
        maps = [self.maps(self.last, prompt).mean(0).sum(0) for prompt in (0.2, -0.4)]
        return torch.stack(maps).numpy()

    def again(self, x, timestep, guided):
        assert guided
        return self.output(torch.from_numpy(x), -0.4).numpy()


@pytest.mark.parametrize("prediction", [PredictionType.EPSILON, PredictionType.V])
@pytest.mark.parametrize("size", [(16, 16), (24, 17)], ids=str)
@pytest.mark.parametrize("guidance", [6.0, 1.0])
@pytest.mark.parametrize(("pag", "sag"), [(3.0, 0.0), (0.0, 0.5), (2.0, -0.7)])
def test_guidance_by_attention_equals_comfyuis_nodes(prediction, size, guidance, pag, sag) -> None:
    sigma, cells = 3.0, math.ceil(size[0] / 8) * math.ceil(size[1] / 8)
    toy = Toy(cells, prediction)
    x = normals([1], (4, *size)) * np.float32(sigma)
    given = torch.from_numpy(x)
    cond, uncond = (toy.picture(given, sigma, prompt) for prompt in (0.2, -0.4))
    expected = uncond + (cond - uncond) * guidance
    # `post_cfg_function` of both nodes, in the order in which they are linked.
    if pag:
        expected = expected + (cond - toy.picture(given, sigma, 0.2, perturbed=True)) * pag
    if sag:
        maps = toy.maps(given / (sigma**2 + 1) ** 0.5, -0.4)
        degraded = create_blur_map(uncond, maps, 2.0, 1.0)
        again = toy.picture(degraded + given - uncond, sigma, -0.4)
        expected = expected + (degraded - again) * sag
    terms = AttentionGuidance(
        toy,
        perturbed=PerturbedAttention(pag) if pag else None,
        seen=SelfAttention(sag, 2.0) if sag else None,
    )
    ours = Denoiser(toy, TRAINING, prediction, guidance, attention=terms)(x, np.float32(sigma))
    error = np.linalg.norm(ours - expected.numpy()) / np.linalg.norm(expected.numpy())
    assert error < 1e-5
