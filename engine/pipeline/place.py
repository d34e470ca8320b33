"""A resolved request on a device: its backend, its precision, the tiles of its VAE."""

import msgspec

from backends.base import Device, Precision
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, PrecisionName
from engine.errors import EngineError
from engine.memory.plan import TILE_CELLS, MemoryPlan


def place(request: ResolvedRequest, device: Device) -> ResolvedRequest:
    """The request with the device's backend and the precision that it is computed in first.

    Raises EngineError(REQUEST_INVALID) where the device does not offer the precision asked for.
    """
    first = precisions(request.precision, device)[0]
    return msgspec.structs.replace(
        request, backend=device.backend, precision=PrecisionName(first.value)
    )


def with_tiles(request: ResolvedRequest, plan: MemoryPlan, downscale: int) -> ResolvedRequest:
    """The request with tiles for the VAE where the plan has them and none were asked for.

    `downscale` is the number of pixels along a latent cell.
    """
    tile = TILE_CELLS * downscale
    larger = max(request.width, request.height) > tile
    if not plan.tiles or not larger or request.vae_tile is not None:
        return request
    return msgspec.structs.replace(request, vae_tile=tile)


def precisions(wanted: PrecisionName, device: Device) -> tuple[Precision, ...]:
    """The precisions to compute in: the wanted one, or the device's choice, then safer ones.

    Raises EngineError(REQUEST_INVALID) where the device does not offer it.
    """
    available = device.precisions
    first = available[0] if wanted is PrecisionName.AUTO else Precision(wanted.value)
    if first not in available:
        offered = ", ".join(precision.value for precision in available)
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            f"{device.backend} cannot compute in {first.value} on {device.name}.",
            f"It offers {offered}.",
        )
    safer = Precision.F32 in available and first is not Precision.F32
    return (first, Precision.F32) if safer else (first,)
