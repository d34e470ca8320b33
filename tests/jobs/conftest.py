"""The disk of the tests of jobs: with room for every working copy, whatever runs them."""

import shutil
from pathlib import Path

import pytest

from tests.jobs.machines import GB


@pytest.fixture(autouse=True)
def roomy_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each disk 1 TB of room, for a plan rounds weights whose copies the disk cannot take."""
    usage = shutil.disk_usage

    def ask(path: Path) -> object:
        return usage(path)._replace(free=1000 * GB)

    monkeypatch.setattr(shutil, "disk_usage", ask)
