"""A job goes on where a disk fails, and draws its words."""

import errno
import os
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.paths import starter_checkpoint
from engine.api.picture_names import PictureFacts
from engine.api.remedies import ChooseFolder, MoveKept
from engine.api.request import GenerateRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.errors import EngineError
from engine.jobs.attempts import JobResult
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.output import Destination, destination
from engine.output.writer import UnwrittenPicture
from tests.metadata.records import read_record

REQUEST = GenerateRequest(
    prompt="a red house", checkpoint=str(starter_checkpoint()), steps=2, width=64, height=64, seed=3
)


class Listener(SilentReporter):
    """Collects what a job saves."""

    def __init__(self) -> None:
        self.saved: list[SavedImage] = []

    def image_saved(self, image: SavedImage) -> None:
        self.saved.append(image)


def run(folder: Path, listener: Listener, request: GenerateRequest = REQUEST) -> JobResult:
    saver = PictureSaver(destination(str(folder), request.count))
    return JobRunner(JobServices.in_cache(folder / "cache")).run(
        request, saver, listener, CancelToken()
    )


def test_a_picture_that_cannot_be_saved_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuge = tmp_path / "refuge"
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(refuge))
    from engine.output import write_picture as write

    def full_disk(
        pixels: np.ndarray, target: Destination, facts: PictureFacts, **rest: object
    ) -> Path:
        if target.folder == tmp_path / "out":
            raise EngineError(
                ErrorCode.DISK_FULL, sentence("The disk is full."), sentence("Free some space.")
            )
        return write(pixels, target, facts, **rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr("engine.jobs.saving.write_picture", full_disk)
    listener = Listener()
    with pytest.raises(EngineError) as caught:
        run(tmp_path / "out", listener)
    assert caught.value.code is ErrorCode.DISK_FULL
    (kept,) = refuge.rglob("*.png")
    assert caught.value.remedies == (MoveKept(path=str(kept)),)
    assert read_record(kept) is not None
    assert listener.saved == []


def test_a_picture_that_no_disk_takes_is_in_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every disk is full, Python knows no folder of temporary files."""

    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.gettempdir", none)
    monkeypatch.setattr("engine.output.writer.sync_file", full)
    with pytest.raises(UnwrittenPicture) as caught:
        run(tmp_path / "out", Listener())
    assert caught.value.code is ErrorCode.DISK_FULL
    assert caught.value.remedies == (ChooseFolder(),)
    kept = tmp_path / caught.value.file.name
    kept.write_bytes(caught.value.file.content)
    assert read_record(kept) is not None


def test_each_picture_draws_its_own_words_and_what_had_no_effect_is_told_once(
    tmp_path: Path,
) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "thing.txt").write_text("cat\nhorse\nhouse\nboat\n")
    template = "{red|blue|green} __thing__ <lora:ink:0.8>"
    request = msgspec.structs.replace(REQUEST, prompt=template, backend="null", count=6)
    runner = JobRunner(JobServices.in_cache(tmp_path / "cache", wildcards=tmp_path / "words"))

    def made(request: GenerateRequest) -> JobResult:
        saver = PictureSaver(destination(str(tmp_path / "out" / ""), request.count))
        return runner.run(request, saver, SilentReporter(), CancelToken())

    result = made(request)
    done = [image.record.request for image in result.images]
    assert {request.prompt_template for request in done} == {template}
    assert len({request.prompt for request in done}) > 1
    assert [warning.message for warning in result.warnings] == [
        "The LoRA ink was not found; the picture was made without it."
    ]
    again = made(msgspec.structs.replace(request, seed=done[4].seed, count=1))
    assert again.images[0].record.request.prompt == done[4].prompt
    as_text = made(msgspec.structs.replace(request, expand_wildcards=False, count=1))
    assert as_text.images[0].record.request.prompt == template
    assert as_text.images[0].record.request.prompt_template is None
