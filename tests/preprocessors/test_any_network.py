"""Maps by networks of any ONNX file, and files that crash what runs them."""

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper

from backends.base import Device
from backends.cpu import CpuBackend
from engine.api.map_choices import OnnxPixels, OnnxValues
from engine.api.preprocessors import DepthOptions, OnnxOptions
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.errors import EngineError
from engine.preprocessors.ade20k import CLASSES, colours
from engine.preprocessors.map_maker import MapMaker, MapOrder
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.hostile_onnx import growing
from tests.checkpoints.onnx_files import model, node, tensor, write
from tests.preprocessors.pictures import noise

OPEN = ("batch", "channels", "height", "width")
GREY = np.array([0.2, 0.3, 0.5], np.float32).reshape(1, 3, 1, 1)


@pytest.fixture
def maker(tmp_path: Path) -> MapMaker:
    return MapMaker(WorkingCopies(tmp_path / "copies"), tmp_path / "tried")


@pytest.fixture(scope="module")
def knowing(tmp_path_factory: pytest.TempPathFactory) -> MapMaker:
    """One maker for several tests, which tries a network of them all once."""
    folder = tmp_path_factory.mktemp("knowing")
    return MapMaker(WorkingCopies(folder / "copies"), folder / "tried")


def grey(shape: tuple[int | str, ...] = OPEN) -> ModelProto:
    """A network whose result is a picture's grey."""
    return model([node("Conv", "x", "w")], [tensor(GREY, "w")], shape=shape)


def made_by(maker: MapMaker, path: Path, options: OnnxOptions, size: tuple[int, int] = (90, 64)):
    return maker.make(noise(*size), MapOrder(options, path), (), CancelToken())


@pytest.mark.parametrize(
    ("pixels", "values"),
    [
        (OnnxPixels.UNIT, OnnxValues.UNIT),
        (OnnxPixels.SIGNED, OnnxValues.SIGNED),
        (OnnxPixels.LEVELS, OnnxValues.LEVELS),
    ],
)
def test_numbers_go_in_and_out_as_told(
    knowing: MapMaker, tmp_path: Path, pixels: OnnxPixels, values: OnnxValues
) -> None:
    path = write(tmp_path / "grey.onnx", grey())
    options = OnnxOptions(resolution=64, pixels=pixels, values=values)
    made = made_by(knowing, path, options)
    wanted = noise(90, 64) @ GREY.reshape(3)
    assert made.shape == (64, 90, 3)
    assert np.abs(made - wanted[:, :, None]).max() <= 1
    inverted = OnnxOptions(resolution=64, pixels=pixels, values=values, invert=True)
    assert np.array_equal(made_by(knowing, path, inverted), 255 - made)


def test_a_network_of_one_size_sees_that_size(maker: MapMaker, tmp_path: Path) -> None:
    path = write(tmp_path / "grey.onnx", grey((1, 3, 32, 48)))
    options = OnnxOptions(resolution=64)
    made = made_by(maker, path, options)
    assert made.shape == (64, 90, 3)
    # Its least and greatest number, some of them in the padding, are black and white.
    assert made.min() < 40
    assert made.max() > 200


def test_classes_have_the_colours_of_ade20k(maker: MapMaker, tmp_path: Path) -> None:
    """The first class where red is the strongest channel, and so on."""
    picture = np.zeros((64, 96, 3), np.uint8)
    for channel in range(3):
        picture[:, channel * 32 : channel * 32 + 32, channel] = 200
    path = write(tmp_path / "classes.onnx", model([node("Identity", "x")], shape=OPEN))
    options = OnnxOptions(resolution=64, pixels=OnnxPixels.UNIT, values=OnnxValues.CLASSES)
    order = MapOrder(options, path)
    made = maker.make(picture, order, (), CancelToken())
    for channel in range(3):
        assert (made[:, channel * 32 + 4 : channel * 32 + 28] == colours()[channel]).all()
    assert colours().shape == (CLASSES, 3)
    # A wall, a building and a flag.
    assert colours()[[0, 1, 149]].tolist() == [[120, 120, 120], [180, 120, 120], [92, 0, 255]]


def test_results_that_are_no_maps_are_refused(maker: MapMaker, tmp_path: Path) -> None:
    nodes = [node("GlobalAveragePool", "x", to="p"), node("Concat", "p", "p", axis=1)]
    path = write(tmp_path / "one.onnx", model(nodes, shape=OPEN))
    with pytest.raises(EngineError, match="its result is no map") as refused:
        made_by(maker, path, OnnxOptions(resolution=64))
    assert refused.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_networks_that_take_no_picture_are_refused(maker: MapMaker, tmp_path: Path) -> None:
    path = write(tmp_path / "text.onnx", model([node("Relu", "x")], shape=(1, 77)))
    with pytest.raises(EngineError, match="does not take a picture"):
        made_by(maker, path, OnnxOptions(resolution=64))


