"""Maps asked for by the window's places, made by the real engine."""

from pathlib import Path

import pytest
from PIL import Image

from engine.api.map_messages import MapMade
from engine.api.preprocessors import CannyOptions, HedOptions, InvertOptions
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.sessions import Staged
from tests.preprocessors.pictures import shapes


@pytest.fixture
def picture(tmp_path: Path) -> str:
    path = tmp_path / "shapes.png"
    Image.fromarray(shapes(60, 40)).save(path)
    return str(path)


def test_a_map_is_made_for_its_place_and_the_latest_one_counts(
    staged: Staged, picture: str
) -> None:
    maps, made, failed = staged.session.maps, dict[str, MapMade](), dict[str, ErrorInfo]()
    maps.made.connect(made.__setitem__)
    maps.failed.connect(failed.__setitem__)
    # Asked for before the engine is there.
    maps.request("first", picture, HedOptions())
    maps.request("first", picture, CannyOptions(resolution=64))
    maps.request("second", picture, HedOptions())
    staged.start()
    staged.wait(lambda: "first" in made and "second" in failed)
    assert (made["first"].width, made["first"].height) == (96, 64)
    assert Path(made["first"].path).is_file()
    assert failed["second"].code is ErrorCode.REQUEST_INVALID
    # While the engine runs, too.
    maps.request("third", picture, InvertOptions())
    maps.forget("third")
    maps.request("fourth", picture, InvertOptions())
    staged.wait(lambda: "fourth" in made)
    assert "third" not in made.keys() | failed.keys()
    assert set(failed) == {"second"}
