"""Maps made one after another: networks that stay loaded, and files found by their names."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.api.preprocessors import HedOptions, InvertOptions, PidinetOptions, PreprocessorName
from engine.cancel import CancelToken
from engine.errors import Cancelled, EngineError
from engine.preprocessors import loading
from engine.preprocessors.annotators import AnnotatorKind
from engine.preprocessors.finding import find_weights
from engine.preprocessors.map_maker import MapMaker, MapOrder, WantedMap
from engine.preprocessors.run import make_map
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.preprocessors.annotator_files import loaded, stored
from tests.preprocessors.pictures import noise

HED, PIDINET = HedOptions(resolution=64), PidinetOptions(resolution=64)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "ControlNetHED.pth"
    write_arrays(path, stored(AnnotatorKind.HED))
    return path


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The networks that were loaded."""
    kinds: list[str] = []
    load = loading.load_annotator

    def noted(annotator: Any, *rest: Any) -> Any:
        kinds.append(annotator.kind)
        return load(annotator, *rest)

    monkeypatch.setattr(loading, "load_annotator", noted)
    return kinds


@pytest.fixture
def maker(tmp_path: Path) -> MapMaker:
    return MapMaker(WorkingCopies(tmp_path / "copies"), tmp_path / "tried")


def test_a_network_is_loaded_once_and_anew_after_its_release(
    maker: MapMaker, weights: Path, loads: list[str]
) -> None:
    picture, order = noise(70, 64), MapOrder(HED, weights)
    first = maker.make(picture, order, (), CancelToken())
    network = loaded(weights)
    assert np.array_equal(first, make_map(picture, HED, network))
    network.close()
    assert np.array_equal(first, maker.make(picture, order, (), CancelToken()))
    assert loads == ["hed"]
    maker.release()
    maker.make(picture, order, (), CancelToken())
    assert loads == ["hed", "hed"]


def test_a_file_that_changed_is_loaded_anew(
    maker: MapMaker, weights: Path, loads: list[str]
) -> None:
    maker.make(noise(64, 64), MapOrder(HED, weights), (), CancelToken())
    write_arrays(weights, stored(AnnotatorKind.PIDINET))
    maker.make(noise(64, 64), MapOrder(PIDINET, weights), (), CancelToken())
    assert loads == ["hed", "pidinet"]


def test_a_stopped_network_is_not_used_again(
    maker: MapMaker, weights: Path, loads: list[str]
) -> None:
    order = MapOrder(HED, weights)
    before = maker.make(noise(64, 64), order, (), CancelToken())

    class Late(CancelToken):
        """Is set once the network runs."""

        def calling(self, stop: Any) -> Any:
            self.cancel()
            return super().calling(stop)

    with pytest.raises(Cancelled):
        maker.make(noise(64, 64), order, (), Late())
    assert np.array_equal(before, maker.make(noise(64, 64), order, (), CancelToken()))
    assert loads == ["hed", "hed"]


def test_a_network_that_is_stopped_when_its_map_is_ready_is_not_used_again(
    maker: MapMaker, weights: Path, loads: list[str]
) -> None:
    order = MapOrder(HED, weights)
    before = maker.make(noise(64, 64), order, (), CancelToken())

    class TooLate(CancelToken):
        """Is set once the network has run."""

        @contextmanager
        def calling(self, stop: Any) -> Generator[None]:
            with super().calling(stop):
                yield
                self.cancel()

    assert np.array_equal(before, maker.make(noise(64, 64), order, (), TooLate()))
    assert np.array_equal(before, maker.make(noise(64, 64), order, (), CancelToken()))
    assert loads == ["hed", "hed"]


def test_weights_are_found_by_their_usual_name(maker: MapMaker, weights: Path) -> None:
    picture, folder = noise(64, 64), weights.parent
    found = maker.make(picture, MapOrder(HED), (folder,), CancelToken())
    named = maker.make(picture, MapOrder(HED, weights), (), CancelToken())
    assert np.array_equal(found, named)
    with pytest.raises(EngineError, match=r"needs a file of its own weights"):
        maker.make(picture, MapOrder(PIDINET), (folder,), CancelToken())


def test_a_preprocessor_without_weights_takes_no_file(maker: MapMaker, weights: Path) -> None:
    with pytest.raises(EngineError, match="needs no file"):
        maker.make(noise(9, 9), MapOrder(InvertOptions(), weights), (), CancelToken())


def test_downloads_of_tools_are_looked_into(tmp_path: Path) -> None:
    below = "extensions/sd-webui-controlnet/annotator/downloads/lineart"
    folder = tmp_path / below
    folder.mkdir(parents=True)
    models = tmp_path / "models"
    models.mkdir()
    (folder / "sk_model2.pth").touch()
    assert find_weights(PreprocessorName.LINEART, (models,)) == folder / "sk_model2.pth"
    (models / "SK_Model.pth").touch()
    assert find_weights(PreprocessorName.LINEART, (models,)) == models / "SK_Model.pth"
    assert find_weights(PreprocessorName.CANNY, (models,)) is None
    assert find_weights(PreprocessorName.SOFTEDGE_HED, (models,)) is None


def test_maps_of_one_network_are_made_together_and_told_in_their_order(
    maker: MapMaker, weights: Path, tmp_path: Path, loads: list[str]
) -> None:
    other = tmp_path / "table5_pidinet.pth"
    write_arrays(other, stored(AnnotatorKind.PIDINET))
    orders = MapOrder(HED, weights), MapOrder(PIDINET, other), MapOrder(HED, weights)
    wanted = [WantedMap(noise(64, 64, seed), order) for seed, order in enumerate(orders)]
    made = maker.make_all(wanted, (), CancelToken())
    assert loads == ["hed", "pidinet"]
    for wanted_map, made_map in zip(wanted, made, strict=True):
        alone = maker.make(wanted_map.picture, wanted_map.order, (), CancelToken())
        assert np.array_equal(made_map, alone)
