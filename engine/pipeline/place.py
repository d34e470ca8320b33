"""A resolved request on a device: its backend, its precision, the tiles of its VAE."""

from dataclasses import dataclass, replace

from backends.base import Device, Precision
from engine.api.values import ErrorCode, PrecisionName
from engine.errors import EngineError
from engine.memory.plan import TILE_CELLS


@dataclass(frozen=True, slots=True)
class Placement:
    """The device, the precision and the tiles for a request.

    `precision` is the one that is tried first, `vae_tile` the side of the VAE's tiles in pixels.
    """

    backend: str
    precision: PrecisionName
    vae_tile: int | None

    def with_tiles(self, downscale: int) -> "Placement":
        """The same with tiles, where the whole does not fit and none were asked for.

        `downscale` is the number of pixels along a latent cell.
        """
        return replace(self, vae_tile=TILE_CELLS * downscale)


def place(wanted: PrecisionName, vae_tile: int | None, device: Device) -> Placement:
    """Place a request for this precision and these tiles on a device.

    Raises EngineError(REQUEST_INVALID) where the device does not offer the precision.
    """
    first = precisions(wanted, device)[0]
    return Placement(device.backend, PrecisionName(first.value), vae_tile)


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
