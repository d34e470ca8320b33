"""Random numbers as torch draws them on NVIDIA cards: Philox4x32-10, one counter per value.

Salmon et al. (2011), "Parallel Random Numbers: As Easy as 1, 2, 3". `torch.randn` on CUDA runs one
thread per value, up to as many as the card holds at once (its multiprocessors times 1024 to 2048:
43008 on an RTX 3060, 196608 on an RTX 4090), and uses the first of the four normals that a thread
draws. Larger tensors use the second to fourth of the same threads, so their values depend on the
card. Here every value has its own thread: right for a latent of 512x512 (16384 values) on any card,
and of 1024x1024 (65536) on large ones. A1111's "NV" (modules/rng_philox.py) and
stable-diffusion.cpp do the same. The integers are exact; the normals are computed in float64, like
A1111's, and differ from the card's float32 by its rounding.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
# The golden ratio and the square root of 3 less 1; a multiple of each is added in every round.
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)
# cuRAND's float32 factors from an integer to (0, 1] and to an angle.
_TO_UNIT = np.float32(2.3283064e-10)
_TO_ANGLE = np.float32(2.3283064e-10 * 6.2831855)
# Values are computed in pieces of this many, which fit in the processor's cache.
_PIECE = 1 << 12


class TorchCudaGenerator:
    """`torch.Generator("cuda")` after `manual_seed(seed)`; a draw continues where the last ended.

    All 64 bits of the seed count; a negative one is taken modulo 2^64, as in torch.
    """

    def __init__(self, seed: int) -> None:
        self._key = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
        self._draws = 0

    def randn(self, shape: Sequence[int]) -> NDArray[np.float32]:
        """Return `torch.randn(shape, generator=self, device="cuda")`: standard normal values."""
        return self.randn_of_batch(shape, 0, 1)

    def randn_of_batch(self, shape: Sequence[int], index: int, size: int) -> NDArray[np.float32]:
        """Return `torch.randn((size, *shape), generator=self, device="cuda")[index]`."""
        count = math.prod(shape)
        values = np.empty(count, np.float32)
        for begin, end in pairwise([*range(0, count, _PIECE), count]):
            threads = np.arange(index * count + begin, index * count + end, dtype=np.uint64)
            values[begin:end] = self._normals(threads)
        self._draws += size * count > 0
        return values.reshape(shape)

    def _normals(self, threads: NDArray[np.uint64]) -> NDArray[np.float32]:
        counter = np.zeros((4, len(threads)), np.uint64)
        counter[0], counter[1] = self._draws & 0xFFFFFFFF, self._draws >> 32
        counter[2], counter[3] = threads & _LOW, threads >> _HIGH
        first, second, _, _ = philox4x32(counter, self._key)
        uniform = first * float(_TO_UNIT) + float(_TO_UNIT) / 2
        angle = second * float(_TO_ANGLE) + float(_TO_ANGLE) / 2
        return (np.sqrt(-2 * np.log(uniform)) * np.sin(angle)).astype(np.float32)


def philox4x32(counter: NDArray[np.uint64], key: tuple[int, int]) -> NDArray[np.uint64]:
    """Return random 32-bit integers [4, n] from counters [4, n], by ten rounds of Philox4x32."""
    words = counter.copy()
    c0, c1, c2, c3 = words
    product0, product1 = np.empty_like(words[:2])
    # In place: new arrays in each round would take most of the time.
    for step in range(_ROUNDS):
        key0 = np.uint64(key[0] + step * _KEY_STEPS[0] & 0xFFFFFFFF)
        key1 = np.uint64(key[1] + step * _KEY_STEPS[1] & 0xFFFFFFFF)
        np.multiply(c0, _MULTIPLIERS[0], out=product0)
        np.multiply(c2, _MULTIPLIERS[1], out=product1)
        np.right_shift(product1, _HIGH, out=c0)
        np.bitwise_xor(c0, c1, out=c0)
        np.bitwise_xor(c0, key0, out=c0)
        np.right_shift(product0, _HIGH, out=c2)
        np.bitwise_xor(c2, c3, out=c2)
        np.bitwise_xor(c2, key1, out=c2)
        np.bitwise_and(product1, _LOW, out=c1)
        np.bitwise_and(product0, _LOW, out=c3)
    return words
