"""The time of a picture counts all that works in it, as measured here, else by weights."""

from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.engine.client import EngineClient
from app.queue.drawing import REFERENCE, Drawing, drawings
from app.queue.pace import Pace
from app.queue.pace_figures import PaceFigures, PictureCosts
from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.messages import JobFinished, JobPhase
from engine.api.preprocessors import ReferenceOptions
from engine.api.record import ResolvedRequest, Timings
from engine.api.request import RefinerChoice
from engine.api.second_passes import SecondPass
from engine.api.values import Phase
from tests.app.checkpoint_features import usual_features
from tests.app.fake_engine import saved_image
from tests.app.silent_process import SilentProcess

# The parameters of files; a T2I-Adapter's network runs once.
KNOWN = {"mine": 800.0, "fine": 1600.0, "edges": 200.0, "adapter": 0.0}
# 64 x 64 pixels: 1 s for a prediction, 2 s for the rest.
PLAIN = PaceFigures(pixels=64 * 64, prediction_s=1.0, rest_s=2.0)
EDGES = ControlLayer(image="map.png", network="edges")


def passes(**settings: object) -> tuple[Drawing, ...]:
    """The passes of a picture of 64 by 64 pixels in 10 steps of one prediction each."""
    return drawings(a_request(**settings), a_request(**settings), usual_features)


def a_request(**settings: object) -> ResolvedRequest:
    first = saved_image("a", "a.png").record.request
    usual = {"checkpoint": "mine", "steps": 10, "width": 64, "height": 64}
    return msgspec.structs.replace(first, **{**usual, **settings})


def told(figures: PaceFigures = PLAIN, **settings: object) -> float:
    """The seconds of a picture's steps, by the figures of its checkpoint alone."""
    costs = PictureCosts({"mine": figures}, KNOWN.get)
    drawn = passes(**settings)
    return (costs.seconds("mine", drawn) or 0) - 2 * drawn[-1].area / 64**2


def took(seconds: float) -> Timings:
    """The times of a picture whose steps took so long, and the rest 2 s."""
    nothing = dict.fromkeys(("load_s", "compile_s", "encode_s", "save_s", "total_s"), 0.0)
    return Timings(**nothing, denoise_s=seconds, decode_s=2)


def learnt(seconds: float, figures: PaceFigures | None = PLAIN, **settings: object) -> PaceFigures:
    """The figures after a picture whose steps took so long."""
    before = {} if figures is None else {"mine": figures}
    times = took(seconds)
    costs = PictureCosts(before, KNOWN.get)
    return costs.measured(times, passes(**settings), (), "mine")["mine"]


def test_a_control_network_takes_its_weights_part_of_a_prediction() -> None:
    assert told() == pytest.approx(10)
    assert told(controls=(EDGES,)) == pytest.approx(12.5)
    assert told(controls=(EDGES, EDGES)) == pytest.approx(15)
    # Of one whose weights nobody read, those of SD 1.5's.
    unknown = msgspec.structs.replace(EDGES, network="unread")
    assert told(controls=(unknown,)) == pytest.approx(14.2)


def test_a_control_network_counts_in_the_steps_in_which_it_acts() -> None:
    half = msgspec.structs.replace(EDGES, range=(0.0, 0.5))
    assert told(controls=(half,)) == pytest.approx(11.25)
    off = msgspec.structs.replace(EDGES, enabled=False)
    assert told(controls=(off,)) == pytest.approx(10)


def test_a_network_that_runs_once_takes_no_step_longer() -> None:
    adapter = msgspec.structs.replace(EDGES, network="adapter")
    assert told(controls=(adapter,)) == pytest.approx(10)


def test_a_reference_runs_the_denoiser_once_more() -> None:
    reference = ControlLayer(image="map.png", preprocessor=ReferenceOptions())
    assert [each.network for each in passes(controls=(reference,))[0].beside] == [REFERENCE]
    assert told(controls=(reference,)) == pytest.approx(20)


def test_a_control_network_is_told_the_next_time_as_it_took_here() -> None:
    figures = learnt(12.0, controls=(EDGES,))
    assert figures.beside == {"edges": pytest.approx(0.2)}
    assert told(figures, controls=(EDGES,)) == pytest.approx(12)
    assert told(figures) == pytest.approx(10)


def test_a_time_no_control_network_takes_is_the_denoisers() -> None:
    """A slower device makes everything slower, not the network that is beside it today."""
    figures = learnt(50.0, controls=(EDGES,))
    assert figures.beside == {}
    assert told(figures) == pytest.approx(40)
    assert told(figures, controls=(EDGES,)) == pytest.approx(50)


def test_a_first_picture_with_a_control_network_tells_the_time_without_it() -> None:
    figures = learnt(12.5, None, controls=(EDGES,))
    assert told(figures) == pytest.approx(10)


