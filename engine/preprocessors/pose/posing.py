"""A picture's people found and drawn."""

from collections.abc import Iterator

import numpy as np

from backends.base import Array, Cancellation
from engine.api.preprocessors import PoseOptions
from engine.api.sentences import sentence
from engine.preprocessors.annotators import AnnotatorKind
from engine.preprocessors.onnx_files import LoadedOnnx, mismatch
from engine.preprocessors.pose import joints, people
from engine.preprocessors.pose.skeleton import draw_pose
from engine.preprocessors.scales import Pixels, padded, resized

# Width and height that the networks see, where their files leave them open.
PEOPLE_SIZE, JOINTS_SIZE = (640, 640), (288, 384)
# One person, and the points of the network's outputs.
_ALL = 1, joints.POINTS


class PoseNetworks:
    """The two networks that find people and their joints."""

    kind = AnnotatorKind.POSE

    def __init__(self, people: LoadedOnnx, joints: LoadedOnnx) -> None:
        self.people, self.joints = people, joints

    def heed(self, cancel: Cancellation) -> None:
        """Have the runs from now on stopped by another request."""
        self.people.heed(cancel)
        self.joints.heed(cancel)

    def close(self) -> None:
        """Free the networks' memory."""
        self.people.close()
        self.joints.close()


def pose(picture: Pixels, options: PoseOptions, networks: PoseNetworks) -> Pixels:
    """Return the people of a picture as coloured figures on black.

    Where something but no person is found, the whole picture counts as one, as there.
    """

    def drawn(whole: Pixels) -> Pixels:
        found = [joints.as_openpose(points) for points in _all_points(whole, networks)]
        height, width = whole.shape[:2]
        body, hands, face = options.body, options.hands, options.face
        return draw_pose(width, height, found, body=body, hands=hands, face=face)

    return padded(resized(picture, options.resolution), drawn)


def _all_points(picture: Pixels, networks: PoseNetworks) -> Iterator[Array]:
    """Yield the points [133, 3] of each person."""
    boxes = _boxes(picture, networks.people)
    if boxes is None:
        return
    height, width = picture.shape[:2]
    for box in boxes if len(boxes) else [np.array([0, 0, width, height])]:
        yield _points(picture, box.astype(np.float64), networks.joints)


def _boxes(picture: Pixels, network: LoadedOnnx) -> Array | None:
    width, height = network.file.size(*PEOPLE_SIZE)
    seen, scale = people.seen_picture(picture, width, height)
    found = network(seen)[0]
    wanted = (1, people.cells(width, height))
    if found.shape[:2] != wanted or found.ndim != 3 or found.shape[2] <= people.HEAD:
        raise mismatch(network.file.path.name, sentence("it does not find people"))
    return people.boxes_of_people(found[0], width, height, scale)


def _points(picture: Pixels, box: Array, network: LoadedOnnx) -> Array:
    width, height = network.file.size(*JOINTS_SIZE)
    crop = joints.crop_around(box, width, height)
    found = network(joints.seen_person(picture, crop, width, height))
    if len(found) != 2 or any(
        pose.shape[:2] != (1, joints.POINTS) or pose.ndim != 3 for pose in found
    ):
        raise mismatch(network.file.path.name, sentence("it does not find joints"))
    return joints.points_of(found[0][0], found[1][0], crop, width, height)
