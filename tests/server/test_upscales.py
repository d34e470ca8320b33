"""Pictures made larger by the engine's process: jobs in the same line, told of before."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from engine.api.messages import (
    CancelJob,
    JobCancelled,
    JobFailed,
    JobFinished,
    JobPhase,
    JobProgress,
    QueryFailed,
)
from engine.api.saving import PictureFormat
from engine.api.upscale_messages import ImageUpscaled, PlanUpscale, RunUpscale, UpscalePlanned
from engine.api.upscaling import UpscaleOutlook, UpscaleRequest
from engine.api.values import ErrorCode, Phase
from engine.jobs.upscale_run import seconds_by_trial
from engine.metadata.record import record_chunks
from engine.output.encoding import encode_picture
from engine.upscalers.reading import read_upscaler
from tests.app.test_upscale_command import pixels
from tests.metadata.records import PLAIN, read_record
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import Conversation
from tests.tiny_checkpoint import write_checkpoint
from tests.upscalers.small import file_of

MakeUpscale = Callable[..., RunUpscale]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A picture of ours with its record."""
    path = tmp_path / "cat.png"
    path.write_bytes(encode_picture(pixels(60, 80), record_chunks(PLAIN), PictureFormat.PNG, 92))
    return path


@pytest.fixture
def upscale(tmp_path: Path, source: Path) -> MakeUpscale:
    """A job on the processor, into the folder `out`; arguments go into the request."""

    def make(name: str, **changes: object) -> RunUpscale:
        fields: dict[str, object] = {"source": str(source), "backend": "cpu", **changes}
        if "upscaler" not in fields:
            fields["upscaler"] = str(file_of(tmp_path, "Real-ESRGAN Compact"))
        request = UpscaleRequest(**fields)  # pyright: ignore[reportArgumentType]
        return RunUpscale(job=name, request=request, folder=str(tmp_path / "out"))

    return make


def outlook(talk: Conversation, query: int, request: UpscaleRequest) -> UpscaleOutlook:
    talk.send(PlanUpscale(query=query, request=request))
    return talk.wait_for(UpscalePlanned, lambda event: event.query == query).outlook


def refusal(talk: Conversation, query: int, request: UpscaleRequest) -> ErrorCode:
    talk.send(PlanUpscale(query=query, request=request))
    return talk.wait_for(QueryFailed, lambda event: event.query == query).error.code


def test_an_upscale_is_told_from_beginning_to_end(
    start: Start, upscale: MakeUpscale, source: Path
) -> None:
    talk = start()
    talk.send(upscale("one", tile=40))
    finished = talk.wait_for(JobFinished)
    talk.shut_down()
    assert [event.phase for event in talk.of(JobPhase)] == [Phase.LOAD, Phase.ENLARGE]
    told = [(event.done, event.total or 0) for event in talk.of(JobProgress)]
    assert told == [(done, told[0][1]) for done in range(told[0][1] + 1)]
    assert told[0][1] > 4
    (saved,) = talk.of(ImageUpscaled)
    assert (saved.source, saved.width, saved.height) == (str(source), 160, 120)
    with Image.open(saved.path) as image:
        assert image.size == (160, 120)
    record = read_record(Path(saved.path))
    assert record is not None
    assert record.request == PLAIN.request
    assert record.upscales
    assert record.upscales[0].source == str(source)
    assert finished.device
    assert finished.timings.enlarge_s > 0


def test_pictures_are_made_and_made_larger_in_one_line(
    start: Start, job: MakeJob, upscale: MakeUpscale
) -> None:
    talk = start()
    talk.send(job("a"), upscale("b"), job("c"))
    talk.wait_for(JobFinished, lambda event: event.job == "c")
    assert [event.job for event in talk.of(JobFinished)] == ["a", "b", "c"]


def test_a_running_upscale_is_cancelled_between_tiles(
    start: Start, upscale: MakeUpscale, tmp_path: Path
) -> None:
    large = tmp_path / "large.png"
    Image.new("RGB", (900, 900)).save(large)
    talk = start()
    talk.send(upscale("one", source=str(large), tile=24))
    talk.wait_for(JobProgress, lambda event: event.done > 1)
    talk.send(CancelJob(job="one"))
    talk.wait_for(JobCancelled)
    assert not talk.of(ImageUpscaled)
    assert not list((tmp_path / "out").glob("*.png"))


