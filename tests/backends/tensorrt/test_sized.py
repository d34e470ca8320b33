"""Sessions that are made when sizes are first known: real ones, on the processor."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from backends.base import BackendError, RunCancelled, Session, ShapeProfile
from backends.cpu import CpuBackend
from backends.tensorrt.ranges import exactly
from backends.tensorrt.sized import SizedSession
from tests.backends.samples import Target, sample_feeds, sample_graph, sample_result


@dataclass
class Made:
    """Makes sessions of the sample network and remembers for what."""

    folder: Path
    profiles: list[ShapeProfile] = field(default_factory=list[ShapeProfile])
    sessions: list[Session] = field(default_factory=list[Session])

    def session(self) -> SizedSession:
        backend = CpuBackend()
        target = Target(backend, backend.probe()[0])
        graph = sample_graph(target, self.folder)

        def make(profile: ShapeProfile) -> Session:
            self.profiles.append(profile)
            self.sessions.append(target.load(graph))
            return self.sessions[-1]

        return SizedSession(graph.inputs, graph.outputs, make)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_a_session_is_made_for_each_size(made: Made) -> None:
    session = made.session()
    assert not made.profiles
    for batch, height, width in ((2, 7, 5), (2, 7, 5), (1, 7, 5)):
        feeds = sample_feeds(batch, height, width)
        result = session.run(feeds)["doubled"]
        expected = sample_result(feeds, session.inputs[0].dtype)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    assert made.profiles == [
        exactly({"batch": 2, "height": 7, "width": 5}),
        exactly({"batch": 1, "height": 7, "width": 5}),
    ]


def test_what_is_pinned_stays_pinned_in_the_next_one(made: Made) -> None:
    session = made.session()
    feeds = sample_feeds()
    session.pin("shift", feeds["shift"])
    first = session.run({"image": feeds["image"]})["doubled"]
    smaller = session.run({"image": feeds["image"][:1]})["doubled"]
    np.testing.assert_allclose(smaller, first[:1], rtol=1e-5)
    session.pin("shift", feeds["shift"] + 1)
    moved = session.run({"image": feeds["image"][:1]})["doubled"]
    assert not np.allclose(moved, smaller)


def test_a_missing_input_and_a_wrong_shape_are_errors(made: Made) -> None:
    session = made.session()
    with pytest.raises(BackendError, match="nothing is given for image, shift"):
        session.run({})
    feeds = sample_feeds()
    with pytest.raises(BackendError, match="input image has shape"):
        session.run({**feeds, "image": feeds["image"][0]})
    assert not made.profiles


def test_cancelling_reaches_what_was_made_and_what_was_not(made: Made) -> None:
    session = made.session()
    session.run(sample_feeds())
    session.cancel()
    with pytest.raises(RunCancelled):
        session.run(sample_feeds())
    with pytest.raises(RunCancelled):
        made.sessions[0].run(sample_feeds())
    fresh = made.session()
    fresh.cancel()
    with pytest.raises(RunCancelled):
        fresh.run(sample_feeds())
    assert len(made.profiles) == 1


def test_closing_frees_what_was_made(made: Made) -> None:
    session = made.session()
    session.run(sample_feeds())
    session.close()
    with pytest.raises(AttributeError):  # ONNX Runtime's session is gone
        made.sessions[0].run(sample_feeds())
