"""Engines for tests: whatever happens, none is left behind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from app.paths import starter_checkpoint
from engine.api.messages import RunJob
from engine.api.request import GenerateRequest
from tests.forks import forked
from tests.server.conversation import Conversation
from tests.tiny_checkpoint import SIDE, write_checkpoint


class Start(Protocol):
    """Starts an engine, a fork without a command; with `ready`, through the handshake."""

    def __call__(
        self,
        command: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        ready: bool = True,
        reads: bool = True,
    ) -> Conversation: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    talks: list[Conversation] = []

    def start_one(
        command: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        ready: bool = True,
        reads: bool = True,
    ) -> Conversation:
        command = command or forked("-m", "engine")
        talk = Conversation(tmp_path, command, environment, reads=reads)
        talks.append(talk)
        if ready:
            talk.configure()
        return talk

    yield start_one
    for talk in talks:
        talk.end()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole small checkpoint in a folder; not to be written to."""
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


MakeJob = Callable[..., RunJob]


@pytest.fixture
def job(tiny: Path, tmp_path: Path) -> MakeJob:
    """A job on the null backend, into the folder `out`; further arguments go into the request."""

    def make(name: str, *, starter: bool = False, **changes: object) -> RunJob:
        fields: dict[str, object] = {
            "prompt": "a red horse",
            "checkpoint": str(starter_checkpoint() if starter else tiny),
            "width": SIDE,
            "height": SIDE,
            "steps": 3,
            "seed": 7,
            "backend": "null",
        }
        request = GenerateRequest(**(fields | changes))  # pyright: ignore[reportArgumentType]
        return RunJob(job=name, request=request, folder=str(tmp_path / "out"))

    return make
