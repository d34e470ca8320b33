"""Draws the one coloured object of a postcard, which is 64 to 86 of the 256 pixels wide."""

import math
import random

from starter.scenes import (
    GROUND,
    HORIZON,
    INK,
    LEAF,
    PAINT,
    WATER,
    WOOD,
    Canvas,
    Rgb,
    Scene,
    Time,
    mix,
)

LIT_WINDOW: Rgb = (255, 238, 170)
PALE: Rgb = (255, 244, 206)


def draw_object(canvas: Canvas, scene: Scene, rng: random.Random, x: float) -> None:
    """Draw `scene`'s object around column `x`, standing, floating or flying."""
    paint, size = PAINT[scene.colour], rng.uniform(0.94, 1.08)
    shade = mix(paint, (70, 50, 110), 0.3)
    y = 222 + rng.uniform(-5, 5)
    match scene.kind:
        case "house":
            _shadow(canvas, scene, x, y, 46 * size)
            _draw_house(canvas, x, y, size, paint, shade, scene.time)
        case "tree":
            _shadow(canvas, scene, x, y, 34 * size)
            _draw_tree(canvas, x, y, size, paint, shade)
        case "boat":
            if scene.land == "sea":
                y = HORIZON + 44 + rng.uniform(-3, 3)
            else:  # a boat ashore gets a pond
                y -= 8
                canvas.ellipse(x, y, 58 * size, 13 * size, WATER[scene.time])
            _draw_boat(canvas, x, y, size, paint, shade)
        case "balloon":
            _draw_balloon(canvas, x, 78 + rng.uniform(-6, 8), size, paint, shade)
        case "flower":
            _shadow(canvas, scene, x, y, 26 * size)
            _draw_flower(canvas, x, y, size, paint, shade)
        case "castle":
            _shadow(canvas, scene, x, y, 50 * size)
            _draw_castle(canvas, x, y, size, paint, shade, scene.time)


def _shadow(canvas: Canvas, scene: Scene, x: float, y: float, reach: float) -> None:
    _, _, near = GROUND[scene.land, scene.time]
    canvas.ellipse(x, y, reach, 5, mix(near, INK, 0.4))


def _window(time: Time) -> Rgb:
    return LIT_WINDOW if time == "night" else INK


def _draw_house(
    canvas: Canvas, x: float, y: float, s: float, paint: Rgb, shade: Rgb, time: Time
) -> None:
    canvas.rectangle(x + 14 * s, y - 86 * s, x + 26 * s, y - 50 * s, shade)  # chimney
    canvas.rectangle(x - 34 * s, y - 48 * s, x + 34 * s, y, paint)
    roof = [(x - 43 * s, y - 46 * s), (x, y - 86 * s), (x + 43 * s, y - 46 * s)]
    canvas.polygon(roof, shade)
    canvas.rectangle(x - 8 * s, y - 30 * s, x + 8 * s, y, INK)
    for side in (-1, 1):
        cx = x + side * 21 * s
        canvas.rectangle(cx - 6 * s, y - 36 * s, cx + 6 * s, y - 22 * s, _window(time))


def _draw_tree(canvas: Canvas, x: float, y: float, s: float, paint: Rgb, shade: Rgb) -> None:
    canvas.rectangle(x - 7 * s, y - 44 * s, x + 7 * s, y, WOOD)
    blobs = ((-20, -52, 23), (20, -52, 23), (0, -78, 29))
    for dx, dy, r in blobs:
        canvas.ellipse(x + dx * s, y + dy * s, r * s, r * s, shade)
    for dx, dy, r in blobs:
        canvas.ellipse(x + (dx - 3) * s, y + (dy - 5) * s, (r - 2) * s, (r - 2) * s, paint)


