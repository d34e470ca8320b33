"""The plan of a job on a device with memory of its own, beside the host's."""

import msgspec
import pytest

from engine.memory.component_bytes import ComponentBytes
from engine.memory.own_memory import device_share, host_share
from engine.memory.plan import (
    HostPeak,
    LaterDenoiser,
    MemoryNeeds,
    MemoryPlan,
    WeightPlacement,
    plan_memory,
)

MB = 1_000_000
CELLS = 64 * 64
STEP = CELLS * 90_000
# What the plan counts for the interpreter and the libraries, or for a device's.
BASE = 200 << 20
# A card's networks from files in another type; 100 MB on their way where they are streamed.
DENOISER = ComponentBytes(packed=5000 * MB, converted=5000 * MB, in_place=100 * MB)
VAE = ComponentBytes(packed=160 * MB, converted=160 * MB, in_place=20 * MB)
TEXT = ComponentBytes(packed=1500 * MB, converted=1500 * MB, in_place=100 * MB)
NEEDS = MemoryNeeds(
    denoiser=DENOISER,
    vae=VAE,
    text_encoder=TEXT,
    step_bytes=STEP,
    vae_run_bytes=CELLS * 180_000,
    vae_tile_bytes=CELLS * 204_000,
    last=WeightPlacement.STREAMED,
)
LOTS = 10**12


def plan(
    device: int | None = None,
    host: int | None = None,
    needs: MemoryNeeds = NEEDS,
    pictures: int = 1,
    *,
    more_jobs: bool = False,
) -> MemoryPlan:
    """The plan under limits of the two memories."""
    return plan_memory(
        device_share(needs),
        pictures=pictures,
        more_jobs=more_jobs,
        free_bytes=LOTS,
        limit_bytes=device,
        host=host_share(needs, LOTS, host),
    )


def host_of(plan: MemoryPlan) -> HostPeak:
    assert plan.host is not None
    return plan.host


def test_the_device_holds_weights_and_the_host_what_is_converted() -> None:
    chosen = plan()
    assert chosen.placement is WeightPlacement.MEMORY_THEN_COPY
    # The denoiser is converted while the text encoder is still there.
    assert chosen.peak_bytes == BASE + DENOISER.packed + TEXT.packed
    assert host_of(chosen).peak_bytes == BASE + DENOISER.converted + TEXT.converted


def test_each_limit_is_for_its_own_memory() -> None:
    whole = plan()
    mapped = plan(host=host_of(whole).peak_bytes // 2)
    assert (mapped.placement, mapped.fits) == (WeightPlacement.WORKING_COPY, True)
    assert host_of(mapped).peak_bytes == BASE
    turns = plan(device=whole.peak_bytes - 1)
    assert (turns.placement, turns.load_ahead) == (WeightPlacement.MEMORY_THEN_COPY, False)
    assert turns.peak_bytes == BASE + DENOISER.packed + STEP


def test_weights_are_streamed_where_the_device_has_no_room_for_one_network() -> None:
    alone = plan(device=6000 * MB)
    assert alone.placement is not WeightPlacement.STREAMED
    rooms: list[int] = []
    for limit in (1500 * MB, 2500 * MB, 4000 * MB, BASE + DENOISER.packed + STEP - 1):
        tight = plan(device=limit)
        assert (tight.placement, tight.fits) == (WeightPlacement.STREAMED, True)
        assert 0.94 * limit < tight.peak_bytes <= 0.95 * limit
        assert (tight.together, tight.load_ahead, tight.resident) == (False, False, False)
        assert plan(device=limit, pictures=4, more_jobs=True) == tight
        # What is on its way is in the host's memory; the rest is mapped.
        assert host_of(tight).peak_bytes == BASE + 100 * MB
        rooms.append(tight.room_bytes)
    assert rooms == sorted(set(rooms))
    assert rooms[0] > 0


def test_a_job_that_cannot_fit_even_streamed_is_told() -> None:
    least = plan(device=1)
    assert not least.fits
    assert least.placement is WeightPlacement.STREAMED
    assert least.peak_bytes < 1000 * MB
    assert not plan(host=1).fits
    # A plan for which the host has the memory goes before a smaller one of the device's.
    assert plan(host=1).placement.maps


def test_a_device_that_streams_nothing_has_no_such_plan() -> None:
    parts = (
        msgspec.structs.replace(component, in_place=None) for component in (DENOISER, VAE, TEXT)
    )
    denoiser, vae, text = parts
    plain = msgspec.structs.replace(NEEDS, denoiser=denoiser, vae=vae, text_encoder=text)
    least = plan(device=1, needs=plain)
    assert (least.placement, least.peak_bytes) == (
        WeightPlacement.WORKING_COPY,
        BASE + DENOISER.packed + STEP,
    )


def test_branches_of_loras_are_on_the_device_and_merged_weights_on_the_host() -> None:
    patched = msgspec.structs.replace(DENOISER, patched=700 * MB, branches=200 * MB)
    needs = msgspec.structs.replace(NEEDS, denoiser=patched)
    before, after = plan(device=6000 * MB), plan(device=6000 * MB, needs=needs)
    assert after.peak_bytes - before.peak_bytes == 200 * MB
    assert host_of(after).peak_bytes - host_of(before).peak_bytes == 500 * MB


@pytest.mark.parametrize("field", ["later", "controls", "reference", "picture_encoders"])
def test_every_network_of_a_job_is_parted(field: str) -> None:
    """The packed weights count for the device, the converted ones for the host."""
    other = ComponentBytes(packed=9000 * MB, converted=7000 * MB, in_place=1 * MB)
    given = {
        "later": (LaterDenoiser(other, STEP),),
        "controls": (other,),
        "reference": other,
        "picture_encoders": (other,),
    }
    chosen = plan(needs=msgspec.structs.replace(NEEDS, **{field: given[field]}))  # pyright: ignore[reportArgumentType]
    assert chosen.peak_bytes >= BASE + other.packed
    host = host_of(chosen).peak_bytes
    assert host >= BASE + other.converted
    assert host <= BASE + other.converted + DENOISER.converted + TEXT.converted
