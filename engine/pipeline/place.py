"""A resolved request on a device: its backend, its precision, the tiles of its VAE."""

from dataclasses import dataclass, replace

import msgspec

from backends.base import Device, Precision
from engine.api.record import ResolvedRequest
from engine.api.values import ErrorCode, PrecisionName
from engine.errors import EngineError
from engine.memory.plan import TILE_CELLS, MemoryPlan


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and how a request is computed.

    `precision` is the one that is tried first, `vae_tile` the side of the VAE's tiles in pixels.
    """

    backend: str
    precision: PrecisionName
    vae_tile: int | None

    def placed(self, request: ResolvedRequest) -> ResolvedRequest:
        """The request as it is computed here."""
        return msgspec.structs.replace(
            request, backend=self.backend, precision=self.precision, vae_tile=self.vae_tile
        )

    def with_tile(self, vae_tile: int | None) -> "Placement":
        """The same with other tiles."""
        return replace(self, vae_tile=vae_tile)


def place(request: ResolvedRequest, device: Device) -> Placement:
    """Place a request on a device.

    Raises EngineError(REQUEST_INVALID) where the device does not offer the precision asked for.
    """
    first = precisions(request.precision, device)[0]
    return Placement(device.backend, PrecisionName(first.value), request.vae_tile)


def planned_tile(request: ResolvedRequest, plan: MemoryPlan, downscale: int) -> int | None:
    """The side of the VAE's tiles in pixels: as asked for, else where the plan has tiles.

    `downscale` is the number of pixels along a latent cell.
    """
    tile = TILE_CELLS * downscale
    larger = max(request.width, request.height) > tile
    return tile if plan.tiles and larger and request.vae_tile is None else request.vae_tile


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
