"""A text encoder that looks tokens up, so that a tool's arithmetic can be frozen in few numbers."""

import numpy as np
from numpy.typing import NDArray

WIDTH = 2
_ROWS = 97
_GENERATOR = np.random.Generator(np.random.PCG64(5))
_TABLE = 2 * _GENERATOR.random((_ROWS, WIDTH), np.float32) - np.float32(0.6)
_PLACES = _GENERATOR.random((77, WIDTH), np.float32) - np.float32(0.5)


def look_up(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Token ids [chunks, 77] to float32 [chunks, 77, WIDTH]."""
    return (_TABLE[ids % _ROWS] + _PLACES).astype(np.float32)


STEPS = 6
LONG = ", ".join(f"word{n} of the house" for n in range(30))

# Prompt, negative prompt.
A1111 = [
    ("a (red:1.3) house, [blue]", "blurry"),
    ("(a:1.5) BREAK ((b)) BREAK c", "(d:0.2)"),
    (f"(x:1.2) {LONG}", "short"),
    ("short", f"{LONG} (y:0.7)"),
    ("[(red:1.4):blue:3] [a|(b:1.2)]", "[dark:(light:1.3):0.5]"),
    (f"[x:{LONG}:2] y", "z"),
    ("red AND (blue:1.2) :0.5 AND red", "a AND b"),
    (f"red AND {LONG} AND (b:1.3)", "c"),
    ("a <|endoftext|> b", ""),
]
COMFY = [
    ("a (red:1.3) house, (blue:0.4)", "blurry"),
    ("(a:1.5) b (c:0)", "(d:-0.5)"),
    (f"(x:1.2) {LONG}", "short"),
    (f"{LONG} (seven words here in one piece:1.1) {LONG}", f"{LONG} (y:0.7)"),
    ("a " * 72 + "(b b b b b:1.2) c", "z"),
    ("a " * 72 + "(b b b b b b b b b:1.2) c", "z"),
    ("", "x"),
    ("a <|endoftext|> (b:1.2)", ""),
]
