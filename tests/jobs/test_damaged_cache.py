"""Whatever happens to the files of the cache, the picture is the same, and they are made again.

The files are those that jobs make, so that a new kind of file is tested without a word here.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import DType
from engine.api.values import PrecisionName
from engine.cancel import CancelToken
from engine.checkpoints import known_files
from engine.devices.crash_attribution import CrashMarkers
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.output import destination
from tests import damages
from tests.app.known_hardware import write_verdicts
from tests.devices.test_crash_attribution import CARD
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import write_checkpoint

Pixels = NDArray[np.uint8]


class Made:
    """A cache that jobs have filled, and what their picture looks like."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        checkpoint = write_checkpoint(folder / "checkpoint", dtype=DType.F16)
        # What is found out about the hardware chooses neither.
        chosen = {"backend": "cpu", "precision": PrecisionName.F32}
        self.request = a_request(checkpoint, steps=1, **chosen)
        self.cache = folder / "cache"
        write_verdicts(self.cache)
        for _ in range(2):  # what the first writes beside is there for the second
            self.picture = self.run()
        with CrashMarkers(self.cache / "at-work").running(CARD, CancelToken()):
            (left,) = (self.cache / "at-work").iterdir()
            content = left.read_bytes()
        left.write_bytes(content)
        self._whole = folder / "whole"
        shutil.copytree(self.cache, self._whole)

    def restore(self) -> None:
        """The cache as it was filled."""
        shutil.rmtree(self.cache)
        shutil.copytree(self._whole, self.cache)

    def run(self) -> Pixels:
        """Run the job as a process that has just started does."""
        runner = JobRunner(JobServices.in_cache(self.cache))
        try:
            saver = PictureSaver(destination(f"{self.folder / 'out'}/", 1))
            result = runner.run(self.request, saver, SilentReporter(), CancelToken())
        finally:
            runner.close()
        with Image.open(result.images[0].path) as image:
            return np.asarray(image)

    def kinds(self) -> dict[str, list[Path]]:
        """The files of the cache, relative to it, by the folder they are in and their suffix."""
        kinds: dict[str, list[Path]] = {}
        for path in sorted(self.cache.rglob("*")):
            if path.is_file():
                place = path.relative_to(self.cache)
                name = place.name if place.parent == Path() else f"*{place.suffix}"
                kinds.setdefault((place.parent / name).as_posix(), []).append(place)
        return kinds


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_files, "SETTLED_NS", 0)
        yield Made(tmp_path_factory.mktemp("made"))


def test_jobs_make_every_kind_of_file_that_is_known(made: Made) -> None:
    """A new kind of file is not in this list: see that `engine.cached_state` reads it."""
    kinds = {
        *("devices.json", "durations.json", "files/*.json"),
        *("weights/*.safetensors", "encoded/*.safetensors", "at-work/*.json"),
    }
    assert made.kinds().keys() == kinds


# Every job writes these; `tests.test_cached_state` has the others. Those in `encoded` have other
# names where the device has been tried anew.
_OF_EVERY_JOB = ("durations.json", "weights/*.safetensors")


# Each of them makes a whole picture; tests of each kind of file have every damage.
_SELDOM = (damages.empty, damages.not_utf8, damages.deep_in_an_unknown_field, damages.a_folder)


@pytest.mark.parametrize("damage", damages.parameters(_SELDOM, pytest.mark.oracle))
def test_damaged_files_change_no_picture_and_are_made_again(
    made: Made, damage: damages.Damage
) -> None:
    """All of them at once."""
    made.restore()
    kinds = made.kinds()
    for place in (place for places in kinds.values() for place in places):
        damage(made.cache / place)
    assert np.array_equal(made.run(), made.picture)
    for place in (place for kind in _OF_EVERY_JOB for place in kinds[kind]):
        assert (made.cache / place).is_file(), place


@pytest.mark.slow
@pytest.mark.parametrize("damage", damages.parameters())
def test_each_kind_of_damaged_file_changes_no_picture(made: Made, damage: damages.Damage) -> None:
    """A kind at a time: what is damaged beside it may hide what a file does."""
    made.restore()
    for kind in made.kinds():
        made.restore()
        for place in made.kinds()[kind]:
            damage(made.cache / place)
        assert np.array_equal(made.run(), made.picture), kind


def test_a_file_in_the_place_of_a_folder_changes_no_picture(made: Made) -> None:
    made.restore()
    names = ("files", "weights", "encoded", "at-work", "compiled")
    for name in names:
        shutil.rmtree(made.cache / name, ignore_errors=True)
        (made.cache / name).write_text("somebody's file")
    assert np.array_equal(made.run(), made.picture)
    assert [(made.cache / name).read_text() for name in names] == ["somebody's file"] * len(names)
