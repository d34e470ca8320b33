"""One tiny checkpoint for all tests of the pipeline, and one processor that draws it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from backends.cpu import CpuBackend
from engine.api.request import GenerateRequest
from tests.pipeline.jobs import Result, RoomyResidency, run
from tests.tiny_checkpoint import write_checkpoint


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole small checkpoint in a folder; not to be written to."""
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


class Draw(Protocol):
    """Makes the pictures of a request."""

    def __call__(self, request: GenerateRequest) -> Result: ...


@pytest.fixture(scope="module")
def draw() -> Iterator[Draw]:
    """Runs jobs on the processor; as in an engine, networks stay loaded from one to the next."""
    residency = RoomyResidency()

    def run_one(request: GenerateRequest) -> Result:
        return run(request, CpuBackend(), residency=residency)

    yield run_one
    residency.release()
