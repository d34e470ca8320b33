"""Second passes: a picture enlarged and redrawn before it is finished (A1111's "hires fix")."""

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.api.fields import length_within, within
from engine.api.limits import (
    MAX_GUIDANCE,
    MAX_PROMPT_CHARACTERS,
    MAX_SEED,
    MAX_SIDE,
    MAX_STEPS,
    MIN_SIDE,
)
from engine.api.values import SamplerName, ScheduleName

# The most second passes of a request.
MAX_SECOND_PASSES = 8
# The largest factor of a side; A1111's window ends at 4.
MAX_SCALE = 8.0


class LatentUpscaler(StrEnum):
    """A way to enlarge the latent itself; the value is the name by which A1111 calls it.

    The last two are ComfyUI's, and are called in the same way.
    """

    BILINEAR = "Latent"
    BILINEAR_ANTIALIASED = "Latent (antialiased)"
    BICUBIC = "Latent (bicubic)"
    BICUBIC_ANTIALIASED = "Latent (bicubic antialiased)"
    NEAREST = "Latent (nearest)"
    NEAREST_EXACT = "Latent (nearest-exact)"
    AREA = "Latent (area)"
    BISLERP = "Latent (bislerp)"


LATENT_UPSCALERS = frozenset(upscaler.value for upscaler in LatentUpscaler)


class Resampling(StrEnum):
    """The ways to bring a picture to a size that need no file.

    Lanczos is Pillow's, the others are PyTorch's, which ComfyUI and SwarmUI use.
    """

    LANCZOS = "lanczos"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    AREA = "area"
    NEAREST = "nearest"


def resampling_named(upscaler: str) -> Resampling | None:
    """Return the method that an upscaler names; None for all that is no such method."""
    return Resampling(upscaler) if upscaler in tuple(Resampling) else None


class SecondPass(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One more denoising of the picture that the passes before it made, at another size.

    None takes the value of the first pass, but for the size: without width and height it is
    `scale` times that of the pass before, and with one of them it has the shape of that.
    """

    scale: Annotated[float, within(0.25, MAX_SCALE, "factor of a second pass")] = 2.0
    width: Annotated[int | None, within(MIN_SIDE, MAX_SIDE, "width of a second pass")] = None
    height: Annotated[int | None, within(MIN_SIDE, MAX_SIDE, "height of a second pass")] = None
    # A value of `LatentUpscaler`; or of `Resampling`, or an upscaler's file, which enlarge the
    # decoded picture. A name that is no whole path is looked for in the user's folders of models.
    upscaler: str = LatentUpscaler.BILINEAR
    # What brings the picture of an upscaler's file to the exact size.
    resampling: Resampling = Resampling.LANCZOS
    strength: Annotated[float, within(0, 1, "strength of a second pass")] = 0.7
    steps: Annotated[int | None, within(1, MAX_STEPS, "number of steps of a second pass")] = None
    guidance: Annotated[float | None, within(0, MAX_GUIDANCE, "guidance of a second pass")] = None
    sampler: SamplerName | None = None
    schedule: ScheduleName | None = None
    prompt: Annotated[
        str | None, length_within(0, MAX_PROMPT_CHARACTERS, "length of a second pass's prompt")
    ] = None
    negative_prompt: Annotated[
        str | None,
        length_within(0, MAX_PROMPT_CHARACTERS, "length of a second pass's negative prompt"),
    ] = None
    checkpoint: str | None = None
    # The digests of samples of both files, as a record has them, by which they are found under
    # other names.
    upscaler_digest: str | None = None
    checkpoint_digest: str | None = None
    # The seed of its noise; None draws the noise of its size from the picture's own seed.
    seed: Annotated[int | None, within(0, MAX_SEED, "seed of a second pass")] = None
    # The longest side in pixels of the tiles that are redrawn one by one; None: the whole picture.
    tile: Annotated[int | None, within(MIN_SIDE, MAX_SIDE, "tile of a second pass")] = None


def needs_file(wanted: SecondPass) -> bool:
    """Return True if an upscaler's file enlarges the picture."""
    return wanted.upscaler not in LATENT_UPSCALERS and wanted.upscaler not in tuple(Resampling)
