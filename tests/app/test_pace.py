"""The time of the next picture is told from those of the latest one of its checkpoint."""

from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.engine.client import EngineClient
from app.queue.drawing import Drawing, drawings
from app.queue.pace import Pace
from engine.api.features import Features, GuidanceKind
from engine.api.messages import JobFinished, JobPhase, JobProgress
from engine.api.record import Timings
from engine.api.request import GuidanceOptions, InputImage
from engine.api.second_passes import SecondPass
from engine.api.values import InputRole, Phase, SamplerName
from tests.app.checkpoint_features import usual_features
from tests.app.fake_engine import saved_image
from tests.app.silent_process import SilentProcess
from tests.app.supervised import PATIENCE_MS

TIMES = Timings(
    load_s=9, compile_s=90, encode_s=0.5, denoise_s=10, decode_s=1, save_s=0.5, total_s=111
)


def measured(folder: Path, process: SilentProcess) -> Pace:
    """A picture of 64 by 64 pixels in 5 steps took 12 s beside what is done once."""
    pace = Pace(EngineClient(process, process), folder, usual_features)
    saved = saved_image("a", "a.png")
    request = msgspec.structs.replace(saved.record.request, checkpoint="mine", steps=5)
    record = msgspec.structs.replace(saved.record, request=request)
    process.say(msgspec.structs.replace(saved, record=record))
    process.say(JobFinished(job="a", device="fake", timings=TIMES))
    return pace


def test_the_time_grows_with_steps_and_pixels(qtbot: QtBot, tmp_path: Path) -> None:
    process = SilentProcess(tmp_path)
    pace = measured(tmp_path, process)
    assert pace.seconds("mine", (Drawing(64, 64, 5, 5),)) == pytest.approx(12)
    assert pace.seconds("mine", (Drawing(64, 64, 10, 10),)) == pytest.approx(22)
    assert pace.seconds("mine", (Drawing(128, 64, 5, 5),)) == pytest.approx(24)
    assert pace.seconds("another", (Drawing(64, 64, 5, 5),)) is None
    assert pace.seconds_per_step == pytest.approx(2)


def made_again(folder: Path, process: SilentProcess, **settings: object) -> tuple[Pace, float]:
    """A picture with second passes; returns what the same form would then be told."""
    pace = Pace(EngineClient(process, process), folder, usual_features)
    saved = saved_image("a", "a.png")
    changes = {"checkpoint": "mine", "width": 64, "height": 64, "steps": 5, **settings}
    request = msgspec.structs.replace(saved.record.request, **changes)
    record = msgspec.structs.replace(saved.record, request=request)
    process.say(msgspec.structs.replace(saved, record=record, width=128, height=128))
    process.say(JobFinished(job="a", device="fake", timings=TIMES))
    return pace, pace.seconds("mine", drawings(request, request, usual_features)) or 0.0


def test_a_picture_that_was_drawn_again_takes_as_long_the_next_time(
    qtbot: QtBot, tmp_path: Path
) -> None:
    process = SilentProcess(tmp_path)
    pace, seconds = made_again(tmp_path, process, second_passes=(SecondPass(scale=2.0),))
    assert seconds == pytest.approx(12)
    # In A1111 the second pass takes five steps, too, each as long as four of the first.
    assert pace.seconds_per_step == pytest.approx(10 / 25)
    assert pace.seconds("mine", (Drawing(64, 64, 5, 5),)) == pytest.approx(10 / 5 + 2 / 4)


def test_the_steps_that_a_redraw_leaves_out_are_not_timed(qtbot: QtBot, tmp_path: Path) -> None:
    process = SilentProcess(tmp_path)
    inputs = (InputImage(role=InputRole.INIT, path="a.png"),)
    pace, seconds = made_again(tmp_path, process, inputs=inputs, strength=0.5, width=64)
    assert seconds == pytest.approx(12)
    # A1111 runs three of five steps.
    assert pace.seconds_per_step == pytest.approx(10 / 3)
    assert pace.seconds("mine", (Drawing(64, 64, 5, 5),)) == pytest.approx(5 * 10 / 3 + 2)


def drawn(**settings: object) -> Drawing:
    """The only pass of a picture of 64 by 64 pixels in 5 steps of Euler, unless told otherwise."""
    request = msgspec.structs.replace(saved_image("a", "a.png").record.request, steps=5, **settings)
    (drawing,) = drawings(request, request, usual_features)
    return drawing


def test_the_time_grows_with_what_sampler_and_guidance_ask_for(
    qtbot: QtBot, tmp_path: Path
) -> None:
    process = SilentProcess(tmp_path)
    pace = measured(tmp_path, process)
    # Each of five steps without guidance took 2 s, and all else 2 s.
    expected = {
        drawn(guidance=7.0): 22,
        drawn(sampler=SamplerName.HEUN): 20,
        drawn(sampler=SamplerName.HEUN, guidance=7.0): 38,
        drawn(guidance=7.0, guidance_options=GuidanceOptions(range=(0.0, 0.4))): 16,
        drawn(guidance=7.0, guidance_options=GuidanceOptions(pag_scale=3.0)): 32,
    }
    told = {drawing: pace.seconds("mine", (drawing,)) for drawing in expected}
    assert told == {drawing: pytest.approx(seconds) for drawing, seconds in expected.items()}


