"""The engine makes maps to look at, beside other queries, and stops those no longer wanted."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.api.map_messages import CancelMap, MakeMap, MapMade
from engine.api.messages import ListCache, QueryFailed
from engine.api.preprocessors import CannyOptions, HedOptions, InvertOptions, MapTarget
from engine.api.values import ErrorCode
from engine.preprocessors.annotators import AnnotatorKind
from engine.preprocessors.run import make_map
from tests.checkpoints.arrays import write_arrays
from tests.preprocessors.annotator_files import stored
from tests.preprocessors.pictures import shapes
from tests.server.conftest import Start


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "shapes.png"
    Image.fromarray(shapes(120, 90)).save(path)
    return path


def test_a_map_is_made_into_the_cache(start: Start, picture: Path) -> None:
    talk, target = start(), MapTarget(240, 240)
    options = CannyOptions(resolution=None)
    talk.send(MakeMap(query=4, image=str(picture), options=options, target=target))
    made = talk.wait_for(MapMade)
    wanted = make_map(shapes(120, 90), options, target=target)
    assert (made.query, made.width, made.height) == (4, 320, 240)
    assert Path(made.path).is_relative_to(talk.folder / "cache")
    with Image.open(made.path) as image:
        assert np.array_equal(np.asarray(image), wanted)


def test_a_failure_is_the_answer(start: Start, picture: Path) -> None:
    talk = start()
    missing = str(picture.with_name("none.png"))
    talk.send(
        MakeMap(query=1, image=missing, options=InvertOptions()),
        MakeMap(query=2, image=str(picture), options=HedOptions()),
        MakeMap(query=3, image=str(picture), options=CannyOptions(low=0)),
        MakeMap(query=4, image=str(picture), options=InvertOptions(), weights=missing),
    )
    talk.wait_for(QueryFailed, lambda event: event.query == 4)
    assert [(event.query, event.error.code) for event in talk.of(QueryFailed)] == [
        (1, ErrorCode.INPUT_IMAGE_UNREADABLE),
        (2, ErrorCode.REQUEST_INVALID),
        (3, ErrorCode.REQUEST_INVALID),
        (4, ErrorCode.CHECKPOINT_NOT_FOUND),
    ]


def test_a_map_no_longer_wanted_is_stopped(start: Start, picture: Path) -> None:
    weights = picture.with_name("edges.safetensors")
    write_arrays(weights, stored(AnnotatorKind.HED))
    talk = start()
    large = HedOptions(resolution=2048)
    first = MakeMap(query=1, image=str(picture), options=large, weights=str(weights))
    second = MakeMap(query=2, image=str(picture), options=InvertOptions())
    third = MakeMap(query=3, image=str(picture), options=InvertOptions())
    talk.send(first, second, third, CancelMap(query=2), CancelMap(query=1), CancelMap(query=77))
    stopped = [talk.wait_for(QueryFailed, lambda event, at=at: event.query == at) for at in (1, 2)]
    assert {event.error.code for event in stopped} == {ErrorCode.CANCELLED}
    assert talk.wait_for(MapMade).query == 3
    assert not [event for event in talk.of(QueryFailed) if event.query == 77]


def test_other_queries_are_answered_meanwhile(start: Start, picture: Path) -> None:
    weights = picture.with_name("edges.safetensors")
    write_arrays(weights, stored(AnnotatorKind.HED))
    talk = start()
    large = HedOptions(resolution=256)
    talk.send(MakeMap(query=1, image=str(picture), options=large, weights=str(weights)))
    talk.send(ListCache(query=2))
    talk.wait_for(MapMade)
    kinds = [type(event).__name__ for event in talk.events]
    assert kinds.index("CacheListed") < kinds.index("MapMade")
