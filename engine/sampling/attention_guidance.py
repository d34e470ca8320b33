"""Guidance away from predictions with worse attention: what is added beside the prompts' guidance.

Perturbed-attention guidance (PAG, Ahn et al. 2024) and self-attention guidance (SAG, Hong et al.
2023), after ComfyUI's `nodes_pag.py` and `nodes_sag.py` and diffusers' pipelines.
"""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.sampling.types import AttentivePredict, Latent

# The side of the blur's kernel, and the longest side of latents that are too small for it.
_KERNEL = 9
_TOO_SMALL = 4
# Timesteps count down from this number.
_TIMESTEPS = 1000


class PerturbedAttention(msgspec.Struct, frozen=True):
    """PAG: its scale, the decrease of it per timestep, and the levels between which it acts."""

    scale: float
    adaptive: float = 0.0
    levels: tuple[float, float] = (0.0, math.inf)

    def scale_at(self, sigma: np.float32, timestep: np.float32) -> float:
        """Return the scale at a level; diffusers' `_get_pag_scale` within the levels, else 0."""
        if not self.levels[0] <= sigma <= self.levels[1]:
            return 0.0
        return max(self.scale - self.adaptive * (_TIMESTEPS - float(timestep)), 0.0)


class SelfAttention(msgspec.Struct, frozen=True):
    """SAG: its scale, the blur's standard deviation in cells, and the attention that is too much.

    `by_negative`: the picture under the negative prompt is degraded, also where the prompts'
    guidance is 1, as in ComfyUI; else only where that prompt is evaluated anyway.
    """

    scale: float
    blur: float
    threshold: float = 1.0
    by_negative: bool = True

    def degraded(self, picture: Latent, attention: Latent) -> Latent:
        """Return pictures [B, C, H, W] with the cells blurred that get more than the threshold.

        `attention` is that of the middle, [B, cells].
        """
        blurred = _blurred(picture, self.blur)
        size = (picture.shape[2], picture.shape[3])
        blurs = (attention > self.threshold).astype(np.float32)
        mask = enlarged(blurs, size)[:, np.newaxis]
        return blurred * mask + picture * (1 - mask)


class AttentionGuidance(msgspec.Struct, frozen=True):
    """The guidance by attention of a denoiser's run, and the network that it asks.

    `in_predictions`: differences are taken between the network's predictions and added before the
    prompts' guidance is rescaled, as in diffusers; else between pictures and after it, as in
    ComfyUI.
    """

    predict: AttentivePredict
    perturbed: PerturbedAttention | None = None
    seen: SelfAttention | None = None
    in_predictions: bool = False

    def perturbs(self, sigma: np.float32, timestep: np.float32) -> float:
        """Return the scale of PAG at a level, 0 where it does not act."""
        return self.perturbed.scale_at(sigma, timestep) if self.perturbed else 0.0

    def seen_in(self, x: Latent) -> SelfAttention | None:
        """Return the SAG of latents; None without one, and where they are too small to blur."""
        return None if min(x.shape[2:]) <= _TOO_SMALL else self.seen


def _blurred(picture: Latent, deviation: float) -> Latent:
    """Blur by a Gaussian of 9 x 9 cells, mirrored at the edges (`gaussian_blur_2d`)."""
    if deviation == 0:
        return picture
    half = _KERNEL // 2
    places = np.arange(-half, half + 1, dtype=np.float32)
    weights = np.exp(-0.5 * (places / np.float32(deviation)) ** 2)
    weights = weights / weights.sum()
    for axis in (2, 3):
        width = [(half, half) if dimension == axis else (0, 0) for dimension in range(4)]
        padded, side = np.pad(picture, width, mode="reflect"), picture.shape[axis]
        picture = np.zeros_like(picture)
        for start, weight in enumerate(weights):
            picture = picture + weight * padded.take(range(start, start + side), axis)
    return picture


def enlarged(cells: Latent, size: tuple[int, int]) -> Latent:
    """Enlarge [B, cells] of the middle to [B, height, width] by the nearest cell.

    The middle is the latent halved several times, rounded up.
    """
    height, width, count = *size, cells.shape[1]
    while height * width > count:
        height, width = -(-height // 2), -(-width // 2)
    rows, columns = (_nearest(own, whole) for own, whole in zip((height, width), size, strict=True))
    return cells.reshape(-1, height, width)[:, rows][:, :, columns]


def _nearest(count: int, wanted: int) -> NDArray[np.int64]:
    """Return the place of each of `wanted` places among `count`, as PyTorch's "nearest" does."""
    scale = np.float32(count) / np.float32(wanted)
    places = np.floor(np.arange(wanted, dtype=np.float32) * scale).astype(np.int64)
    return np.minimum(places, count - 1)
