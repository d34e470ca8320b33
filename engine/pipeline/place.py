"""The placement of a resolved request on a device: backend, precision, VAE tiles, rounding."""

import msgspec

from backends.base import Device, Precision
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, PrecisionName, TextWeightBits, WeightBits
from engine.errors import EngineError
from engine.memory.plan import TILE_CELLS
from engine.weights.rounding import EXACT, Rounding


class Placement(msgspec.Struct, frozen=True):
    """The backend, the precision, the VAE tiles and the rounding of weights for a request.

    `precision` is the first one to try; `vae_tile` is the side of the VAE's tiles in pixels, None
    for no tiles.
    """

    backend: str
    precision: PrecisionName
    vae_tile: int | None
    rounding: Rounding = EXACT

    @property
    def weight_bits(self) -> WeightBits:
        """The bits of the weights, as a record states them."""
        return WeightBits(str(self.rounding.denoiser))

    @property
    def text_weight_bits(self) -> TextWeightBits:
        """The bits of the text encoders' weights, as a record states them."""
        text, denoiser = self.rounding
        return TextWeightBits.SAME if text == denoiser else TextWeightBits(str(text))

    def with_tiles(self, downscale: int) -> "Placement":
        """Return the placement with tiles of the default size, for a VAE that does not fit whole.

        `downscale` is the side of a latent cell in pixels.
        """
        return msgspec.structs.replace(self, vae_tile=TILE_CELLS * downscale)


def place(
    wanted: PrecisionName, vae_tile: int | None, device: Device, rounding: Rounding = EXACT
) -> Placement:
    """Return the placement on a device of a request for this precision and these tiles.

    Raises EngineError(REQUEST_INVALID) where the device does not offer the precision.
    """
    first = precisions(wanted, device)[0]
    return Placement(device.backend, PrecisionName(first.value), vae_tile, rounding)


def precisions(wanted: PrecisionName, device: Device) -> tuple[Precision, ...]:
    """Return the precisions to try: the wanted one (AUTO: the device's first), then float32.

    Raises EngineError(REQUEST_INVALID) where the device does not offer the wanted one.
    """
    available = device.precisions
    first = available[0] if wanted is PrecisionName.AUTO else Precision(wanted.value)
    if first not in available:
        offered = ", ".join(precision.value for precision in available)
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "{backend} cannot compute in {first} on {device}.",
                backend=device.backend,
                first=first.value,
                device=device.name,
            ),
            sentence("It offers {offered}.", offered=offered),
        )
    safer = Precision.F32 in available and first is not Precision.F32
    return (first, Precision.F32) if safer else (first,)
