"""Draws the 256x256 flat-illustration postcards that the starter model is trained on.

`draw(scene, rng)` makes the picture, `starter.captions.caption(scene, rng)` describes it.
Coordinates are picture pixels (256 across, y down); shapes are drawn `OVERSAMPLE` times larger and
box-filtered down, so edges are antialiased. Shapes are big and flat on purpose: the VAE has 32x32
latents, and a detail thinner than about four pixels would not survive them.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from PIL import Image, ImageDraw

Rgb = tuple[int, int, int]
Point = tuple[float, float]

Time = Literal["day", "sunset", "night"]
Land = Literal["hills", "mountains", "desert", "forest", "sea"]
Colour = Literal["red", "orange", "yellow", "green", "blue", "purple", "pink", "white"]
Kind = Literal["house", "tree", "boat", "balloon", "flower", "castle"]
Place = Literal["left", "centre", "right"]
Light = Literal["none", "sun", "moon", "stars"]

TIMES: tuple[Time, ...] = get_args(Time)
LANDS: tuple[Land, ...] = get_args(Land)
COLOURS: tuple[Colour, ...] = get_args(Colour)
KINDS: tuple[Kind, ...] = get_args(Kind)
PLACES: tuple[Place, ...] = get_args(Place)
LIGHTS: tuple[Light, ...] = get_args(Light)

SIZE = 256
OVERSAMPLE = 3
HORIZON = 150

# Object colours keep their brightness at every time of day and are all more saturated (or, for
# white, warmer and lighter) than any sky or ground, so that they stand out from each of them.
PAINT: dict[Colour, Rgb] = {
    "red": (222, 38, 44),
    "orange": (250, 132, 14),
    "yellow": (255, 216, 24),
    "green": (34, 172, 62),
    "blue": (40, 92, 226),
    "purple": (136, 50, 196),
    "pink": (248, 92, 172),
    "white": (255, 253, 242),
}
SKY: dict[Time, tuple[Rgb, Rgb]] = {  # top of the picture, horizon
    "day": ((116, 190, 240), (208, 236, 250)),
    "sunset": ((108, 84, 142), (255, 196, 156)),
    "night": ((14, 20, 54), (52, 62, 116)),
}
GROUND: dict[tuple[Land, Time], tuple[Rgb, Rgb, Rgb]] = {  # far, middle, near
    ("hills", "day"): ((150, 200, 140), (142, 202, 110), (162, 214, 120)),
    ("hills", "sunset"): ((134, 138, 110), (134, 146, 90), (152, 162, 96)),
    ("hills", "night"): ((42, 76, 82), (50, 88, 74), (60, 102, 78)),
    ("mountains", "day"): ((126, 146, 178), (142, 164, 176), (164, 186, 190)),
    ("mountains", "sunset"): ((122, 104, 142), (138, 118, 146), (160, 136, 154)),
    ("mountains", "night"): ((56, 66, 106), (66, 78, 112), (80, 94, 124)),
    ("desert", "day"): ((222, 184, 142), (236, 200, 150), (244, 214, 166)),
    ("desert", "sunset"): ((178, 114, 108), (198, 134, 112), (214, 152, 122)),
    ("desert", "night"): ((82, 70, 84), (98, 84, 90), (116, 100, 98)),
    ("forest", "day"): ((74, 126, 114), (36, 86, 78), (62, 112, 88)),
    ("forest", "sunset"): ((96, 88, 96), (54, 62, 68), (80, 84, 74)),
    ("forest", "night"): ((26, 48, 66), (14, 30, 42), (28, 52, 54)),
    ("sea", "day"): ((54, 158, 184), (84, 180, 198), (240, 220, 176)),
    ("sea", "sunset"): ((112, 98, 150), (148, 118, 156), (204, 158, 138)),
    ("sea", "night"): ((24, 66, 100), (34, 86, 116), (98, 94, 104)),
}
SNOW: dict[Time, Rgb] = {
    "day": (226, 236, 248),
    "sunset": (238, 200, 196),
    "night": (150, 164, 200),
}
CLOUD: dict[Time, Rgb] = {"day": (232, 244, 252), "sunset": (240, 176, 168), "night": (34, 42, 84)}
WATER: dict[Time, Rgb] = {"day": (84, 180, 198), "sunset": (148, 118, 156), "night": (34, 86, 116)}
GLOW: dict[Time, Rgb] = {
    "day": (255, 240, 150),
    "sunset": (255, 234, 176),
    "night": (246, 238, 200),
}
STAR: Rgb = (236, 232, 214)
WOOD: Rgb = (110, 72, 52)
INK: Rgb = (54, 44, 66)
LEAF: Rgb = (60, 140, 84)
CENTRE_X: dict[Place, float] = {"left": 62, "centre": 128, "right": 194}


@dataclass(frozen=True, slots=True)
class Scene:
    """The attributes of one postcard."""

    kind: Kind
    colour: Colour
    land: Land
    time: Time
    place: Place
    light: Light


def held_out(scene: Scene) -> bool:
    """True if this (kind, colour, land, time) is kept from training: 72 of the 720, spread evenly.

    Only the combination is unseen: each pair of attributes occurs in training.
    """
    index = (
        3 * KINDS.index(scene.kind)
        + COLOURS.index(scene.colour)
        + 2 * LANDS.index(scene.land)
        + 4 * TIMES.index(scene.time)
    )
    return index % 10 == 5


def random_scene(rng: random.Random, *, unseen: bool = False) -> Scene:
    """Return a scene from the training combinations, or from the held-out ones."""
    while True:
        time = rng.choice(TIMES)
        if time == "night":
            light: Light = rng.choice(("moon", "stars"))
        else:
            light = "sun" if rng.random() < 0.7 else "none"
        scene = Scene(
            kind=rng.choice(KINDS),
            colour=rng.choice(COLOURS),
            land=rng.choice(LANDS),
            time=time,
            place=rng.choice(PLACES),
            light=light,
        )
        if held_out(scene) == unseen:
            return scene


def mix(a: Rgb, b: Rgb, share: float) -> Rgb:
    """Return a blend of `a` and `b`; `share` (0 to 1) is the share of `b`."""
    red, green, blue = (round(p + (q - p) * share) for p, q in zip(a, b, strict=True))
    return red, green, blue


class Canvas:
    """A picture under construction, addressed in final pixels."""

    def __init__(self) -> None:
        side = SIZE * OVERSAMPLE
        self._image = Image.new("RGB", (side, side))
        self._draw = ImageDraw.Draw(self._image)

    def gradient(self, top: Rgb, bottom: Rgb, height: float) -> None:
        """Fill the picture from `top` at y 0 to `bottom` at y `height` and below."""
        strip = Image.new("RGB", (1, SIZE))
        for y in range(SIZE):
            strip.putpixel((0, y), mix(top, bottom, min(1.0, y / height)))
        self._image.paste(strip.resize(self._image.size, Image.Resampling.BILINEAR))

    def polygon(self, points: Sequence[Point], fill: Rgb) -> None:
        self._draw.polygon([(x * OVERSAMPLE, y * OVERSAMPLE) for x, y in points], fill=fill)

    def rectangle(self, x0: float, y0: float, x1: float, y1: float, fill: Rgb) -> None:
        self.polygon([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], fill)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: Rgb) -> None:
        box = ((x - rx), (y - ry), (x + rx), (y + ry))
        self._draw.ellipse([v * OVERSAMPLE for v in box], fill=fill)

    def land(self, rng: random.Random, top: float, swing: float, waves: float, fill: Rgb) -> None:
        """Fill below a random curve around y `top`, of height `swing` and `waves` periods."""
        phase, waves = rng.uniform(0, math.tau), waves * rng.uniform(0.7, 1.3)
        curve = [
            (x, top + swing * math.sin(phase + waves * math.tau * x / SIZE))
            for x in range(0, SIZE + 8, 8)
        ]
        self.polygon([*curve, (SIZE, SIZE), (0, SIZE)], fill)

    def finish(self) -> Image.Image:
        return self._image.reduce(OVERSAMPLE)


def draw(scene: Scene, rng: random.Random) -> Image.Image:
    """Return the postcard, RGB 256x256; `rng` varies the details that the scene leaves open."""
    from starter.objects import draw_object  # it draws with this module's canvas and palette

    canvas = Canvas()
    x = CENTRE_X[scene.place] + rng.uniform(-9, 9)
    _draw_sky(canvas, scene, rng, x)
    _LAND_PAINTERS[scene.land](canvas, GROUND[scene.land, scene.time], scene.time, rng)
    draw_object(canvas, scene, rng, x)
    return canvas.finish()


def _draw_sky(canvas: Canvas, scene: Scene, rng: random.Random, object_x: float) -> None:
    top, bottom = SKY[scene.time]
    canvas.gradient(top, bottom, HORIZON)
    free = [x for x in range(34, 223) if abs(x - object_x) > 62]
    x = float(rng.choice(free))
    if scene.time == "night":
        _draw_stars(canvas, rng, object_x if scene.kind == "balloon" else None)
    elif rng.random() < 0.6:
        clear = [c for c in range(40, 217) if scene.light == "none" or abs(c - x) > 72]
        _draw_cloud(canvas, rng, float(rng.choice(clear)), CLOUD[scene.time])
    if scene.light in ("sun", "moon"):
        radius = {"day": 19.0, "sunset": 23.0, "night": 17.0}[scene.time]
        y = rng.uniform(84, 112) if scene.time == "sunset" else rng.uniform(34, 62)
        sky = mix(top, bottom, y / HORIZON)
        canvas.ellipse(x, y, radius * 1.5, radius * 1.5, mix(sky, GLOW[scene.time], 0.22))
        canvas.ellipse(x, y, radius, radius, GLOW[scene.time])


def _draw_stars(canvas: Canvas, rng: random.Random, avoid_x: float | None) -> None:
    for column in range(4):  # one star in each cell of a loose grid, so that none touch
        for row in range(3):
            x = 64 * column + rng.uniform(12, 52)
            y = 36 * row + rng.uniform(10, 30)
            if avoid_x is None or abs(x - avoid_x) > 48:
                radius = rng.uniform(2.4, 3.4)
                canvas.ellipse(x, y, radius, radius, STAR)


def _draw_cloud(canvas: Canvas, rng: random.Random, x: float, fill: Rgb) -> None:
    y, size = rng.uniform(24, 70), rng.uniform(0.8, 1.2)
    for dx, dy, rx, ry in ((-22, 4, 18, 9), (0, -3, 19, 15), (22, 4, 20, 10), (0, 6, 38, 8)):
        canvas.ellipse(x + dx * size, y + dy * size, rx * size, ry * size, fill)


def _draw_hills(canvas: Canvas, ground: tuple[Rgb, Rgb, Rgb], _: Time, rng: random.Random) -> None:
    far, middle, near = ground
    canvas.land(rng, HORIZON - 14, 14, 1.2, far)
    canvas.land(rng, HORIZON + 10, 14, 0.9, middle)
    canvas.land(rng, HORIZON + 42, 9, 0.7, near)


def _draw_mountains(
    canvas: Canvas, ground: tuple[Rgb, Rgb, Rgb], time: Time, rng: random.Random
) -> None:
    far, middle, near = ground
    start, foot = rng.uniform(-10, 40), HORIZON + 24
    for i in range(4):
        x, peak = start + 68 * i + rng.uniform(-10, 10), rng.uniform(76, 104)
        slope = 0.95
        half = slope * (foot - peak)
        left, right = (x - half, foot), (x + half, foot)
        canvas.polygon([left, (x, peak), right], far)
        canvas.polygon([(x, peak), right, (x + half * 0.2, foot)], mix(far, INK, 0.16))
        cap = 26 * slope
        snow = [(x - cap, peak + 26), (x, peak), (x + cap, peak + 26), (x + cap / 2, peak + 20)]
        canvas.polygon([*snow, (x, peak + 30), (x - cap / 2, peak + 20)], SNOW[time])
    canvas.land(rng, HORIZON + 14, 6, 1.1, middle)
    canvas.land(rng, HORIZON + 44, 7, 0.8, near)


def _draw_desert(canvas: Canvas, ground: tuple[Rgb, Rgb, Rgb], _: Time, rng: random.Random) -> None:
    far, middle, near = ground
    if rng.random() < 0.5:
        x, width = rng.uniform(30, 226), rng.uniform(22, 34)
        top = HORIZON - rng.uniform(24, 36)
        foot = [(x + width + 10, HORIZON + 12), (x - width - 10, HORIZON + 12)]
        canvas.polygon([(x - width, top), (x + width, top), *foot], mix(far, INK, 0.18))
    canvas.land(rng, HORIZON, 9, 1.3, far)
    canvas.land(rng, HORIZON + 20, 9, 1.0, middle)
    canvas.land(rng, HORIZON + 46, 8, 0.8, near)


def _draw_forest(canvas: Canvas, ground: tuple[Rgb, Rgb, Rgb], _: Time, rng: random.Random) -> None:
    far, middle, near = ground
    for fill, base, height, step in ((far, 158, 62, 30), (middle, 174, 58, 36)):
        canvas.rectangle(0, base - 14, SIZE, SIZE, fill)
        x = rng.uniform(-20, 0)
        while x < SIZE + 20:
            tall = height * rng.uniform(0.8, 1.15)
            for low, wide in ((0.0, 19.0), (0.36, 15.0)):
                foot = base - tall * low
                peak = foot - tall * 0.66
                canvas.polygon([(x - wide, foot), (x, peak), (x + wide, foot)], fill)
            x += step * rng.uniform(0.8, 1.15)
    canvas.land(rng, HORIZON + 34, 5, 0.9, near)


def _draw_sea(canvas: Canvas, ground: tuple[Rgb, Rgb, Rgb], _: Time, rng: random.Random) -> None:
    far, middle, near = ground
    canvas.rectangle(0, HORIZON - 4, SIZE, SIZE, far)
    canvas.land(rng, HORIZON + 24, 3, 2.0, middle)
    for i in range(4):  # a few broad crests
        x, y = 64 * i + rng.uniform(10, 54), HORIZON + rng.uniform(6, 36)
        canvas.ellipse(x, y, rng.uniform(12, 18), 2.2, mix(middle, (255, 255, 255), 0.3))
    canvas.land(rng, HORIZON + 58, 6, 0.7, near)


_LAND_PAINTERS = {
    "hills": _draw_hills,
    "mountains": _draw_mountains,
    "desert": _draw_desert,
    "forest": _draw_forest,
    "sea": _draw_sea,
}
