"""Small checkpoints of every family in single files, in the original layout, to bake into."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from backends.base import Array, DType
from engine.api.lora import LoraChoice
from engine.api.request import NO_OVERRIDE, CheckpointOverride
from engine.api.values import ConventionName
from engine.bake.bake import Baked, Report, bake
from engine.bake.recipe import read_recipe
from engine.checkpoints.files import read_index
from engine.checkpoints.known_files import KnownFiles
from engine.families import identify
from engine.lora.folder import LoraLookup
from tests.checkpoints.arrays import write_arrays
from tests.families import listings
from tests.families.listings import (
    SMALL_CLIP,
    SMALL_OPEN_CLIP,
    SMALL_SDXL,
    SMALL_UNET,
    SMALL_VAE,
    Listing,
    prefixed,
)


def _sd1() -> Listing:
    whole = listings.original(SMALL_UNET, SMALL_VAE, SMALL_CLIP)
    return whole | listings.leftovers(whole)


def _sd2() -> Listing:
    unet = replace(SMALL_UNET, context=SMALL_OPEN_CLIP.width, linear=True)
    return (
        prefixed(listings.UNET, listings.ldm_unet(unet))
        | prefixed(listings.VAE, listings.ldm_vae(SMALL_VAE))
        | prefixed("cond_stage_model.model.", listings.open_clip(SMALL_OPEN_CLIP))
    )


def _sdxl() -> Listing:
    return listings.sdxl(SMALL_SDXL, SMALL_VAE, SMALL_CLIP, SMALL_OPEN_CLIP)


BASES: Mapping[str, Callable[[], Listing]] = {"sd1": _sd1, "sd2": _sd2, "sdxl": _sdxl}


def random_arrays(listing: Listing, seed: int = 0) -> dict[str, Array]:
    """Draw the tensors of a listing: float32."""
    random = np.random.default_rng(seed)
    return {name: random.standard_normal(shape, np.float32) for name, shape in listing.items()}


@cache
def _arrays_of(family: str) -> Mapping[str, Array]:
    return random_arrays(BASES[family]())


def write_base(
    path: Path,
    family: str = "sd1",
    dtype: DType | Mapping[str, DType] = DType.F16,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    """Write a checkpoint with random weights."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path, _arrays_of(family), dtype, metadata=metadata)
    return path


def baked(
    base: Path,
    loras: Sequence[LoraChoice],
    target: Path,
    *,
    report: Report = lambda _done, _total: None,
    replace: bool = False,
    convention: ConventionName = ConventionName.A1111,
    override: CheckpointOverride = NO_OVERRIDE,
) -> Baked:
    """Bake LoRAs into a base."""
    checkpoint = identify(base, override=override)
    recipe = read_recipe(checkpoint, loras, LoraLookup(), read_index, convention)
    known = KnownFiles(target.parent / "known")
    return bake(recipe, target, known, report, replace=replace)


def choice(path: Path, strength: float = 0.8, text: float | None = None) -> LoraChoice:
    """A LoRA by its path."""
    return LoraChoice(file=str(path), strength=strength, text_strength=text)


def stored(path: Path) -> dict[str, bytes]:
    """The bytes of each tensor of a file, in the header's order."""
    content = path.read_bytes()
    tensors = read_index(path).tensors
    return {
        key: content[tensor.offset : tensor.offset + tensor.nbytes]
        for key, tensor in tensors.items()
    }
