"""Listings and files of Flux.1's transformers, in Black Forest Labs' layout and in diffusers'."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backends.base import Array
from tests.checkpoints.arrays import write_arrays
from tests.families.listings import Listing, Shape, affine


@dataclass(frozen=True)
class FluxSizes:
    """The sizes of a transformer; those of Flux.1 dev."""

    width: int = 3072
    head: int = 128
    mlp: int = 12288
    context: int = 4096
    pooled: int = 768
    double: int = 19
    single: int = 38
    channels: int = 64
    out: int = 64
    guidance: bool = True


SCHNELL = FluxSizes(guidance=False)
SMALL = FluxSizes(64, 32, 256, 48, 24, 2, 2)


def original(sizes: FluxSizes = FluxSizes()) -> Listing:
    """A transformer as Black Forest Labs release it, without a prefix."""
    width, mlp = sizes.width, sizes.mlp
    names = affine("img_in", width, sizes.channels) | affine("txt_in", width, sizes.context)
    embedded = {"time_in": 256, "vector_in": sizes.pooled}
    for name, inner in (embedded | ({"guidance_in": 256} if sizes.guidance else {})).items():
        names |= affine(f"{name}.in_layer", width, inner)
        names |= affine(f"{name}.out_layer", width, width)
    for block in range(sizes.double):
        for stream in ("img", "txt"):
            name = f"double_blocks.{block}.{stream}"
            names |= affine(f"{name}_mod.lin", 6 * width, width)
            names |= affine(f"{name}_attn.qkv", 3 * width, width)
            names |= affine(f"{name}_attn.proj", width, width)
            names |= _norms(f"{name}_attn.norm", sizes.head)
            names |= affine(f"{name}_mlp.0", mlp, width) | affine(f"{name}_mlp.2", width, mlp)
    for block in range(sizes.single):
        name = f"single_blocks.{block}"
        names |= affine(f"{name}.modulation.lin", 3 * width, width)
        names |= affine(f"{name}.linear1", 3 * width + mlp, width)
        names |= affine(f"{name}.linear2", width, width + mlp)
        names |= _norms(f"{name}.norm", sizes.head)
    names |= affine("final_layer.linear", sizes.out, width)
    return names | affine("final_layer.adaLN_modulation.1", 2 * width, width)


def _norms(name: str, head: int) -> Listing:
    return {f"{name}.query_norm.scale": (head,), f"{name}.key_norm.scale": (head,)}


# Tables of words repeat their rows after so many: one of Qwen3's has 151,936.
_ROWS = 4096


def drawn(listing: Listing, seed: int = 0) -> dict[str, Array]:
    """Random numbers for a listing, as a network is initialised."""
    random = np.random.default_rng(seed)
    return {name: _drawn(random, name, shape) for name, shape in listing.items()}


def _drawn(random: np.random.Generator, name: str, shape: Shape) -> Array:
    if shape and shape[0] > 2 * _ROWS:
        return np.resize(_drawn(random, name, (_ROWS, *shape[1:])), shape)
    drawn = random.standard_normal(shape, np.float32)
    if len(shape) > 1:
        return drawn / np.float32(np.sqrt(np.prod(shape[1:])))
    return np.float32(0.1) * drawn + np.float32(name.endswith("scale"))


def write_transformer(path: Path, sizes: FluxSizes = SMALL) -> dict[str, Array]:
    """Write a transformer in the original layout; return its numbers."""
    numbers = drawn(original(sizes))
    write_arrays(path, numbers)
    return numbers
