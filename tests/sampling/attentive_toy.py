"""A network of one formula that shows its attention, for guidance by attention; NumPy alone."""

from dataclasses import dataclass, field

import numpy as np

from engine.sampling.types import Latent
from tests.sampling.toy import normals

POSITIVE, NEGATIVE = 0.2, -0.4
SIZES = {"square": (16, 16), "tall": (24, 16)}
# PAG's scale, SAG's scale, guidance.
CASES = {"pag": (3.0, 0.0, 6.0), "sag": (0.0, 0.5, 6.0), "both": (2.0, -0.7, 4.0)}
SIGMA, BLUR = np.float32(3.0), 1.5


def noised(size: tuple[int, int]) -> Latent:
    """Return the latent that is denoised, [1, 4, height, width]."""
    return normals([1], (4, *size)) * SIGMA


def maps(size: tuple[int, int], prompt: float) -> Latent:
    """Return the middle's attention by head, [3, cells, cells], of an eighth of each side."""
    cells = (size[0] // 8) * (size[1] // 8)
    powers = np.exp(normals([6], (3, cells, cells))[0] * (2 + prompt))
    return powers / powers.sum(-1, keepdims=True)


def output(x: Latent, prompt: float, *, perturbed: bool = False) -> Latent:
    """Return the network's prediction of the noise."""
    around = np.roll(x, 1, 2) - np.roll(x, 2, 3)
    return np.float32(0.3 if perturbed else 0.1) * around + np.float32(prompt) * np.tanh(x)


def picture(x: Latent, prompt: float, *, perturbed: bool = False) -> Latent:
    """Return the picture that the network sees in a latent."""
    scaled = x / np.sqrt(SIGMA**2 + np.float32(1))
    return x - output(scaled, prompt, perturbed=perturbed) * SIGMA


@dataclass
class AttentiveToy:
    """The network as our denoiser asks it: an `AttentivePredict`, guided."""

    size: tuple[int, int]
    asked: list[str] = field(default_factory=list[str])

    def __call__(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        assert guided
        return np.concatenate([output(x, POSITIVE), output(x, NEGATIVE)])

    def perturbed(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        worse = output(x, POSITIVE, perturbed=True)
        return np.concatenate([self(x, timestep, guided), worse])

    def attention(self) -> Latent:
        seen = (maps(self.size, prompt).mean(0).sum(0) for prompt in (POSITIVE, NEGATIVE))
        return np.stack(list(seen))

    def again(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        return output(x, NEGATIVE)
