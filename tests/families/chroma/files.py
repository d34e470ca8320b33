"""Listings of Chroma's transformers, in lodestones' layout."""

from dataclasses import dataclass

from tests.families.flux import files as flux
from tests.families.flux.files import FluxSizes
from tests.families.listings import Listing, affine

# Flux.1's layers that Chroma lacks.
_LEFT_OUT = ("time_in", "vector_in", "guidance_in", "_mod.lin", ".modulation.lin", "adaLN")


_RELEASED = FluxSizes()


@dataclass(frozen=True)
class ChromaSizes:
    """The sizes of a transformer; those of Chroma1-HD."""

    blocks: FluxSizes = _RELEASED
    waves: int = 64
    inner: int = 5120
    layers: int = 5


SMALL = ChromaSizes(FluxSizes(64, 32, 256, 40, 24, 2, 2), 16, 48, 2)


def original(sizes: ChromaSizes = ChromaSizes()) -> Listing:
    """A transformer as lodestones releases it, without a prefix."""
    names = {
        name: shape
        for name, shape in flux.original(sizes.blocks).items()
        if not any(part in name for part in _LEFT_OUT)
    }
    layer, inner = "distilled_guidance_layer", sizes.inner
    names |= affine(f"{layer}.in_proj", inner, sizes.waves)
    names |= affine(f"{layer}.out_proj", sizes.blocks.width, inner)
    for number in range(sizes.layers):
        names |= affine(f"{layer}.layers.{number}.in_layer", inner, inner)
        names |= affine(f"{layer}.layers.{number}.out_layer", inner, inner)
        names[f"{layer}.norms.{number}.scale"] = (inner,)
    return names
