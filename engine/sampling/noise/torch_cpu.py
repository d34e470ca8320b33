"""Random numbers as torch's CPU generator draws them, so that a seed gives the same picture.

ComfyUI, and A1111 with "RNG source: CPU", draw with `torch.randn` on the CPU. The integers are
equal, and the normal values within 1e-6 of torch's AVX2 and AVX-512 kernels. Those differ by 2.4e-6
from torch's scalar kernel, used on other processors, which rounds the angle elsewhere.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# From this many values on, torch fills the tensor in float32 blocks of 16; fewer are drawn one by
# one in float64 (aten/src/ATen/native/cpu/DistributionTemplates.h, normal_kernel).
_BLOCK = 16
# Outputs of mt19937 that are drawn at a time when they are skipped.
_SKIPPED_AT_ONCE = 1 << 18


class TorchCpuGenerator:
    """`torch.Generator("cpu")` after `manual_seed(seed)`. Each draw continues where the last ended.

    mt19937 uses the low 32 bits of the seed, so 0 and 2^32 draw the same; seeds from -2^63 to 2^64
    - 1 are allowed, as in torch.
    """

    def __init__(self, seed: int) -> None:
        # The legacy class: it seeds as torch does (init_genrand), and NumPy froze its stream.
        self._integers = np.random.RandomState(seed & 0xFFFFFFFF)
        self._spare_normal: float | None = None

    def random_uint32(self, count: int) -> NDArray[np.uint32]:
        """Return the next `count` outputs of mt19937."""
        return self._integers.randint(0, 1 << 32, count, dtype=np.uint32)

    def randn(self, shape: Sequence[int]) -> NDArray[np.float32]:
        """Return `torch.randn(shape, generator=self)`: standard normal values, row-major."""
        return self.randn_of_batch(shape, 0, 1)

    def randn_of_batch(self, shape: Sequence[int], index: int, size: int) -> NDArray[np.float32]:
        """Return `torch.randn((size, *shape), generator=self)[index]`; only that part is kept."""
        count = math.prod(shape)
        begin, end, total = index * count, (index + 1) * count, size * count
        if total < _BLOCK:
            return self._scalar_normals(total)[begin:end].reshape(shape)
        # The blocks that hold the wanted values, except those beyond the last whole block.
        first = begin - begin % _BLOCK
        last = max(first, min(end + -end % _BLOCK, total - total % _BLOCK))
        self._skip(first)
        values = np.empty(max(last, end) - first, np.float32)
        values[: last - first] = _box_muller(self._uniform_float32(last - first))
        self._skip(total - last)
        if total % _BLOCK:
            # torch draws the last 16 afresh, over the end of the last whole block.
            tail, start = _box_muller(self._uniform_float32(_BLOCK)), total - _BLOCK
            drawn_afresh = slice(max(begin, start), max(end, start))
            values[drawn_afresh.start - first : drawn_afresh.stop - first] = tail[
                drawn_afresh.start - start : drawn_afresh.stop - start
            ]
        return values[begin - first : end - first].reshape(shape)

    def _skip(self, count: int) -> None:
        for done in range(0, count, _SKIPPED_AT_ONCE):
            self.random_uint32(min(count - done, _SKIPPED_AT_ONCE))

    def _scalar_normals(self, count: int) -> NDArray[np.float32]:
        """Draw in float64; the second value of a pair is kept for the next small draw."""
        spare = [] if self._spare_normal is None else [self._spare_normal]
        pairs = max(count - len(spare) + 1, 0) // 2
        angle, radius = self._uniform_float64(2 * pairs).reshape(pairs, 2).T
        radius = np.sqrt(-2.0 * np.log1p(-radius))
        angle = 2.0 * np.pi * angle
        drawn = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        normals = np.concatenate([np.array(spare), drawn.ravel()])
        self._spare_normal = float(normals[count]) if len(normals) > count else None
        return normals[:count].astype(np.float32)

    def _uniform_float32(self, count: int) -> NDArray[np.float32]:
        """Return values in [0, 1) from the low 24 bits of one output each."""
        low = self.random_uint32(count) & np.uint32((1 << 24) - 1)
        return low.astype(np.float32) * np.float32(2.0**-24)

    def _uniform_float64(self, count: int) -> NDArray[np.float64]:
        """Return values in [0, 1) from the low 53 bits of two outputs each, the high word first."""
        words = self.random_uint32(2 * count).astype(np.uint64).reshape(count, 2)
        joined = words[:, 0] << np.uint64(32) | words[:, 1]
        return (joined & np.uint64((1 << 53) - 1)).astype(np.float64) * 2.0**-53


def _box_muller(uniforms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn blocks of 16 uniforms into normals: 8 radii, then 8 angles; 8 cosines, then 8 sines."""
    blocks = uniforms.reshape(-1, 2, _BLOCK // 2)
    radius = np.sqrt(-2 * np.log(1 - blocks[:, 0]))
    # The product is rounded to float32 before the cosine, as in torch's vectorised kernel.
    angle = np.float32(2 * np.pi) * blocks[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()
