"""Networks' outputs, poses and depths made up for tests, the same ones on each machine."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from tests.checkpoints.onnx_files import model, node, tensor, write

Floats = NDArray[np.float32]
WIDTH, HEIGHT = 288, 384
# Width and height of a picture, and boxes in it as left, top, right and bottom.
SIZE = 320, 200
BOXES = ((20, 10, 120, 190), (24, 14, 118, 186), (170, 40, 290, 195), (150, 150, 160, 160))


def proposals(seed: int, scale: float) -> Floats:
    """A detector's output [8400, 85]: noise, and the boxes of `BOXES` at that scale."""
    random = np.random.default_rng(seed)
    found = random.standard_normal((8400, 85), np.float32)
    found[:, 4:] = random.random((8400, 81), np.float32) * 0.25
    places = [(stride, x, y) for stride in (8, 16, 32)
              for y in range(640 // stride) for x in range(640 // stride)]  # fmt: skip
    for number, box in enumerate(BOXES):
        left, top, right, bottom = (side * scale for side in box)
        x, y, stride = (left + right) / 2, (top + bottom) / 2, (8, 16, 32, 8)[number]
        cell = places.index((stride, int(x // stride), int(y // stride)))
        found[cell, :2] = x / stride - x // stride, y / stride - y // stride
        found[cell, 2:4] = np.log((right - left) / stride), np.log((bottom - top) / stride)
        # The second lies within the first, the last is unsure.
        found[cell, 4:6] = ((0.95, 0.9), (0.9, 0.85), (0.95, 0.8), (0.5, 0.45))[number]
    return found


def responses(seed: int) -> tuple[Floats, Floats]:
    """A network's outputs [133, 576] and [133, 768]: peaks of points, some of them unsure."""
    random = np.random.default_rng(seed)
    across, down = (random.random((133, 2 * side), np.float32) * 0.1 for side in (WIDTH, HEIGHT))
    for point in range(133):
        height = random.uniform(0.15, 1)
        across[point, random.integers(40, 2 * WIDTH - 40)] = height
        down[point, random.integers(40, 2 * HEIGHT - 40)] = random.uniform(0.25, 1)
    across[7] = -1
    return across, down


def pose_points(seed: int, width: int, height: int) -> NDArray[np.float64]:
    """Points [133, 3] of somebody who fills a picture, some of them outside or unsure."""
    random = np.random.default_rng(seed)
    points = random.uniform(-0.1, 1.1, (133, 3)) * (width, height, 1)
    # Faces and hands are near each other.
    points[23:, :2] = points[23:, :2] * 0.2 + random.uniform(0, 0.7, 2) * (width, height)
    points[:, 2] = random.uniform(0.1, 1, 133)
    return points


def depth(seed: int) -> Floats:
    """A depth [50, 70] from 0 on, smooth with a step."""
    y, x = np.mgrid[0:50, 0:70]
    waves = np.sin(x / 9 + seed) * np.cos(y / 7) * 300 + 400 + (x > 40) * 250
    return (waves - waves.min()).astype(np.float32)


def write_networks(folder: Path) -> tuple[Path, Path]:
    """The files of a detector and of a pose network whose results depend little on a picture."""
    shared = (
        tensor(np.full((3, 1), 1e-6, np.float32), "w"),
        tensor(np.array([-1, 1, 3], np.int64), "s"),
    )
    begin = [
        node("GlobalAveragePool", "x", to="mean"),
        node("Reshape", "mean", "s", to="row"),
        node("MatMul", "row", "w", to="little"),
    ]
    found = proposals(1, 2.0)[None]
    people = model(
        [*begin, node("Add", "found", "little")],
        [*shared, tensor(found, "found")],
        shape=(1, 3, 640, 640),
    )
    across, down = (response[None] for response in responses(2))
    adding = [
        helper.make_node("Add", [name, "little"], [f"simcc_{name}"]) for name in ("x_of", "y_of")
    ]
    joints = model(
        [*begin, *adding],
        [*shared, tensor(across, "x_of"), tensor(down, "y_of")],
        shape=("batch", 3, HEIGHT, WIDTH),
        outputs=("simcc_x_of", "simcc_y_of"),
    )
    return (
        write(folder / "yolox_l.onnx", people),
        write(folder / "dw-ll_ucoco_384.onnx", joints),
    )
