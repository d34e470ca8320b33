"""Maps as files in the cache: made once, made anew where anything changed, bounded in number."""

import os
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from engine.api.control import ControlLayer, ControlResize
from engine.api.preprocessors import CannyOptions, MapTarget, PidinetOptions
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.errors import Cancelled, EngineError
from engine.jobs import map_previews
from engine.jobs.map_previews import MapPreviews
from engine.jobs.services import JobServices
from engine.preprocessors.annotators import AnnotatorKind
from engine.preprocessors.map_maker import MapOrder, WantedMap
from tests.checkpoints.arrays import write_arrays
from tests.preprocessors.annotator_files import stored
from tests.preprocessors.pictures import shapes

ORDER = MapOrder(CannyOptions(resolution=64))


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "shapes.png"
    Image.fromarray(shapes(120, 90)).save(path)
    return path


@pytest.fixture
def previews(tmp_path: Path) -> MapPreviews:
    return MapPreviews(tmp_path / "maps", JobServices.in_cache(tmp_path / "cache"))


def test_the_same_map_is_made_once(previews: MapPreviews, picture: Path) -> None:
    first = previews.make(picture, ORDER, CancelToken())
    marked = Image.new("RGB", (first.width, first.height), "red")
    marked.save(first.path)
    assert previews.make(picture, ORDER, CancelToken()) == first
    with Image.open(first.path) as image:
        assert image.getpixel((0, 0)) == (255, 0, 0)


def test_a_damaged_map_is_made_anew(previews: MapPreviews, picture: Path) -> None:
    first = previews.make(picture, ORDER, CancelToken())
    first.path.write_bytes(b"no picture")
    again = previews.make(picture, ORDER, CancelToken())
    with Image.open(again.path) as image:
        assert image.size == (first.width, first.height)


def test_another_picture_option_or_target_is_another_map(
    previews: MapPreviews, picture: Path
) -> None:
    options = CannyOptions(resolution=64, low=20)
    orders = (
        ORDER,
        msgspec.structs.replace(ORDER, options=options),
        msgspec.structs.replace(ORDER, target=MapTarget(9, 9)),
    )
    paths = {previews.make(picture, order, CancelToken()).path for order in orders}
    Image.fromarray(np.zeros((90, 120, 3), np.uint8)).save(picture)
    os.utime(picture, ns=(1, 1))
    paths.add(previews.make(picture, ORDER, CancelToken()).path)
    assert len(paths) == 4


def test_only_the_latest_maps_are_kept(
    previews: MapPreviews, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_previews, "_MOST_FILES", 2)
    made: list[Path] = []
    for low in (10, 20, 30):
        options = CannyOptions(resolution=64, low=low)
        made.append(previews.make(picture, MapOrder(options), CancelToken()).path)
        os.utime(made[-1], ns=(low, low))
    assert [path.exists() for path in made] == [False, True, True]


def test_maps_from_the_future_do_not_take_the_place_of_the_one_that_was_asked_for(
    previews: MapPreviews, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maps that were made while the clock was wrong."""
    monkeypatch.setattr(map_previews, "_MOST_FILES", 2)
    future_ns = time.time_ns() + 365 * 24 * 3600 * 10**9
    made: list[Path] = []
    for low in (10, 20, 30):
        options = CannyOptions(resolution=64, low=low)
        made.append(previews.make(picture, MapOrder(options), CancelToken()).path)
        if low < 30:
            os.utime(made[-1], ns=(future_ns, future_ns))
    assert made[-1].exists()
    assert sum(path.exists() for path in made) == 2


def test_a_cancelled_map_leaves_no_file(previews: MapPreviews, picture: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        previews.make(picture, ORDER, token)
    assert not list((picture.parent / "maps").glob("*"))


def test_a_folder_that_cannot_be_written_is_named(previews: MapPreviews, picture: Path) -> None:
    picture.with_name("maps").write_text("a file in the folder's place")
    with pytest.raises(EngineError) as refused:
        previews.make(picture, ORDER, CancelToken())
    assert refused.value.code is ErrorCode.CACHE_NOT_WRITABLE
    assert "maps" in refused.value.message


def test_a_job_makes_the_map_that_was_shown(tmp_path: Path, picture: Path) -> None:
    """Also where its weights are in a folder that the user added."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write_arrays(folder / "table5_pidinet.pth", stored(AnnotatorKind.PIDINET))
    services = JobServices.in_cache(tmp_path / "cache", loras=(folder,))
    layer = ControlLayer(image=str(picture), resize=ControlResize.FILL)
    order = MapOrder(PidinetOptions(resolution=None), target=layer.target(128, 256))
    shown = MapPreviews(tmp_path / "maps", services).make(picture, order, CancelToken())
    with Image.open(picture) as opened, Image.open(shown.path) as preview:
        (made,) = services.named_files().make_maps(
            (WantedMap(np.asarray(opened), order),), CancelToken()
        )
        assert np.array_equal(made, np.asarray(preview))
    assert (shown.width, shown.height) == (128, 96)


@pytest.mark.parametrize("resize", ControlResize)
def test_a_map_of_the_start_picture_is_as_large_as_this_on_a_canvas_that_grows(
    previews: MapPreviews, picture: Path, resize: ControlResize
) -> None:
    """The job makes it so (`ReadLayer.size_on`); the one shown was made for the whole canvas."""
    layer, margins = ControlLayer(image=str(picture), resize=resize), (60, 0, 60, 90)
    order = MapOrder(CannyOptions(resolution=None), target=layer.target(480, 360))
    assert order.target is not None
    grown = msgspec.structs.replace(
        order, target=msgspec.structs.replace(order.target, margins=margins)
    )
    covered = msgspec.structs.replace(order, target=layer.target(240, 180))
    wanted = previews.make(picture, covered, CancelToken())
    shown = previews.make(picture, grown, CancelToken())
    assert (shown.width, shown.height) == (wanted.width, wanted.height) == (240, 180)
    assert shown.path != previews.make(picture, order, CancelToken()).path
