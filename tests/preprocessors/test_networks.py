"""Preprocessors with weights: their files, and the maps of any picture."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array
from engine.api.preprocessors import (
    PREPROCESSORS,
    CannyOptions,
    DepthOptions,
    HedOptions,
    MapOptions,
    PreprocessorName,
    name_of,
)
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.preprocessors.annotators import AnnotatorKind, LoadedAnnotator, read_annotator
from engine.preprocessors.networks import depth_size
from engine.preprocessors.run import make_map, require_network
from tests.checkpoints.arrays import write_arrays
from tests.preprocessors.annotator_files import EMITTED, loaded, stored
from tests.preprocessors.pictures import noise

KINDS = {
    PreprocessorName.LINEART: AnnotatorKind.LINE_DRAWING,
    PreprocessorName.SOFTEDGE_HED: AnnotatorKind.HED,
    PreprocessorName.SOFTEDGE_PIDINET: AnnotatorKind.PIDINET,
    PreprocessorName.SCRIBBLE_HED: AnnotatorKind.HED,
    PreprocessorName.SCRIBBLE_PIDINET: AnnotatorKind.PIDINET,
    PreprocessorName.DEPTH_ANYTHING_V2: AnnotatorKind.DEPTH_ANYTHING,
    PreprocessorName.NORMAL_DEPTH: AnnotatorKind.DEPTH_ANYTHING,
}
OF_ONNX = {PreprocessorName.DW_OPENPOSE, PreprocessorName.ONNX}
with_weights = pytest.mark.parametrize(
    "options",
    [
        msgspec.structs.replace(preprocessor.options(), resolution=64)
        for name, preprocessor in PREPROCESSORS.items()
        if name in KINDS
    ],
    ids=name_of,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[AnnotatorKind, Path]:
    folder = tmp_path_factory.mktemp("weights")
    paths = {kind: folder / f"{kind}.safetensors" for kind in EMITTED}
    for kind, path in paths.items():
        write_arrays(path, stored(kind))
    return paths


@pytest.fixture(scope="module")
def networks(files: dict[AnnotatorKind, Path]) -> Iterator[Mapping[AnnotatorKind, LoadedAnnotator]]:
    annotators = {kind: loaded(path) for kind, path in files.items()}
    yield annotators
    for annotator in annotators.values():
        annotator.close()


def test_every_preprocessor_with_weights_has_a_network() -> None:
    with_files = {name for name, preprocessor in PREPROCESSORS.items() if preprocessor.files}
    assert with_files == set(KINDS) | OF_ONNX


@pytest.mark.parametrize("kind", EMITTED)
def test_a_file_is_recognised_by_its_keys(
    files: dict[AnnotatorKind, Path], kind: AnnotatorKind
) -> None:
    assert read_annotator(files[kind]).kind is kind


@with_weights
# A picture of few pixels that is not square; `make oracle` has a larger one.
@pytest.mark.parametrize("size", [pytest.param((90, 70), marks=pytest.mark.oracle), (3, 2)])
def test_a_map_has_the_pictures_shape(
    networks: Mapping[AnnotatorKind, LoadedAnnotator], options: MapOptions, size: tuple[int, int]
) -> None:
    network = networks[KINDS[name_of(options)]]
    made = make_map(noise(*size), options, network)
    assert made.shape == (64, round(64 * size[0] / size[1]), 3)
    assert np.array_equal(made, make_map(noise(*size), options, network))


@with_weights
def test_a_black_picture_has_a_map(
    networks: Mapping[AnnotatorKind, LoadedAnnotator], options: MapOptions
) -> None:
    made = make_map(np.zeros((80, 64, 3), np.uint8), options, networks[KINDS[name_of(options)]])
    assert made.shape == (80, 64, 3)


def test_depth_goes_from_black_to_white(
    networks: Mapping[AnnotatorKind, LoadedAnnotator],
) -> None:
    made = make_map(
        noise(64, 64), DepthOptions(resolution=64), networks[AnnotatorKind.DEPTH_ANYTHING]
    )
    assert (made.min(), made.max()) == (0, 255)


def test_safe_edges_have_three_levels(
    networks: Mapping[AnnotatorKind, LoadedAnnotator],
) -> None:
    options = HedOptions(resolution=64, safe=True)
    made = make_map(noise(64, 64), options, networks[AnnotatorKind.HED])
    assert set(np.unique(made)) <= {0, 127, 255}


@pytest.mark.parametrize(
    ("picture", "seen"),
    [((512, 512), (518, 518)), ((512, 768), (518, 784)), ((2048, 64), (16576, 518))],
)
def test_depth_anything_sees_multiples_of_14(
    picture: tuple[int, int], seen: tuple[int, int]
) -> None:
    assert depth_size(*picture) == seen


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        (PreprocessorName.LINEART, None, "Lineart needs a file of its own weights"),
        (PreprocessorName.LINEART, AnnotatorKind.HED, "Lineart needs a file of its own weights"),
        (PreprocessorName.CANNY, AnnotatorKind.HED, "Canny needs no file"),
    ],
)
def test_a_file_for_another_preprocessor_is_refused(
    name: PreprocessorName, kind: AnnotatorKind | None, words: str
) -> None:
    with pytest.raises(EngineError, match=words):
        require_network(name, kind)


def test_weights_are_asked_for() -> None:
    with pytest.raises(EngineError, match="needs a file") as refused:
        make_map(noise(9, 9), DepthOptions())
    assert "depth_anything_v2_vits.pth" in refused.value.hint
    assert make_map(noise(9, 9), CannyOptions(resolution=64)).shape == (64, 64, 3)


def without_a_layer(arrays: dict[str, Array]) -> dict[str, Array]:
    return {name: array for name, array in arrays.items() if ".layer.7." not in name}


@pytest.mark.parametrize(
    "arrays",
    [
        {"model.diffusion_model.out.2.weight": np.zeros((4, 320, 3, 3), np.float32)},
        without_a_layer(stored(AnnotatorKind.DEPTH_ANYTHING)),
    ],
)
def test_another_file_is_refused(tmp_path: Path, arrays: dict[str, Array]) -> None:
    path = tmp_path / "other.safetensors"
    write_arrays(path, arrays)
    with pytest.raises(EngineError) as refused:
        read_annotator(path)
    assert refused.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY


def test_a_file_that_lacks_a_weight_is_refused(tmp_path: Path) -> None:
    arrays = stored(AnnotatorKind.HED)
    del arrays["block4.convs.1.bias"]
    write_arrays(tmp_path / "cut.safetensors", arrays)
    with pytest.raises(EngineError) as refused:
        loaded(tmp_path / "cut.safetensors")
    assert refused.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_a_map_without_numbers_is_refused(tmp_path: Path) -> None:
    arrays = stored(AnnotatorKind.HED)
    arrays["block1.projection.weight"][:] = 3e38
    write_arrays(tmp_path / "broken.safetensors", arrays)
    network = loaded(tmp_path / "broken.safetensors")
    with pytest.raises(EngineError) as refused:
        make_map(noise(64, 64), HedOptions(resolution=64), network)
    assert refused.value.code is ErrorCode.NUMERIC_FAILURE
    network.close()