def _draw_boat(canvas: Canvas, x: float, y: float, s: float, paint: Rgb, shade: Rgb) -> None:
    canvas.rectangle(x - 2.5 * s, y - 90 * s, x + 2.5 * s, y - 14 * s, WOOD)
    canvas.polygon(
        [(x + 4 * s, y - 88 * s), (x + 4 * s, y - 24 * s), (x + 42 * s, y - 24 * s)], paint
    )
    canvas.polygon(
        [(x - 4 * s, y - 80 * s), (x - 4 * s, y - 24 * s), (x - 32 * s, y - 24 * s)], shade
    )
    left, right = (x - 42 * s, y - 18 * s), (x + 44 * s, y - 18 * s)
    canvas.polygon([left, right, (x + 28 * s, y + 4 * s), (x - 28 * s, y + 4 * s)], WOOD)


def _draw_balloon(canvas: Canvas, x: float, y: float, s: float, paint: Rgb, shade: Rgb) -> None:
    basket = y + 66 * s
    for side in (-1, 1):
        top, foot = x + side * 15 * s, x + side * 8 * s
        rope = [(top - 1.6, y + 36 * s), (top + 1.6, y + 36 * s), (foot + 1.6, basket)]
        canvas.polygon([*rope, (foot - 1.6, basket)], WOOD)
    skirt = [(x - 36 * s, y + 17 * s), (x + 36 * s, y + 17 * s), (x + 15 * s, y + 44 * s)]
    canvas.polygon([*skirt, (x - 15 * s, y + 44 * s)], shade)
    canvas.ellipse(x, y, 41 * s, 41 * s, shade)
    canvas.ellipse(x, y, 27 * s, 41 * s, paint)
    canvas.polygon(
        [
            (x - 25 * s, y + 16 * s),
            (x + 25 * s, y + 16 * s),
            (x + 9 * s, y + 44 * s),
            (x - 9 * s, y + 44 * s),
        ],
        paint,
    )
    canvas.rectangle(x - 10 * s, basket - 4 * s, x + 10 * s, basket + 10 * s, WOOD)


def _draw_flower(canvas: Canvas, x: float, y: float, s: float, paint: Rgb, shade: Rgb) -> None:
    head = y - 72 * s
    canvas.rectangle(x - 3 * s, head, x + 3 * s, y, LEAF)
    for side in (-1, 1):
        leaf = [(x, y - 6 * s), (x + side * 22 * s, y - 30 * s), (x + side * 10 * s, y - 4 * s)]
        canvas.polygon(leaf, LEAF)
    for fill, ring, start in ((shade, 24, math.pi / 6), (paint, 22, 0.0)):
        for i in range(6):
            angle = start + i * math.tau / 6
            px, py = x + ring * s * math.cos(angle), head + ring * s * math.sin(angle)
            canvas.ellipse(px, py, 13 * s, 13 * s, fill)
    canvas.ellipse(x, head, 11 * s, 11 * s, INK)


def _draw_castle(
    canvas: Canvas, x: float, y: float, s: float, paint: Rgb, shade: Rgb, time: Time
) -> None:
    canvas.rectangle(x - 28 * s, y - 44 * s, x + 28 * s, y, paint)
    for i in (-1, 0, 1):  # battlements
        canvas.rectangle(x + (14 * i - 4) * s, y - 52 * s, x + (14 * i + 4) * s, y - 43 * s, paint)
    for side in (-1, 1):
        cx = x + side * 30 * s
        canvas.rectangle(cx - 12 * s, y - 68 * s, cx + 12 * s, y, paint)
        roof = [(cx - 16 * s, y - 66 * s), (cx, y - 96 * s), (cx + 16 * s, y - 66 * s)]
        canvas.polygon(roof, shade)
        canvas.rectangle(cx - 4 * s, y - 56 * s, cx + 4 * s, y - 42 * s, _window(time))
    canvas.rectangle(x - 9 * s, y - 20 * s, x + 9 * s, y, INK)
    canvas.ellipse(x, y - 20 * s, 9 * s, 9 * s, INK)
