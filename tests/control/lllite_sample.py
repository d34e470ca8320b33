"""A module of a ControlNet-LLLite of each depth, its input and its map, made of a seed."""

import numpy as np

from backends.base import Array

WIDTH, INNER, EMBEDDED = 10, 6, 4
KERNELS = {1: (4, 2), 2: (4, 4), 3: (4, 4, 2)}
CELLS = (2, 3)


def module_weights(
    depth: int,
    name: str = "",
    width: int = WIDTH,
    seed: int = 0,
    kernels: tuple[int, ...] = (),
) -> dict[str, Array]:
    """The tensors of a module, by the names that kohya's has, after `name`.

    `kernels` are other ones of its convolutions, for a checkpoint with smaller cells.
    """
    random, widths = np.random.default_rng(seed + depth), [EMBEDDED // 2, EMBEDDED]
    if depth == 3:
        widths.insert(0, EMBEDDED // 2)
    shapes: dict[str, tuple[int, ...]] = {}
    channels = 3
    for place, (kernel, outer) in enumerate(zip(kernels or KERNELS[depth], widths, strict=True)):
        shapes[f"conditioning1.{2 * place}"] = (outer, channels, kernel, kernel)
        channels = outer
    shapes |= {
        "down.0": (INNER, width),
        "mid.0": (INNER, EMBEDDED + INNER),
        "up.0": (width, INNER),
    }
    found: dict[str, Array] = {}
    for part, shape in shapes.items():
        size = np.float32(np.sqrt(np.prod(shape[1:])))
        found[f"{name}{part}.weight"] = random.standard_normal(shape, np.float32) / size
        found[f"{name}{part}.bias"] = random.standard_normal(shape[:1], np.float32)
    return found


def tokens() -> Array:
    """The input of a projection: two contexts."""
    return np.random.default_rng(7).standard_normal((2, CELLS[0] * CELLS[1], WIDTH), np.float32)


def picture_map(depth: int) -> Array:
    """A map for these cells, in [0, 1]."""
    part = int(np.prod(KERNELS[depth]))
    sides = (side * part for side in CELLS)
    return np.random.default_rng(8).random((1, 3, *sides), np.float32)
