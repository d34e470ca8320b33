"""The needs of a job on a device with memory of its own, parted into the device's and the host's.

The device holds weights as it computes with them, and the values between layers. The host holds
weights that are converted or changed before they are copied to it, and what is copied in each run.
"""

from collections.abc import Callable

import msgspec

from engine.memory.component_bytes import ComponentBytes
from engine.memory.plan import HostShare, MemoryNeeds, budget_of


def device_share(needs: MemoryNeeds) -> MemoryNeeds:
    """Return what a device with memory of its own needs of a job."""

    def on_device(part: ComponentBytes) -> ComponentBytes:
        return msgspec.structs.replace(
            part, converted=0, mapped=0, patched=part.branches, repacks=False
        )

    return msgspec.structs.replace(_each(needs, on_device), enlarging_bytes=0)


def host_share(needs: MemoryNeeds, free_bytes: int, limit_bytes: int | None) -> HostShare:
    """Return what the host needs of a job on such a device, within its free memory or a limit."""

    def on_host(part: ComponentBytes) -> ComponentBytes:
        # Of weights that are streamed, those on their way are in memory, or copies of all.
        in_place = part.copied or part.in_place
        changed = part.patched - part.branches
        return msgspec.structs.replace(part, packed=part.copied, in_place=in_place, patched=changed)

    runs = "step_bytes", "text_run_bytes", "picture_run_bytes", "vae_run_bytes", "vae_tile_bytes"
    without = msgspec.structs.replace(needs, **dict.fromkeys((*runs, "preview_bytes"), 0))
    later = tuple(msgspec.structs.replace(second, step_bytes=0) for second in needs.later)
    on_its_way = _each(msgspec.structs.replace(without, later=later), on_host)
    return HostShare(on_its_way, budget_of(free_bytes, limit_bytes))


def _each(needs: MemoryNeeds, change: Callable[[ComponentBytes], ComponentBytes]) -> MemoryNeeds:
    """Return the needs with each component's bytes changed."""
    largest, reference = needs.largest_text, needs.reference
    return msgspec.structs.replace(
        needs,
        denoiser=change(needs.denoiser),
        vae=change(needs.vae),
        text_encoder=change(needs.text_encoder),
        largest_text=largest and change(largest),
        reference=reference and change(reference),
        controls=tuple(map(change, needs.controls)),
        picture_encoders=tuple(map(change, needs.picture_encoders)),
        later=tuple(
            msgspec.structs.replace(second, weights=change(second.weights))
            for second in needs.later
        ),
    )
