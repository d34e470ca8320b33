"""Recognises the attributes of a postcard by hand-written image analysis.

The judge shares no code with the networks or the drawing program: it has its own thresholds and its
own reference colours of each landscape. `starter/evaluate.py` first measures its reliability on
pictures whose contents are known.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image

SIDE = 256
SPREAD = 58  # an object's pixels lie within this many columns of its middle
LEAST_AREA = 350  # pixels; a smaller painted area is not an object
LEFT_EDGE, RIGHT_EDGE = 95, 161  # columns that separate left, centre and right

# Hue ranges in degrees; reds wrap around. Ground greens and sky blues are duller than any paint.
HUES: tuple[tuple[str, float, float], ...] = (
    ("red", 344, 372),
    ("orange", 14, 41),
    ("yellow", 42, 62),
    ("green", 100, 165),
    ("blue", 210, 245),
    ("purple", 255, 297),
    ("pink", 303, 342),
)
# Typical colours of the foreground (near) and of the band below the horizon (far).
GROUNDS: dict[str, dict[str, tuple[tuple[int, int, int], tuple[int, int, int]]]] = {
    "day": {
        "hills": ((162, 214, 120), (144, 202, 116)),
        "mountains": ((164, 186, 190), (132, 152, 176)),
        "desert": ((244, 214, 166), (230, 193, 147)),
        "forest": ((62, 112, 88), (40, 90, 80)),
        "sea": ((240, 220, 176), (62, 163, 188)),
    },
    "sunset": {
        "hills": ((152, 162, 96), (134, 144, 96)),
        "mountains": ((160, 136, 154), (128, 110, 144)),
        "desert": ((214, 152, 122), (188, 124, 110)),
        "forest": ((80, 84, 74), (58, 64, 70)),
        "sea": ((204, 158, 138), (118, 102, 150)),
    },
    "night": {
        "hills": ((60, 102, 78), (48, 86, 76)),
        "mountains": ((80, 94, 124), (60, 72, 108)),
        "desert": ((116, 100, 98), (90, 78, 88)),
        "forest": ((28, 52, 54), (16, 32, 44)),
        "sea": ((98, 94, 104), (26, 70, 104)),
    },
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A picture's attributes, "unclear" if the judge cannot tell. `kind` is only informative."""

    colour: str
    time: str
    land: str
    place: str
    kind: str


def judge(image: Image.Image) -> Verdict:
    """Return the verdict on a 256x256 picture. Raises ValueError for another size."""
    if image.size != (SIDE, SIDE):
        raise ValueError(f"the judge knows {SIDE}x{SIDE} pictures, not {image.size}")
    pixels = np.asarray(image.convert("RGB")).astype(np.float32)
    time = _time(pixels)
    colour, mask = _object(pixels)
    return Verdict(
        colour=colour,
        time=time,
        land=_land(pixels, time),
        place=_place(mask),
        kind=_kind(pixels, mask),
    )


def _time(pixels: np.ndarray) -> str:
    """Judge the time from the top of the sky: dark, bluish or mauve."""
    red, green, blue = np.median(pixels[:14].reshape(-1, 3), axis=0)
    if max(red, green, blue) < 96:
        return "night"
    return "day" if green > red else "sunset"


def _land(pixels: np.ndarray, time: str) -> str:
    """Judge the landscape from the colours of the foreground and of the band below the horizon."""
    near = np.median(pixels[242:].reshape(-1, 3), axis=0)
    far = np.median(pixels[154:174].reshape(-1, 3), axis=0)

    def distance(land: str) -> float:
        known_near, known_far = GROUNDS[time][land]
        return float(np.abs(near - known_near).sum() + np.abs(far - known_far).sum())

    best = min(GROUNDS[time], key=distance)
    return best if distance(best) < 110 else "unclear"


def _object(pixels: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the object colour that covers most pixels, and its mask: bool [256, 256]."""
    high, low = pixels.max(axis=2), pixels.min(axis=2)
    chroma = high - low
    saturation, hue = chroma / np.maximum(high, 1), _hue(pixels, high, chroma)
    vivid = (saturation > 0.56) & (high > 148)
    masks: dict[str, np.ndarray] = {}
    for name, start, end in HUES:
        inside = (hue >= start) & (hue <= end) | (hue + 360 <= end)
        masks[name] = inside & vivid
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    masks["white"] = (red > 240) & (green > 236) & (blue > 222) & (red >= blue)
    best = max(masks, key=lambda name: int(masks[name].sum()))
    if masks[best].sum() < LEAST_AREA:
        return "unclear", np.zeros((SIDE, SIDE), bool)
    return best, masks[best]


def _hue(pixels: np.ndarray, high: np.ndarray, chroma: np.ndarray) -> np.ndarray:
    """Return the hue in degrees, 0 to 360."""
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    safe = np.maximum(chroma, 1)
    sector = np.where(
        high == red,
        ((green - blue) / safe) % 6,
        np.where(high == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    return 60 * sector


def _place(mask: np.ndarray) -> str:
    """Return the place of the mask's median column; "unclear" if the mask is scattered."""
    columns = np.nonzero(mask)[1]
    if len(columns) == 0:
        return "unclear"
    middle = float(np.median(columns))
    if np.mean(np.abs(columns - middle) < SPREAD) < 0.9:
        return "unclear"
    if middle < LEFT_EDGE:
        return "left"
    return "right" if middle > RIGHT_EDGE else "centre"


def _kind(pixels: np.ndarray, mask: np.ndarray) -> str:
    """Judge the kind from the outline and from the wood and dark openings around it."""
    if not mask.any():
        return "unclear"
    rows, columns = np.nonzero(mask)
    top, bottom = np.percentile(rows, (1, 99))
    left, right = np.percentile(columns, (2, 98))
    if bottom < 152 and top < 76:
        return "balloon"
    middle = int((left + right) / 2)
    if _wood(pixels, mask, middle, int(top)) > 700:
        return "boat"
    if _wood(pixels, mask, middle, int(bottom) - 2) > 150:
        return "tree"
    dark = (pixels.max(axis=2) < 92) & (pixels[..., 0] > 30)
    height = bottom - top
    heart = dark[int(top + 0.35 * height) : int(top + 0.65 * height), middle - 8 : middle + 9]
    chin = mask[int(bottom - 0.16 * height) : int(bottom), middle - 6 : middle + 7]
    if heart.mean() > 0.4 and chin.mean() > 0.5:
        return "flower"
    crown = mask[int(top) : int(top + 0.25 * height) + 1, middle - 8 : middle + 9]
    return "castle" if crown.mean() < 0.3 else "house"


def _wood(pixels: np.ndarray, mask: np.ndarray, middle: int, top: int) -> int:
    """Count brown pixels around column `middle`, from row `top` down."""
    nearby = np.zeros_like(mask)
    nearby[top:, max(0, middle - 60) : middle + 60] = True
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    brown = (red > 84) & (red < 140) & (red - blue > 34) & (red - green > 22)
    return int((nearby & brown & ~mask).sum())
