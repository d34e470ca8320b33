"""Poses: sd-webui-controlnet's numbers, and files that are no networks for them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.base import Array
from engine.api.preprocessors import PoseOptions
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.errors import EngineError
from engine.preprocessors.map_maker import MapMaker, MapOrder
from engine.preprocessors.pose import joints, people
from engine.preprocessors.pose.skeleton import draw_pose
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.onnx_files import small_network, write
from tests.preprocessors import pose_inputs as inputs
from tests.preprocessors.freeze_parts import PARTS
from tests.preprocessors.pictures import shapes

FROZEN = Path(__file__).parent / "frozen" / "pose.npz"
SCALE = 2.0


@pytest.fixture(scope="module")
def frozen() -> Mapping[str, NDArray[np.generic]]:
    with np.load(FROZEN) as arrays:
        return dict(arrays)


def few_differ(found: Array, wanted: Array, share: float) -> bool:
    """Levels differ by at most one, in a small share of the places."""
    away = np.abs(found.astype(int) - wanted.astype(int))
    return bool(away.max() <= 1 and (away > 0).mean() < share)


def test_the_detector_sees_a_picture_on_grey(frozen: Mapping[str, Array]) -> None:
    seen, scale = people.seen_picture(shapes(*inputs.SIZE), 64, 96)
    assert scale == 0.2
    assert few_differ(seen[0], frozen["people/seen"], 0.02)


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_found(frozen: Mapping[str, Array], seed: int) -> None:
    found = people.boxes_of_people(inputs.proposals(seed, SCALE), 640, 640, SCALE)
    assert found is not None
    assert np.array_equal(found, frozen[f"people/{seed}"])
    assert len(found) == 2


def test_nothing_at_all_is_not_a_picture_without_people() -> None:
    nothing = inputs.proposals(0, SCALE)
    nothing[:, 4] = 0
    assert people.boxes_of_people(nothing, 640, 640, SCALE) is None
    nothing[7, 4:7] = 1, 0, 1
    found = people.boxes_of_people(nothing, 640, 640, SCALE)
    assert found is not None
    assert len(found) == 0


@pytest.mark.parametrize("number", range(len(inputs.BOXES)))
def test_joints_are_found(frozen: Mapping[str, Array], number: int) -> None:
    picture, box = shapes(*inputs.SIZE), np.array(inputs.BOXES[number], np.float64)
    crop = joints.crop_around(box, 48, 64)
    seen = joints.seen_person(picture, crop, 48, 64)[0].transpose(1, 2, 0)
    # A level of one channel is at least 1 / 58.395.
    away = np.abs(seen - frozen[f"joints/seen/{number}"]) * 58.395
    assert away.max() < 1.1
    assert (away > 0.1).mean() < 0.03
    crop = joints.crop_around(box, inputs.WIDTH, inputs.HEIGHT)
    found = joints.points_of(*inputs.responses(number), crop, inputs.WIDTH, inputs.HEIGHT)
    assert np.abs(found - frozen[f"joints/{number}"]).max() < 1e-9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("number", range(len(PARTS)))
def test_poses_are_drawn(frozen: Mapping[str, Array], seed: int, number: int) -> None:
    width, height = (120, 90) if seed % 2 else (200, 260)
    found = [
        joints.as_openpose(inputs.pose_points(10 * seed + person, width, height))
        for person in range(2)
    ]
    body, hands, face = PARTS[number]
    drawn = draw_pose(width, height, found, body=body, hands=hands, face=face)
    assert np.array_equal(drawn, frozen[f"drawn/{seed}/{number}"])


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each network is tried in a process of its own once for all tests."""
    return tmp_path_factory.mktemp("tried")


@pytest.fixture
def maker(tmp_path: Path, tried: Path) -> MapMaker:
    return MapMaker(WorkingCopies(tmp_path / "copies"), tried)


# The picture keeps its size: its sides are the resolution and a multiple of 64.
ORDER = PoseOptions(resolution=200)


def test_a_whole_map_is_that_of_sd_webui(
    frozen: Mapping[str, Array], maker: MapMaker, tmp_path: Path
) -> None:
    _, weights = inputs.write_networks(tmp_path)
    picture = shapes(*inputs.SIZE)
    made = maker.make(picture, MapOrder(ORDER, weights), (), CancelToken())
    assert made.shape == (200, 320, 3)
    # The detector beside it is found, also by both names below a folder.
    assert np.array_equal(made, maker.make(picture, MapOrder(ORDER), (tmp_path,), CancelToken()))
    maker.release()
    assert np.array_equal(made, frozen["map"])


def test_parts_that_are_not_wanted_are_left_out(maker: MapMaker, tmp_path: Path) -> None:
    _, weights = inputs.write_networks(tmp_path)
    bare = PoseOptions(resolution=200, body=False, hands=False, face=False)
    picture = shapes(*inputs.SIZE)
    assert not maker.make(picture, MapOrder(bare, weights), (), CancelToken()).any()
    maker.release()


def test_a_detector_that_is_missing_is_named(maker: MapMaker, tmp_path: Path) -> None:
    detector, weights = inputs.write_networks(tmp_path)
    detector.unlink()
    with pytest.raises(EngineError) as refused:
        maker.make(shapes(*inputs.SIZE), MapOrder(ORDER, weights), (), CancelToken())
    assert "yolox_l.onnx" in str(refused.value.advice)


def test_files_of_other_networks_are_refused(maker: MapMaker, tmp_path: Path) -> None:
    detector, weights = inputs.write_networks(tmp_path)
    write(weights, small_network())
    with pytest.raises(EngineError) as refused:
        maker.make(shapes(*inputs.SIZE), MapOrder(ORDER, weights), (), CancelToken())
    assert refused.value.code is ErrorCode.CHECKPOINT_MISMATCH
    write(detector, small_network())
    with pytest.raises(EngineError) as refused:
        maker.make(shapes(*inputs.SIZE), MapOrder(ORDER, weights), (), CancelToken())
    assert refused.value.code is ErrorCode.CHECKPOINT_MISMATCH
    maker.release()


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 1), (16_000, 900)])
def test_a_picture_of_any_shape_has_a_pose(
    maker: MapMaker, tmp_path: Path, width: int, height: int
) -> None:
    _, weights = inputs.write_networks(tmp_path)
    picture = np.full((height, width, 3), 90, np.uint8)
    order = MapOrder(PoseOptions(resolution=64), weights)
    made = maker.make(picture, order, (), CancelToken())
    assert made.shape == (64, round(64 * width / height), 3)
    maker.release()