def test_an_outlook_tells_size_memory_and_time(
    start: Start, upscale: MakeUpscale, source: Path
) -> None:
    talk, wanted = start(), upscale("one").request
    before = outlook(talk, 1, wanted)
    assert (before.width, before.height, before.runs, before.tiles) == (160, 120, 1, 1)
    assert before.free_bytes > before.peak_bytes > 3 * 160 * 120
    assert not before.is_measured
    talk.send(upscale("one"))
    talk.wait_for(JobFinished)
    after = outlook(talk, 2, wanted)
    assert after.is_measured
    assert after.seconds is not None
    plain = outlook(talk, 3, UpscaleRequest(source=str(source), upscaler="lanczos", scale=3.0))
    assert (plain.width, plain.height, plain.runs) == (240, 180, 0)


def test_the_time_of_attention_is_not_told_by_a_trial(tmp_path: Path) -> None:
    """The weights of convolutions tell the work, and so the device's trial gives a time."""
    told = {
        name: seconds_by_trial(read_upscaler(file_of(tmp_path, name)), 3 * 64 * 64, 100.0)
        for name in ("ESRGAN", "SwinIR", "OmniSR")
    }
    assert told.pop("ESRGAN")
    assert told == {"SwinIR": None, "OmniSR": None}


def _wrong(folder: Path) -> dict[str, tuple[dict[str, object], ErrorCode]]:
    (folder / "words.txt").write_text("no picture")
    checkpoint = write_checkpoint(folder / "checkpoint")
    weights = next((checkpoint / "unet").glob("*.safetensors"))
    return {
        "a source that is gone": (
            {"source": str(folder / "gone.png")}, ErrorCode.INPUT_IMAGE_UNREADABLE,
        ),
        "a source that is no picture": (
            {"source": str(folder / "words.txt")}, ErrorCode.INPUT_IMAGE_UNREADABLE,
        ),
        "an upscaler that is gone": (
            {"upscaler": str(folder / "gone.pth")}, ErrorCode.CHECKPOINT_NOT_FOUND,
        ),
        "a checkpoint as upscaler": (
            {"upscaler": str(weights)}, ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        ),
        "a folder as upscaler": (
            {"upscaler": str(checkpoint)}, ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        ),
        "too large a picture": (
            {"width": 60_000, "height": 60_000}, ErrorCode.REQUEST_INVALID,
        ),
        "a scale out of bounds": ({"scale": 1e9}, ErrorCode.REQUEST_INVALID),
        "a method without a scale": ({"upscaler": "lanczos"}, ErrorCode.REQUEST_INVALID),
    }  # fmt: skip


def test_bad_input_is_refused_by_its_code_before_and_during_the_job(
    start: Start, upscale: MakeUpscale, tmp_path: Path
) -> None:
    talk = start()
    for number, (name, (changes, code)) in enumerate(_wrong(tmp_path).items()):
        command = upscale(name, **changes)
        assert refusal(talk, number, command.request) is code, name
        talk.send(command)
        failed = talk.wait_for(JobFailed, lambda event, name=name: event.job == name)
        assert failed.error.code is code, name
        assert failed.error.message
    assert not list((tmp_path / "out").glob("*"))


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(
    start: Start, upscale: MakeUpscale, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("a file where the folder should be")
    talk = start()
    talk.send(upscale("one"))
    assert talk.wait_for(JobFailed).error.code is ErrorCode.OUTPUT_NOT_WRITABLE
    assert not talk.of(JobProgress)


@pytest.mark.parametrize("size", [(1, 1), (16_000, 2), (3, 16_000)])
def test_the_smallest_and_the_longest_pictures_are_enlarged(
    start: Start, upscale: MakeUpscale, tmp_path: Path, size: tuple[int, int]
) -> None:
    odd = tmp_path / "odd.png"
    Image.new("RGB", size, "teal").save(odd)
    talk = start()
    talk.send(upscale("one", source=str(odd)))
    saved = talk.wait_for(ImageUpscaled)
    assert (saved.width, saved.height) == (2 * size[0], 2 * size[1])
    with Image.open(saved.path) as image:
        assert image.size == (saved.width, saved.height)


def test_a_picture_is_saved_beside_one_of_its_name(start: Start, upscale: MakeUpscale) -> None:
    talk = start()
    talk.send(upscale("one"), upscale("two"))
    talk.wait_for(JobFinished, lambda event: event.job == "two")
    paths = [event.path for event in talk.of(ImageUpscaled)]
    assert all(Path(path).exists() for path in paths)
    assert all(path != other for path, other in itertools.combinations(paths, 2))
