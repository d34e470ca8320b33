"""An enlarged picture whose disk is full, or whose source vanished, is not lost."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.api.picture_names import PictureFacts
from engine.api.remedies import MoveKept
from engine.api.saving import Saving
from engine.api.second_passes import Resampling
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.compile.cache import NetworkCache
from engine.errors import EngineError
from engine.jobs import upscaling
from engine.jobs.upscaling import UpscaleJob, UpscaleListener, upscaled_files
from engine.metadata.texts import TextChunk
from engine.output import Destination
from engine.output.writer import write_picture
from engine.upscalers.upscale import Enlarger, Pixels, Wanted, upscaled


@pytest.fixture
def job(tmp_path: Path) -> UpscaleJob:
    """A small picture, twice as large by Lanczos into the folder `out`."""
    source = tmp_path / "cat.png"
    Image.new("RGB", (6, 4), "teal").save(source)
    wanted = Wanted(scale=2, resampling=Resampling.LANCZOS)
    return UpscaleJob((source,), wanted, Destination(tmp_path / "out"), Saving())


def run(job: UpscaleJob, folder: Path) -> list[Path]:
    listener = UpscaleListener(lambda _done, _total: None, lambda _warning: None, CancelToken())
    images = upscaled_files(job, [], NetworkCache(folder / "cache"), listener)
    return [image.path for image in images]


def test_a_picture_that_finds_the_disk_full_is_kept_elsewhere_and_the_error_says_where(
    job: UpscaleJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(
        pixels: NDArray[np.uint8],
        target: Destination,
        facts: PictureFacts,
        *,
        chunks: Sequence[TextChunk],
        saving: Saving,
    ) -> Path:
        if target.folder == tmp_path / "out":
            raise EngineError(ErrorCode.DISK_FULL, sentence("The disk is full."))
        return write_picture(pixels, target, facts, chunks=chunks, saving=saving)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(upscaling, "write_picture", full)
    with pytest.raises(EngineError, match="full") as caught:
        run(job, tmp_path)
    assert caught.value.code is ErrorCode.DISK_FULL
    (kept,) = (tmp_path / "safelight-rescued").glob("*.png")
    assert caught.value.remedies == (MoveKept(path=str(kept)),)
    with Image.open(kept) as image:
        assert image.size == (12, 8)


def test_a_source_that_vanished_is_named(job: UpscaleJob, tmp_path: Path) -> None:
    job.pictures[0].unlink()
    with pytest.raises(EngineError, match="not there any more") as caught:
        run(job, tmp_path)
    assert caught.value.code is ErrorCode.INPUT_IMAGE_UNREADABLE
    assert not list((tmp_path / "out").glob("*"))


def test_a_source_that_vanishes_during_the_work_loses_nothing(
    job: UpscaleJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def enlarge_and_delete(pixels: Pixels, wanted: Wanted, enlarger: Enlarger | None) -> Pixels:
        job.pictures[0].unlink()
        return upscaled(pixels, wanted, enlarger)

    monkeypatch.setattr(upscaling, "upscaled", enlarge_and_delete)
    (path,) = run(job, tmp_path)
    with Image.open(path) as image:
        assert image.size == (12, 8)
