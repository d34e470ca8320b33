"""Freezes the maps that OpenCV 4 makes, by the steps of sd-webui-controlnet.

    python -m tests.preprocessors.freeze_maps

in the oracle environment, on x86: OpenCV enlarges pictures in another arithmetic elsewhere. The
steps are those of github.com/Mikubill/sd-webui-controlnet, commit
56cec5b2958edf3b1807b7e7b2b1b5186dbd2f81: `scripts/preprocessor/model_free_preprocessors.py`,
`scripts/preprocessor/legacy/processor.py`, `scripts/utils.py`, `annotator/`.

maps.npz holds the map of each of `cases.CASES` by its name; "edges/..." are edges without a
change of size, by picture and thresholds.
"""
# pyright: basic, reportMissingImports=false
# OpenCV is absent from the environment that is type-checked.

from pathlib import Path
from typing import Any

import cv2
import numpy as np

from engine.api import preprocessors as api
from tests.preprocessors.cases import CASES
from tests.preprocessors.pictures import PICTURES

FROZEN = Path(__file__).parent / "frozen" / "maps.npz"
THRESHOLDS = ((100, 200), (1, 255), (60, 60), (200, 100))


def main() -> None:
    """Write the file."""
    arrays: dict[str, Any] = {
        name: expected(PICTURES[picture], options) for name, (picture, options) in CASES.items()
    }
    for picture, pixels in PICTURES.items():
        for low, high in THRESHOLDS:
            arrays[f"edges/{picture}/{low}/{high}"] = np.packbits(cv2.Canny(pixels, low, high) > 0)
    np.savez_compressed(FROZEN, **arrays)


def scaled(picture, options):
    """The picture at the options' resolution."""
    height, width = picture.shape[:2]
    scale = options.resolution / min(height, width)
    size = int(np.round(width * scale)), int(np.round(height * scale))
    way = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    return cv2.resize(picture, size, interpolation=way)


def in_64(picture, work):
    """The result of `work` on a padded picture, without the padding."""
    height, width = picture.shape[:2]
    pads = ((0, -height % 64), (0, -width % 64), (0, 0))
    return work(np.pad(picture, pads, mode="edge"))[:height, :width]


def white(where):
    return np.repeat(np.where(where, 255, 0).astype(np.uint8)[:, :, None], 3, axis=2)


def grey(plane):
    return cv2.cvtColor(plane, cv2.COLOR_GRAY2RGB)


def xdog(picture, threshold):
    wide, narrow = (
        cv2.GaussianBlur(picture.astype(np.float32), (0, 0), sigma) for sigma in (5.0, 0.5)
    )
    inverse = (255 - np.min(wide - narrow, axis=2)).clip(0, 255).astype(np.uint8)
    return white(2 * (255 - inverse) > threshold)


def grid(picture, resolution):
    height, width = picture.shape[:2]
    if height < width:
        size = round(width / height * resolution), resolution
    else:
        size = resolution, round(height / width * resolution)
    whole = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    cells = cv2.resize(whole, (size[0] // 64, size[1] // 64), interpolation=cv2.INTER_CUBIC)
    return cv2.resize(cells, size, interpolation=cv2.INTER_NEAREST)


def field(height, width):
    noise = np.random.uniform(low=0, high=1, size=(height // 256 + 2, width // 256 + 2, 1))
    whole = cv2.resize(noise, (width + 512, height + 512), interpolation=cv2.INTER_CUBIC)
    part = whole[256 : 256 + height, 256 : 256 + width]
    part -= part.min()
    return part / part.max()


def shuffled(picture, seed):
    height, width = picture.shape[:2]
    np.random.seed(seed)
    x = field(height, width) * float(width - 1)
    y = field(height, width) * float(height - 1)
    return cv2.remap(picture, np.stack([x, y], 2).astype(np.float32), None, cv2.INTER_LINEAR)


def powered(plane, gamma):
    return grey(((plane.astype(np.float32) / 255.0) ** gamma * 255.0).clip(0, 255).astype(np.uint8))


def lines(picture):
    numbers = picture.astype(np.float32)
    darker = np.min(cv2.GaussianBlur(numbers, (0, 0), 6.0) - numbers, axis=2).clip(0, 255)
    clear = darker[darker > 8]
    darker /= max(16, np.median(clear)) if clear.size else 16
    return grey((darker * 127).clip(0, 255).astype(np.uint8))


def resampled(picture, rate):
    if rate < 1.1:
        return picture
    size = [max(1, int(side / rate)) for side in picture.shape[1::-1]]
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)


def expected(picture, options):
    """The map of a picture."""
    match options:
        case api.CannyOptions(low=low, high=high):
            return in_64(scaled(picture, options), lambda whole: grey(cv2.Canny(whole, low, high)))
        case api.ThresholdOptions(threshold=level):
            return white(np.min(scaled(picture, options), axis=2) > level)
        case api.BlurOptions(sigma=sigma):
            return cv2.GaussianBlur(scaled(picture, options), (0, 0), sigma)
        case api.ColorGridOptions(resolution=resolution):
            return grid(picture, resolution)
        case api.TileOptions(down_sampling_rate=rate):
            return resampled(picture, rate)
        case api.XdogOptions(threshold=level):
            return in_64(scaled(picture, options), lambda whole: xdog(whole, level))
        case api.ShuffleOptions(seed=seed):
            return shuffled(scaled(picture, options), seed)
        case api.LuminanceOptions(gamma=gamma):
            return powered(cv2.cvtColor(picture, cv2.COLOR_BGR2LAB)[:, :, 0], gamma)
        case api.IntensityOptions(gamma=gamma):
            return powered(cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)[:, :, 2], gamma)
        case api.LineartStandardOptions():
            return in_64(scaled(picture, options), lines)
    raise ValueError(options)


if __name__ == "__main__":
    main()
