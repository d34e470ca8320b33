"""Listings of Stable Diffusion 3's transformers, in Stability AI's layout and in diffusers'."""

from dataclasses import dataclass

from tests.families.listings import Listing, affine


@dataclass(frozen=True)
class Sd3Sizes:
    """The sizes of a transformer; those of SD 3 medium."""

    width: int = 1536
    head: int = 64
    context: int = 4096
    pooled: int = 2048
    blocks: int = 24
    places: int = 192
    channels: int = 16
    normalised: bool = False
    # The number of first blocks whose image attends to itself once more.
    dual: int = 0


MEDIUM_35 = Sd3Sizes(places=384, normalised=True, dual=13)
LARGE = Sd3Sizes(width=2432, blocks=38, normalised=True)
SMALL = Sd3Sizes(64, 64, 40, 24, 3, 24)
SMALL_35 = Sd3Sizes(64, 32, 40, 24, 3, 24, normalised=True, dual=2)


def original(sizes: Sd3Sizes = Sd3Sizes()) -> Listing:
    """A transformer as Stability AI releases it, without a prefix."""
    width = sizes.width
    names: Listing = {"pos_embed": (1, sizes.places**2, width)}
    names |= affine("x_embedder.proj", width, sizes.channels, 2, 2)
    for name, inner in (("t_embedder", 256), ("y_embedder", sizes.pooled)):
        names |= affine(f"{name}.mlp.0", width, inner) | affine(f"{name}.mlp.2", width, width)
    names |= affine("context_embedder", width, sizes.context)
    for block in range(sizes.blocks):
        name, last = f"joint_blocks.{block}", block == sizes.blocks - 1
        dual = block < sizes.dual
        names |= _stream(f"{name}.x_block", sizes, vectors=9 if dual else 6)
        names |= _stream(f"{name}.context_block", sizes, vectors=2 if last else 6)
        if dual:
            names |= _attention(f"{name}.x_block.attn2", sizes)
    names |= affine("final_layer.linear", 4 * sizes.channels, width)
    return names | affine("final_layer.adaLN_modulation.1", 2 * width, width)


def _stream(name: str, sizes: Sd3Sizes, *, vectors: int) -> Listing:
    width = sizes.width
    goes_on = vectors > 2
    names = affine(f"{name}.adaLN_modulation.1", vectors * width, width)
    names |= _attention(f"{name}.attn", sizes, goes_on=goes_on)
    if not goes_on:
        return names
    mlp = f"{name}.mlp"
    return names | affine(f"{mlp}.fc1", 4 * width, width) | affine(f"{mlp}.fc2", width, 4 * width)


def _attention(name: str, sizes: Sd3Sizes, *, goes_on: bool = True) -> Listing:
    width = sizes.width
    names = affine(f"{name}.qkv", 3 * width, width)
    if sizes.normalised:
        names |= {f"{name}.ln_{part}.weight": (sizes.head,) for part in "qk"}
    return names | (affine(f"{name}.proj", width, width) if goes_on else {})