def test_pictures_of_another_size_do_not_tell_what_a_network_takes() -> None:
    figures = learnt(40.0, controls=(EDGES,), width=128)
    assert figures.beside == {}
    assert figures.prediction_s == pytest.approx(40 / 12.5)


def test_image_prompts_are_seen_once_and_attended_to_as_long_as_measured() -> None:
    prompt = ImagePrompt(image="cat.png", adapter="face", further=("dog.png",))
    parameters = 800e6
    costs = PictureCosts({"mine": PLAIN}, {"mine": parameters}.get)
    seeing = costs.seconds("mine", passes(image_prompts=(prompt,))) or 0
    # A prediction over 64 cells has 1/64 of the products of one of 64 x 64.
    products = 340e9 * parameters / 860e6 / 64
    assert seeing - 12 == pytest.approx(2 * 632e6 * 257 / products)
    figures = learnt(11.0, image_prompts=(prompt,))
    assert figures.beside == {"face": pytest.approx(0.1)}
    assert told(figures, image_prompts=(prompt,)) == pytest.approx(11)
    assert told(figures) == pytest.approx(10)


def test_tiles_take_the_time_of_what_they_show_twice() -> None:
    whole = SecondPass(scale=2.0, strength=1.0)
    tiled = msgspec.structs.replace(whole, tile=64)
    # 16 cells a side in tiles of 8, which are at most 6 apart: 3 x 3 tiles.
    assert [each.seen for each in passes(second_passes=(tiled,))] == [64 * 64, 9 * 64 * 64]
    assert passes(second_passes=(whole,))[1].seen == 4 * 64 * 64
    assert told(second_passes=(tiled,)) - told(second_passes=(whole,)) == pytest.approx(50)
    larger = msgspec.structs.replace(whole, tile=256)
    assert passes(second_passes=(larger,))[1].seen == 4 * 64 * 64


def test_a_refiner_takes_its_steps_with_its_own_weights() -> None:
    refiner = RefinerChoice(checkpoint="fine", switch_at=0.8)
    drawn = passes(refiner=refiner)
    assert [(each.checkpoint, each.steps, each.predictions) for each in drawn] == [
        (None, 8, 8),
        ("fine", 2, 2),
    ]
    assert told(refiner=refiner) == pytest.approx(8 + 2 * 2)
    second = SecondPass(scale=2.0, strength=1.0)
    assert [
        (each.width, each.checkpoint)
        for each in passes(refiner=refiner, second_passes=(second,), controls=(EDGES,))
    ] == [(64, None), (128, None), (128, "fine")]
    assert not drawn[1].beside


@pytest.mark.parametrize(("at", "drawing"), [(0.0, ["fine"]), (1.0, [None])])
def test_a_refiner_may_take_all_steps_or_none(at: float, drawing: list[str | None]) -> None:
    refiner = RefinerChoice(checkpoint="fine", switch_at=at)
    assert [each.checkpoint for each in passes(refiner=refiner)] == drawing


def test_a_refiner_of_unknown_weights_is_told_by_nothing() -> None:
    costs = PictureCosts({"mine": PLAIN}, KNOWN.get)
    refiner = RefinerChoice(checkpoint="unread")
    assert costs.seconds("mine", passes(refiner=refiner)) is None


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_each_checkpoint_of_a_picture_is_timed_by_its_own_pass(
    qtbot: QtBot, tmp_path: Path
) -> None:
    process, clock = SilentProcess(tmp_path), Clock()
    pace = Pace(EngineClient(process, process), tmp_path, usual_features, None, clock, KNOWN.get)
    taken = [(Phase.ENCODE, 1), (Phase.DENOISE, 16), (Phase.COMPILE, 30), (Phase.DENOISE, 10)]
    for phase, seconds in (*taken, (Phase.DECODE, 2)):
        process.say(JobPhase(job="a", phase=phase))
        clock.now += seconds
    saved = saved_image("a", "a.png")
    request = a_request(refiner=RefinerChoice(checkpoint="fine", switch_at=0.8))
    record = msgspec.structs.replace(saved.record, request=request)
    process.say(msgspec.structs.replace(saved, record=record))
    times = took(26)
    process.say(JobFinished(job="a", device="fake", timings=times))
    assert pace.seconds("mine", passes()) == pytest.approx(10 * 2 + 2)
    assert pace.seconds("fine", passes()) == pytest.approx(10 * 5 + 2)
    assert pace.seconds("mine", drawings(request, request, usual_features)) == pytest.approx(28)
    pace.close()


def test_figures_of_a_network_without_sense_are_no_figures() -> None:
    assert PLAIN.is_possible
    assert not msgspec.structs.replace(PLAIN, beside={"edges": -1.0}).is_possible
