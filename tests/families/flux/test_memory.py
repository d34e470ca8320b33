"""The memory plan of Flux.1 schnell in Q4_0 at full size, from the shapes of its weights alone."""

from pathlib import Path

from backends.base import DType, FileSlice
from backends.cpu import CpuBackend
from engine.memory.component_bytes import ComponentBytes
from engine.memory.plan import MemoryNeeds, MemoryPlan, WeightPlacement, plan_memory
from engine.weights.runtime_bytes import runtime_bytes
from engine.weights.sources import FileWeight
from tests.families.flux import files
from tests.families.flux.files import FluxSizes
from tests.families.listings import Listing

_BACKEND = CpuBackend()
_OPERATORS = _BACKEND.operators(_BACKEND.probe()[0])
# A step and the autoencoder at 512x512 in float32.
STEP, VAE = 344_000_000, 1_475_000_000
_FILE = Path("blocks.gguf")


def in_blocks(listing: Listing) -> list[FileWeight]:
    """Weights as converters store them: matrices in blocks, the rest in float32."""
    kinds = {shape: DType.Q4_0 if len(shape) == 2 else DType.F32 for shape in listing.values()}
    return [FileWeight(FileSlice(_FILE, 0, kinds[shape], shape)) for shape in listing.values()]


def t5_xxl() -> Listing:
    names: Listing = {"shared": (32128, 4096)}
    for layer in range(24):
        names |= {f"{layer}.{part}": (4096, 4096) for part in "qkvo"}
        names |= {f"{layer}.wi_{part}": (10240, 4096) for part in "01"}
        names[f"{layer}.wo"] = 4096, 10240
    return names


def component(weights: list[FileWeight]) -> ComponentBytes:
    packed = runtime_bytes(weights, DType.F32, _OPERATORS)
    in_place = runtime_bytes(weights, DType.F32, _OPERATORS, in_place=True)
    return ComponentBytes(packed, 0, repacks=True, in_place=in_place)


def schnell(limit: int | None) -> tuple[MemoryPlan, int]:
    """The plan of a picture of 512x512, and the bytes of the transformer's file."""
    transformer = in_blocks(files.original(FluxSizes()))
    needs = MemoryNeeds(
        denoiser=component(transformer),
        vae=ComponentBytes(340_000_000, 0, in_place=200_000_000),
        text_encoder=component(in_blocks(t5_xxl())),
        step_bytes=STEP,
        vae_run_bytes=VAE,
        vae_tile_bytes=VAE,
    )
    plan = plan_memory(needs, pictures=1, more_jobs=False, free_bytes=20 << 30, limit_bytes=limit)
    return plan, sum(weight.slice.nbytes for weight in transformer)


def test_the_transformer_is_packed_beside_the_encoder_where_both_fit() -> None:
    plan, file_bytes = schnell(None)
    assert (plan.placement, plan.load_ahead) == (WeightPlacement.WORKING_COPY, True)
    both = file_bytes + sum(in_block.slice.nbytes for in_block in in_blocks(t5_xxl()))
    assert 0.8 * both < plan.peak_bytes < 1.15 * both
    alone, _ = schnell(plan.peak_bytes - 1)
    assert (alone.placement, alone.load_ahead) == (WeightPlacement.WORKING_COPY, False)
    assert 0.9 * file_bytes < alone.peak_bytes < 1.15 * file_bytes


def test_six_gigabytes_pack_most_and_two_are_enough() -> None:
    plan, _ = schnell(6 << 30)
    assert (plan.placement, plan.fits) == (WeightPlacement.IN_PLACE, True)
    assert 5.1e9 < plan.room_bytes < 5.4e9
    least, _ = schnell(2 << 30)
    assert (least.placement, least.fits) == (WeightPlacement.IN_PLACE, True)
