"""Freezes numbers of sd-webui-controlnet's poses and normals.

    python -m tests.preprocessors.freeze_pose CHECKOUT

in the oracle environment with matplotlib, where CHECKOUT is a folder of
github.com/Mikubill/sd-webui-controlnet at commit 56cec5b2958edf3b1807b7e7b2b1b5186dbd2f81. Its own
modules compute everything but the steps of `annotator/midas/__init__.py`, which are repeated here
without MiDaS.

pose.npz holds boxes, pictures as the networks see them, points, drawings, normals, and whole maps.
"""
# pyright: basic, reportMissingImports=false
# OpenCV and the modules of the checkout are absent from the environment that is type-checked.

import importlib
import sys
import tempfile
import types
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import onnxruntime as ort

from tests.preprocessors import pose_inputs as inputs
from tests.preprocessors.freeze_parts import PARTS
from tests.preprocessors.pictures import shapes

FROZEN = Path(__file__).parent / "frozen" / "pose.npz"


class Keypoint(NamedTuple):
    """A point, as in `annotator/openpose/body.py`, which needs more than is installed."""

    x: float
    y: float
    score: float = 1.0
    id: int = -1


def original(checkout: Path, name: str) -> Any:
    """A module of the checkout's `annotator/openpose`."""
    package = types.ModuleType("openpose")
    package.__path__ = [str(checkout / "annotator" / "openpose")]
    body: Any = types.ModuleType("openpose.body")
    kinds: Any = types.ModuleType("openpose.types")
    for module in (body, kinds):
        module.Keypoint = Keypoint
        module.BodyResult = lambda keypoints, *_: types.SimpleNamespace(keypoints=keypoints)
    kinds.HumanPoseResult = lambda *parts: parts
    known = {"openpose": package, "openpose.body": body, "openpose.types": kinds}
    for key, module in known.items():
        sys.modules.setdefault(key, module)
    return importlib.import_module(f"openpose.{name}")


def whole_points(wholebody, points):
    """The results of `Wholebody.__call__` after its networks: drawable parts of each person."""

    class Given(wholebody.Wholebody):
        def __init__(self):
            self.session_det = self.session_pose = None

    detect, find = wholebody.inference_detector, wholebody.inference_pose
    wholebody.inference_detector = lambda *_: np.zeros((1, 4))
    wholebody.inference_pose = lambda *_: (points[..., :2].copy(), points[..., 2].copy())
    try:
        return Given.format_result(Given()(None))
    finally:
        wholebody.inference_detector, wholebody.inference_pose = detect, find


def drawn(util, people, size, parts):
    """`draw_poses` of `annotator/openpose/__init__.py`."""
    canvas = np.zeros((size[1], size[0], 3), np.uint8)
    for body, left, right, face in people:
        if parts[0]:
            canvas = util.draw_bodypose(canvas, body.keypoints)
        if parts[1]:
            canvas = util.draw_handpose(canvas, left)
            canvas = util.draw_handpose(canvas, right)
        if parts[2]:
            canvas = util.draw_facepose(canvas, face)
    return canvas


def normals(depth, threshold):
    """The steps of `apply_midas` after its network."""
    near = depth - depth.min()
    near = near / near.max()
    x = cv2.Sobel(depth, cv2.CV_32F, 1, 0, ksize=3)
    y = cv2.Sobel(depth, cv2.CV_32F, 0, 1, ksize=3)
    z = np.ones_like(x) * np.pi * 2.0
    x[near < threshold] = 0
    y[near < threshold] = 0
    normal = np.stack([x, y, z], axis=2)
    normal /= np.sum(normal**2.0, axis=2, keepdims=True) ** 0.5
    return (normal * 127.5 + 127.5).clip(0, 255).astype(np.uint8)[:, :, ::-1]


def main() -> None:
    """Write the file."""
    checkout = Path(sys.argv[1])
    det, pose, util, wholebody = (
        original(checkout, name) for name in ("cv_ox_det", "cv_ox_pose", "util", "wholebody")
    )
    picture, arrays = shapes(*inputs.SIZE), {}
    seen, _ = det.preprocess(picture, (96, 64))
    arrays["people/seen"] = seen.astype(np.uint8)

    class InferenceSession:
        def __init__(self, *outputs):
            self.outputs = outputs

        def get_inputs(self):
            return [types.SimpleNamespace(name="x")]

        def run(self, *_):
            return [output[None].copy() for output in self.outputs]

    for seed in range(4):
        network = InferenceSession(inputs.proposals(seed, 2.0))
        arrays[f"people/{seed}"] = det.inference_detector(network, picture)
    for number, box in enumerate(inputs.BOXES):
        (part,), _, _ = pose.preprocess(picture, [box], (48, 64))
        arrays[f"joints/seen/{number}"] = part.astype(np.float32)
        points, scores = pose.inference_pose(
            InferenceSession(*inputs.responses(number)), [box], picture
        )
        arrays[f"joints/{number}"] = np.concatenate([points[0], scores[0][:, None]], axis=1)
    for seed in range(6):
        width, height = (120, 90) if seed % 2 else (200, 260)
        found = np.stack([inputs.pose_points(10 * seed + n, width, height) for n in range(2)])
        for number, parts in enumerate(PARTS):
            people = whole_points(wholebody, found)
            arrays[f"drawn/{seed}/{number}"] = drawn(util, people, (width, height), parts)
    for seed in range(2):
        for threshold in (0.0, 0.4):
            arrays[f"normals/{seed}/{threshold}"] = normals(inputs.depth(seed), threshold)
    with tempfile.TemporaryDirectory() as folder:
        people, joints = map(ort.InferenceSession, inputs.write_networks(Path(folder)))
    # Both sides become multiples of 64 (`resize_image_with_pad`).
    width, height = inputs.SIZE
    padded = np.pad(picture, ((0, -height % 64), (0, -width % 64), (0, 0)), mode="edge")
    boxes = det.inference_detector(people, padded)
    points, scores = pose.inference_pose(joints, boxes, padded)
    results = whole_points(wholebody, np.concatenate([points, scores[..., None]], axis=-1))
    whole = drawn(util, results, padded.shape[1::-1], PARTS[0])
    arrays["map"] = whole[:height, :width]
    np.savez_compressed(FROZEN, **arrays)


if __name__ == "__main__":
    main()
