"""Noise as the tools draw it: torch's generator, Philox as NVIDIA cards have it, Brownian paths."""
# pyright: basic, reportMissingImports=false
# torch and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, Protocol

import numpy as np
import torch
from torchsde._brownian import brownian_interval

from tests.oracle.k_diffusion import load

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_STEPS = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)


class Generator(Protocol):
    """A stream of standard normal values."""

    def randn(self, shape: Sequence[int]) -> Any:
        """The next values."""
        ...


class CpuGenerator:
    """torch's generator on a processor."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator("cpu").manual_seed(seed)

    def randn(self, shape: Sequence[int]) -> Any:
        """The next values."""
        return torch.randn(tuple(shape), generator=self._generator)


class PhiloxGenerator:
    """torch's generator on an NVIDIA card: Philox 4x32-10 (Salmon et al. 2011).

    Each value has a counter, (draw, 0, place, 0); the key is the seed. The first two of four words
    make a normal value by Box and Muller's sine. After A1111's `rng_philox`:
    https://github.com/AUTOMATIC1111/stable-diffusion-webui/blob/v1.10.1/modules/rng_philox.py
    """

    def __init__(self, seed: int) -> None:
        self._seed, self._draw = seed, 0

    def randn(self, shape: Sequence[int]) -> Any:
        """The next values."""
        count = prod(shape)
        words = [np.full(count, self._draw, np.uint32), np.zeros(count, np.uint32)]
        words += [np.arange(count, dtype=np.uint32), np.zeros(count, np.uint32)]
        key = [np.uint32(self._seed & 0xFFFFFFFF), np.uint32(self._seed >> 32 & 0xFFFFFFFF)]
        for _ in range(_ROUNDS):
            words = _round(words, key)
            with np.errstate(over="ignore"):
                key = [part + step for part, step in zip(key, _KEY_STEPS, strict=True)]
        self._draw += 1
        scale = np.float64(np.float32(2.3283064e-10))
        turn = np.float64(np.float32(2.3283064e-10 * 6.2831855))
        radius = np.sqrt(-2.0 * np.log(words[0] * scale + scale / 2))
        values = radius * np.sin(words[1] * turn + turn / 2)
        return torch.from_numpy(values.astype(np.float32).reshape(tuple(shape)))


def _round(words: list[Any], key: list[Any]) -> list[Any]:
    first = words[0].astype(np.uint64) * _MULTIPLIERS[0]
    second = words[2].astype(np.uint64) * _MULTIPLIERS[1]
    high_1, low_1 = (first >> np.uint64(32)).astype(np.uint32), (first & _LOW).astype(np.uint32)
    high_2, low_2 = (second >> np.uint64(32)).astype(np.uint32), (second & _LOW).astype(np.uint32)
    return [high_2 ^ words[1] ^ key[0], low_2, high_1 ^ words[3] ^ key[1], low_1]


def generator(seed: int, source: str) -> Generator:
    """A generator of this seed on this device."""
    return PhiloxGenerator(seed) if source == "cuda" else CpuGenerator(seed)


@contextmanager
def brownian_source(source: str) -> Iterator[None]:
    """Within the block torchsde's trees draw from this kind of generator (A1111 does the same)."""

    def draw(size: Sequence[int], dtype: Any, device: Any, seed: Any) -> Any:
        return generator(int(seed), source).randn(size).to(dtype)

    before = brownian_interval._randn
    brownian_interval._randn = draw
    try:
        yield
    finally:
        brownian_interval._randn = before


def brownian(x: Any, sigmas: Any, seed: int | list[int]) -> Any:
    """k-diffusion's noise for SDE samplers, over the levels from `sigmas`."""
    low, high = sigmas[sigmas > 0].min(), sigmas.max()
    return load("sampling").BrownianTreeNoiseSampler(x, low, high, seed=seed)


@contextmanager
def drawing_from(source: Generator) -> Iterator[None]:
    """Within the block k-diffusion's `torch.randn_like` draws from a picture's own generator."""
    sampling: Any = load("sampling")

    class Torch:
        def __getattr__(self, name: str) -> Any:
            return getattr(torch, name)

        def randn_like(self, x: Any) -> Any:
            return source.randn(x.shape)

    sampling.torch = Torch()
    try:
        yield
    finally:
        sampling.torch = torch


def slerp(share: float, low: Any, high: Any) -> Any:
    """Noise [4, H, W] turned from `low` towards `high`, row by row (A1111 `rng.slerp`)."""
    cosine = (low / low.norm(dim=1, keepdim=True) * high / high.norm(dim=1, keepdim=True)).sum(1)
    if cosine.mean() > 0.9995:
        return low * share + high * (1 - share)
    angle = torch.acos(cosine)
    weights = torch.sin((1.0 - share) * angle), torch.sin(share * angle)
    first, second = ((weight / torch.sin(angle)).unsqueeze(1) for weight in weights)
    return first * low + second * high


def pasted(noise: Any, onto: Any) -> Any:
    """The middle of `noise` in the middle of `onto`, both [4, H, W] (A1111 "resize seed from")."""
    result = onto.clone()
    (height, width), (large, wide) = noise.shape[1:], onto.shape[1:]
    rows, columns = (large - height) // 2, (wide - width) // 2
    taken_rows = height if rows >= 0 else height + 2 * rows
    taken_columns = width if columns >= 0 else width + 2 * columns
    top, left = max(rows, 0), max(columns, 0)
    skip_rows, skip_columns = max(-rows, 0), max(-columns, 0)
    result[:, top : top + taken_rows, left : left + taken_columns] = noise[
        :, skip_rows : skip_rows + taken_rows, skip_columns : skip_columns + taken_columns
    ]
    return result
