"""One tiny checkpoint for all tests of the pipeline."""

from pathlib import Path

import pytest

from tests.tiny_checkpoint import write_checkpoint


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole small checkpoint in a folder; not to be written to."""
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")
