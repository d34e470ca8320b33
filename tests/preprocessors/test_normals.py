"""Normals from depth: sd-webui-controlnet's arithmetic, and the colours of each layout."""

from pathlib import Path

import numpy as np
import pytest

from engine.api.map_choices import NormalLayout
from engine.api.preprocessors import NormalOptions
from engine.preprocessors.annotators import AnnotatorKind
from engine.preprocessors.normals import normal_colours
from engine.preprocessors.run import make_map
from tests.checkpoints.arrays import write_arrays
from tests.preprocessors import pose_inputs as inputs
from tests.preprocessors.annotator_files import loaded, stored
from tests.preprocessors.pictures import noise
from tests.preprocessors.test_pose import FROZEN


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("background", [0.0, 0.4])
def test_colours_are_those_of_sd_webui(seed: int, background: float) -> None:
    with np.load(FROZEN) as frozen:
        wanted = frozen[f"normals/{seed}/{background}"]
    found = normal_colours(inputs.depth(seed), background)[:, :, ::-1]
    away = np.abs(found.astype(int) - wanted.astype(int))
    assert away.max() <= 1
    assert (away > 0).mean() < 0.01


def test_red_is_to_the_left_and_green_up() -> None:
    y, x = np.mgrid[-20:21, -20:21].astype(np.float32)
    ball = np.sqrt(np.maximum(0, 15.0**2 - x**2 - y**2)).astype(np.float32)
    colours = normal_colours(ball, 0.1).astype(int)
    left, right, top, bottom = colours[20, 10], colours[20, 30], colours[10, 20], colours[30, 20]
    assert left[0] > 150 > 100 > right[0]
    assert top[1] > 150 > 100 > bottom[1]
    assert colours[20, 20].tolist() == [127, 127, 255]
    # The background faces the viewer.
    assert colours[0, 0].tolist() == [127, 127, 255]


def test_a_map_is_made_by_a_network_of_depth(tmp_path: Path) -> None:
    path = tmp_path / "depth.safetensors"
    write_arrays(path, stored(AnnotatorKind.DEPTH_ANYTHING))
    network, picture = loaded(path), noise(80, 64)
    options = NormalOptions(resolution=64)
    made = make_map(picture, options, network)
    assert made.shape == (64, 80, 3)
    assert len(np.unique(made)) > 50
    swapped = NormalOptions(resolution=64, layout=NormalLayout.MIDAS)
    assert np.array_equal(make_map(picture, swapped, network), made[:, :, ::-1])
    flat = NormalOptions(resolution=64, depth=1.0, background=0.0)
    assert np.abs(make_map(picture, flat, network).astype(int) - (127, 127, 254)).max() < 60
    network.close()
