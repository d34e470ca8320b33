"""An SD 2 checkpoint of 8 MB in a single file, which nothing says the prediction of.

Its denoiser answers with what is left of its input once that has unit variance, times a gain: the
noise, as one does that predicts noise, or little of it, as one that predicts v.
"""

from pathlib import Path

import numpy as np

from backends.base import Array, DType
from tests.checkpoints.arrays import write_arrays
from tests.families import listings
from tests.families.listings import UNET, Listing, UNetSizes

# Some of the noise stays, so that pictures are not of one colour.
PREDICTS_NOISE, PREDICTS_V = 0.9, 0.15
# CLIP's own words, because a single file brings no tokenizer.
_TEXT = listings.ClipSizes(width=64, layers=1)
_SIZES = UNetSizes(
    width=32, multipliers=(1, 2), blocks=1, depths=(0, 1), context=_TEXT.width, linear=True
)


def unstated_listing() -> Listing:
    """The tensors' names and shapes."""
    return (
        listings.prefixed(UNET, listings.ldm_unet(_SIZES))
        | listings.prefixed(listings.VAE, listings.ldm_vae(listings.SMALL_VAE))
        | listings.prefixed("cond_stage_model.model.", listings.open_clip(_TEXT))
    )


def write_unstated(path: Path, gain: float) -> Path:
    """Write the file."""
    random = np.random.default_rng(0)
    arrays: dict[str, Array] = {}
    for name, shape in unstated_listing().items():
        drawn = random.standard_normal(shape, np.float32)
        fan = np.float32(np.sqrt(max(1, np.prod(shape[1:]))))
        arrays[name] = np.zeros_like(drawn) if name.startswith(UNET) else drawn / fan
    arrays |= {UNET + name: array for name, array in _passing(gain).items()}
    write_arrays(path, arrays, DType.F16)
    return path


def _passing(gain: float) -> dict[str, Array]:
    """Weights that pass the latent, and its negative, from the first convolution to the last.

    What comes between them is zero. The last norm has a group for each channel, and
    silu(x) - silu(-x) is x.
    """
    shapes = listings.ldm_unet(_SIZES)
    first = np.zeros(shapes["input_blocks.0.0.weight"], np.float32)
    last = np.zeros(shapes["out.2.weight"], np.float32)
    for channel in range(4):
        for sign, place in ((1, 2 * channel), (-1, 2 * channel + 1)):
            first[place, channel, 1, 1] = sign
            last[channel, place, 1, 1] = sign * gain
    blocks = [name for name in shapes if name.endswith("skip_connection.weight")]
    end = max(
        (name for name in blocks if "output_blocks" in name),
        key=lambda name: int(name.split(".")[1]),
    )
    skip = np.zeros(shapes[end], np.float32)
    width = skip.shape[0]
    skip[range(width), range(skip.shape[1] - width, skip.shape[1])] = 1
    return {
        "input_blocks.0.0.weight": first,
        end: skip,
        "out.0.weight": np.ones(shapes["out.0.weight"], np.float32),
        "out.2.weight": last,
    }
