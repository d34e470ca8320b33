"""The time that pictures take on a device, estimated from its trial."""

import msgspec

from engine.api.machine import DeviceInfo
from engine.api.speed import denoising_trials
from engine.api.values import PrecisionName

# Pixels a side of a latent's cell.
_CELL = 8


class PictureKind(msgspec.Struct, frozen=True):
    """A picture to estimate: the parameters of the model's denoiser, its size and predictions.

    A usual step with guidance takes two predictions of the denoiser, one without takes one.
    """

    parameters: float
    width: int
    height: int
    predictions: float


# Usual pictures of 20 steps with guidance, by the names that people know their models by.
SD_1_5 = PictureKind(860e6, 512, 512, 2 * 20)
SDXL = PictureKind(2567e6, 1024, 1024, 2 * 20)


def seconds_per_picture(device: DeviceInfo, kind: PictureKind) -> float | None:
    """Return the estimated seconds of denoising; None if the device was not timed.

    Reading the model and preparing networks come once, beside it.
    """
    milliseconds = trial_milliseconds(device)
    if milliseconds is None:
        return None
    cells = kind.width * kind.height / _CELL**2
    return denoising_trials(kind.parameters, cells, kind.predictions) * milliseconds / 1000


def trial_milliseconds(device: DeviceInfo) -> float | None:
    """Return the least time of a device's trial; None if it has none whose result was right.

    8 bits do not count: few models have weights in blocks.
    """
    right = (figure for figure in device.figures if not figure.problem)
    times = (figure.milliseconds for figure in right if figure.precision != PrecisionName.INT8)
    return min(times, default=None)
