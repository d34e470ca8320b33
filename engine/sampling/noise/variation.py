"""Combining two noises: a variation of a seed's noise, and noise pasted into a larger noise."""

import numpy as np

from engine.sampling.types import Latent


def slerp(strength: float, low: Latent, high: Latent) -> Latent:
    """Rotate noise [C, H, W] from `low` towards `high` by a strength from 0 to 1.

    Spherical interpolation keeps it standard normal; each column of each channel is rotated on its
    own, as A1111 does (modules/rng.py, `slerp`). Noises that are almost equal are mixed linearly,
    and there A1111 has the two swapped.
    """
    directions = [noise / np.linalg.norm(noise, axis=1, keepdims=True) for noise in (low, high)]
    cosine = (directions[0] * directions[1]).sum(axis=1, keepdims=True)
    if cosine.mean() > 0.9995:
        return low * np.float32(strength) + high * np.float32(1 - strength)
    angle = np.arccos(cosine)
    share_low, share_high = (
        np.sin(np.float32(part) * angle) / np.sin(angle) for part in (1 - strength, strength)
    )
    return share_low * low + share_high * high


def centred(noise: Latent, around: Latent) -> Latent:
    """Put noise [C, h, w] into the middle of other noise [C, H, W], cropped where it is larger.

    A1111's "resize seed from" (modules/rng.py, `ImageRNG.first`); odd differences are rounded down.
    """
    placed = around.copy()
    rows, columns = (
        _overlap(inner, outer)
        for inner, outer in zip(noise.shape[1:], around.shape[1:], strict=True)
    )
    placed[:, rows[1], columns[1]] = noise[:, rows[0], columns[0]]
    return placed


def _overlap(inner: int, outer: int) -> tuple[slice, slice]:
    """Return the slice of the inner side that is copied, and its slice of the outer side."""
    margin = (outer - inner) // 2
    if margin >= 0:
        return slice(0, inner), slice(margin, margin + inner)
    length = inner + 2 * margin
    return slice(-margin, -margin + length), slice(0, length)