def test_a_picture_with_another_sampler_tells_the_time_of_the_next_one(
    qtbot: QtBot, tmp_path: Path
) -> None:
    process = SilentProcess(tmp_path)
    slow = {"sampler": SamplerName.DPMPP_SDE, "guidance": 7.0}
    pace, seconds = made_again(tmp_path, process, **slow)
    assert seconds == pytest.approx(12)
    # 9 evaluations of two prompts took 10 s, and a step two of them but for the last.
    assert pace.seconds("mine", (drawn(),)) == pytest.approx(5 * 10 / 18 + 2)
    assert pace.seconds_per_step == pytest.approx(2)


def test_a_second_pass_has_a_sampler_and_a_guidance_of_its_own() -> None:
    second = SecondPass(scale=1.0, sampler=SamplerName.HEUN, guidance=7.0)
    first = saved_image("a", "a.png").record.request
    request = msgspec.structs.replace(first, steps=5, second_passes=(second,))
    predictions = [drawing.predictions for drawing in drawings(request, request, usual_features)]
    assert predictions == [5, 18]


def test_a_distilled_model_predicts_once_whatever_its_guidance() -> None:
    distilled = Features(guidance=(GuidanceKind.EMBEDDED,))
    first = saved_image("a", "a.png").record.request
    second = SecondPass(scale=1.0, checkpoint="other")
    request = msgspec.structs.replace(
        first, checkpoint="flux", guidance=3.5, steps=5, second_passes=(second,)
    )
    known = {"flux": distilled, "other": Features()}
    assert [each.predictions for each in drawings(request, request, known.__getitem__)] == [5, 10]


def test_steps_of_another_checkpoint_are_not_its_own(qtbot: QtBot, tmp_path: Path) -> None:
    process = SilentProcess(tmp_path)
    measured(tmp_path, process).close()
    other = SecondPass(checkpoint="another")
    pace, seconds = made_again(tmp_path, process, second_passes=(other,))
    assert seconds == 0
    assert pace.seconds("mine", (Drawing(64, 64, 5, 5),)) == pytest.approx(12)


def test_the_next_start_knows_the_time(qtbot: QtBot, tmp_path: Path) -> None:
    process = SilentProcess(tmp_path)
    measured(tmp_path, process).close()
    again = Pace(EngineClient(process, process), tmp_path, usual_features)
    assert again.seconds("mine", (Drawing(64, 64, 5, 5),)) == pytest.approx(12)


def test_the_time_is_written_before_the_window_closes(qtbot: QtBot, tmp_path: Path) -> None:
    process = SilentProcess(tmp_path)
    pace = measured(tmp_path, process)
    qtbot.waitUntil((tmp_path / "pace.json").exists, timeout=PATIENCE_MS)
    again = Pace(EngineClient(process, process), tmp_path, usual_features)
    assert again.seconds("mine", (Drawing(64, 64, 5, 5),)) == pytest.approx(12)
    pace.close()


@pytest.mark.parametrize("content", [b"", b"{", b'{"mine": 3}', b"\0" * 10])
def test_a_damaged_file_tells_no_time(qtbot: QtBot, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pace.json").write_bytes(content)
    process = SilentProcess(tmp_path)
    pace = Pace(EngineClient(process, process), tmp_path, usual_features)
    assert pace.seconds("mine", (Drawing(64, 64, 5, 5),)) is None


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def guided_at_first(
    pace: Pace, process: SilentProcess, clock: Clock, end: float, tiles: int = 0
) -> None:
    """A picture of 10 steps, of which those with guidance take 2 s and the others 1 s."""
    process.say(JobPhase(job="a", phase=Phase.DENOISE))
    for step in range(11):
        process.say(JobProgress(job="a", done=step, total=10))
        clock.now += 2 if step < 10 * end else 1
    process.say(JobPhase(job="a", phase=Phase.DECODE))
    for tile in range(tiles + 1):
        process.say(JobProgress(job="a", done=tile, total=tiles))
        clock.now += 9
    saved = saved_image("a", "a.png")
    options = GuidanceOptions(range=(0.0, end))
    request = msgspec.structs.replace(
        saved.record.request, checkpoint="mine", steps=10, guidance=7.0, guidance_options=options
    )
    record = msgspec.structs.replace(saved.record, request=request)
    process.say(msgspec.structs.replace(saved, record=record))
    process.say(JobFinished(job="a", device="fake", timings=TIMES))


def test_the_gain_of_less_guidance_is_measured_by_the_steps(qtbot: QtBot, tmp_path: Path) -> None:
    process, clock = SilentProcess(tmp_path), Clock()
    pace = Pace(EngineClient(process, process), tmp_path, usual_features, clock=clock)
    guided_at_first(pace, process, clock, 1.0)
    assert pace.gain("mine") is None
    guided_at_first(pace, process, clock, 0.5)
    assert pace.gain("mine") == pytest.approx(0.25)
    # It is kept by a picture that cannot tell, and for the next start.
    guided_at_first(pace, process, clock, 1.0)
    assert pace.gain("mine") == pytest.approx(0.25)
    pace.close()
    again = Pace(EngineClient(process, process), tmp_path, usual_features)
    assert again.gain("mine") == pytest.approx(0.25)


def test_the_tiles_of_a_large_picture_are_no_steps(qtbot: QtBot, tmp_path: Path) -> None:
    process, clock = SilentProcess(tmp_path), Clock()
    pace = Pace(EngineClient(process, process), tmp_path, usual_features, clock=clock)
    guided_at_first(pace, process, clock, 0.5, tiles=36)
    assert pace.gain("mine") == pytest.approx(0.25)