def test_an_onnx_file_is_no_depth_anything(maker: MapMaker, tmp_path: Path) -> None:
    path = write(tmp_path / "grey.onnx", grey())
    with pytest.raises(EngineError, match="needs a file of its own weights"):
        maker.make(noise(9, 9), MapOrder(DepthOptions(), path), (), CancelToken())


def crashing() -> ModelProto:
    """A convolution that claims another kernel than its weights have: ONNX Runtime aborts."""
    weights = np.ones((4, 3, 3, 3), np.float32)
    conv = helper.make_node(
        "Conv", ["x", "w"], ["c"], kernel_shape=[2**63 - 1, 3], pads=[1, 1, 1, 1]
    )
    return model([conv, node("Relu", "c")], [tensor(weights, "w")], shape=(1, 3, 16, 16))


def test_a_file_that_ends_its_process_is_refused(maker: MapMaker, tmp_path: Path) -> None:
    path = write(tmp_path / "crash.onnx", crashing())
    with pytest.raises(EngineError) as refused:
        made_by(maker, path, OnnxOptions(resolution=64))
    assert refused.value.code in (ErrorCode.CHECKPOINT_UNREADABLE, ErrorCode.BACKEND_FAILED)


@pytest.mark.oracle  # fills 4 GB; tests/graphs/test_onnx_graph.py has a quick one
def test_a_file_that_takes_all_memory_is_refused(maker: MapMaker, tmp_path: Path) -> None:
    made = growing(34)
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, None))
    path = write(tmp_path / "growing.onnx", made)
    with pytest.raises(EngineError) as refused:
        made_by(maker, path, OnnxOptions(resolution=64))
    assert refused.value.code is ErrorCode.OUT_OF_MEMORY


def crashes(*_: object) -> int:
    """The status of a trial that was aborted."""
    return -6


def test_a_harmless_file_is_tried_once(
    maker: MapMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "grey.onnx", grey())
    made_by(maker, path, OnnxOptions(resolution=64))
    maker.release()
    monkeypatch.setattr("engine.preprocessors.onnx_trial._status", crashes)
    made_by(maker, path, OnnxOptions(resolution=64))


def test_a_harmless_file_is_tried_anew_by_another_version_of_the_runtime(
    maker: MapMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "grey.onnx", grey())
    made_by(maker, path, OnnxOptions(resolution=64))
    maker.release()

    def newer(_backend: CpuBackend, _device: Device) -> str:
        return "onnxruntime 99.0 AMD EPYC"

    monkeypatch.setattr("engine.preprocessors.onnx_trial._status", crashes)
    monkeypatch.setattr(CpuBackend, "fingerprint", newer)
    with pytest.raises(EngineError, match="ends the program that runs it"):
        made_by(maker, path, OnnxOptions(resolution=64))


def test_a_full_disk_keeps_no_map_from_being_made(tmp_path: Path) -> None:
    (tmp_path / "tried").touch()
    maker = MapMaker(WorkingCopies(tmp_path / "copies"), tmp_path / "tried" / "onnx")
    path = write(tmp_path / "grey.onnx", grey())
    assert made_by(maker, path, OnnxOptions(resolution=64)).shape == (64, 90, 3)


def test_a_crash_in_a_trial_is_told(
    maker: MapMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "grey.onnx", grey())
    monkeypatch.setattr("engine.preprocessors.onnx_trial._status", crashes)
    with pytest.raises(EngineError, match="ends the program that runs it") as refused:
        made_by(maker, path, OnnxOptions(resolution=64))
    assert refused.value.code is ErrorCode.CHECKPOINT_UNREADABLE


def test_a_file_with_open_sides_is_tried_at_each_size_that_it_runs_at(
    maker: MapMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sizes = write(tmp_path / "grey.onnx", grey()), list[tuple[int, int]]()

    def noted(_path: Path, width: int, height: int, _cancel: object) -> int:
        sizes.append((width, height))
        return -6 if (width, height) == (192, 128) else 0

    monkeypatch.setattr("engine.preprocessors.onnx_trial._status", noted)
    made_by(maker, path, OnnxOptions(resolution=64), (64, 64))
    made_by(maker, path, OnnxOptions(resolution=64), (64, 64))
    assert sizes == [(512, 512), (64, 64)]
    with pytest.raises(EngineError, match="ends the program that runs it"):
        made_by(maker, path, OnnxOptions(resolution=128), (192, 128))
    assert sizes[2:] == [(192, 128)]
