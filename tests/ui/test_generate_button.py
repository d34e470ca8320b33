"""Generate says what it would do: with the same seed again, or why nothing."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.form.generation import COMMON_SUGGESTIONS, STARTER_SUGGESTIONS
from app.form.sizes import size_fit
from app.queue.drawing import Drawing
from app.queue.pace import Pace
from app.queue.pace_figures import PaceFigures
from engine.api.control import ControlLayer
from engine.api.model_files import ModelInfo
from engine.api.request import GuidanceOptions
from engine.api.second_passes import SecondPass
from engine.api.values import SamplerName
from tests.ui.conftest import Desk, MakeDesk
from ui.dock.generate_button import GenerateButton
from ui.labels import size_remark

LEFT = Qt.MouseButton.LeftButton


def test_generate_says_that_the_seed_is_kept(desk: Desk) -> None:
    button, form = desk.window.dock.generate, desk.session.generation
    assert button.text() == "Generate"
    form.seed, form.seed_locked = 5, True
    assert "same seed" in button.text()
    QTest.mouseClick(desk.window.dock.seed.dice, LEFT)
    assert button.text() == "Generate"


def test_generate_says_how_many_and_how_long(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds(_pace: Pace, _checkpoint: str, passes: Sequence[Drawing]) -> float:
        return sum(drawing.predictions for drawing in passes) * 2.0

    monkeypatch.setattr(Pace, "seconds", seconds)
    desk.resize(1440, 900)
    button, form = desk.window.dock.generate, desk.session.generation
    form.count, form.steps = 4, 22
    form.sampler, form.guidance = SamplerName.EULER, 1.0
    desk.wait(lambda: button.text() == "Generate 4 · about 3 min")
    assert button.shows_key
    form.second_passes = (SecondPass(steps=22),)
    desk.wait(lambda: button.text() == "Generate 4 · about 6 min")
    form.second_passes = ()
    form.steps = 11
    desk.wait(lambda: button.text() == "Generate 4 · about 90 s")
    form.sampler, form.guidance = SamplerName.HEUN, 1.0
    desk.wait(lambda: "about 3 min" in button.accessibleName())
    form.sampler = SamplerName.EULER
    desk.wait(lambda: button.text() == "Generate 4 · about 90 s")
    form.guidance_options = GuidanceOptions(pag_scale=3.0)
    desk.wait(lambda: "about 3 min" in button.accessibleName())
    form.guidance_options = GuidanceOptions()
    # What has no room is left out, and still told.
    form.seed, form.seed_locked = 5, True
    button.setFixedWidth(190)
    desk.wait(lambda: button.text() == "Generate 4")
    assert "about 90 s" in button.accessibleName()


def test_generate_counts_a_control_network(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.resize(1440, 900)
    form, pace, store = desk.session.generation, desk.session.pace, desk.session.models.store
    own, edges = str(form.checkpoint), str(tmp_path / "edges.safetensors")
    pixels = form.effective.width * form.effective.height
    figures = PaceFigures(pixels=pixels, prediction_s=1, rest_s=0)
    monkeypatch.setitem(pace._figures, own, figures)  # pyright: ignore[reportPrivateUsage]
    form.sampler, form.guidance, form.steps = SamplerName.EULER, 1.0, 20
    button = desk.window.dock.generate
    desk.wait(lambda: "about 20 s" in button.accessibleName())
    form.controls = (ControlLayer(image=edges, network=edges),)
    # While its weights are not known, 42 % more, as for SD 1.5; it is rounded.
    desk.wait(lambda: "about 30 s" in button.accessibleName())
    listed = ModelInfo(path="", name="", root="", size=1, modified_ns=0, step_parameters=100)
    files = [msgspec.structs.replace(listed, path=path) for path in (own, edges)]
    store.listing.add(files)
    desk.wait(lambda: "about 40 s" in button.accessibleName())


def test_generate_speaks_once_of_a_form_that_is_replaced(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, set_text = list[str](), GenerateButton.setText

    def say(button: GenerateButton, words: str) -> None:
        said.append(words)
        set_text(button, words)

    monkeypatch.setattr(GenerateButton, "setText", say)
    form, changes = desk.session.generation, desk.session.changes
    before = form.form
    other = {"checkpoint": tmp_path / "other.safetensors", "width": 640, "height": 768}
    numbers = {"steps": 12, "guidance": 3.5, "count": 3, "seed": 5, "seed_locked": True}
    changes.undo(msgspec.structs.replace(before, prompt="a boat", **other, **numbers))
    assert said == ["Generate 3 · same seed"]
    changes.undo(before)
    assert said[1:] == ["Generate"]


def test_generate_cannot_be_pressed_for_a_broken_file_and_says_why(
    make_desk: MakeDesk, tmp_path: Path
) -> None:
    desk = make_desk(real=True).start()
    dock = desk.window.dock
    page = tmp_path / "mix.safetensors"
    page.write_bytes(b"<!DOCTYPE html><html>Please log in</html>")
    desk.session.checkpoint.open(page)
    desk.wait(lambda: not dock.generate.isEnabled())
    assert "mix.safetensors" in dock.status.title.text()
    desk.session.generation.checkpoint = desk.session.checkpoints.starter
    desk.wait(dock.generate.isEnabled)


def test_a_checkpoint_that_is_gone_is_named_with_ways_out(
    make_desk: MakeDesk, tmp_path: Path
) -> None:
    desk = make_desk(real=True).start()
    panel = desk.window.form.checkpoint
    assert not panel.use_starter.isVisible()
    desk.session.checkpoint.open(tmp_path / "mine.safetensors")
    desk.session.look_again()
    desk.wait(panel.use_starter.isVisible)
    desk.wait(lambda: panel.box.currentText() == "mine (missing)")
    assert panel.find_it.isVisible()
    assert not panel.about.isVisible()
    QTest.mouseClick(panel.use_starter, LEFT)
    assert desk.session.generation.checkpoint == desk.session.checkpoints.starter
    desk.wait(lambda: not panel.use_starter.isVisible())


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((512, 512), ""),
        ((512, 768), ""),
        ((896, 512), ""),
        ((1024, 1024), "twice"),
        ((256, 256), "badly"),
        ((1024, 320), "longer"),
    ],
)
def test_a_size_that_a_checkpoint_was_not_made_for_is_said(
    desk: Desk, size: tuple[int, int], words: str
) -> None:
    assert words in size_remark(*size, 512)
    assert bool(words) == bool(size_remark(*size, 512))
    assert (size_fit(*size, 512) == "good") == (not words)
    # The starter's sizes have a remark of their own.
    desk.session.generation.checkpoint = Path("another.safetensors")
    desk.session.generation.suggestions = msgspec.structs.replace(
        STARTER_SUGGESTIONS, longest_side=None
    )
    desk.session.generation.width, desk.session.generation.height = size
    side = desk.session.generation.suggestions.side
    remark = desk.window.form.size_remark
    assert remark.text() == size_remark(*size, side)
    assert remark.isVisibleTo(desk.window.form) == bool(remark.text())


def test_nothing_is_said_of_a_size_where_the_checkpoint_is_not_known(desk: Desk) -> None:
    desk.session.generation.suggestions = COMMON_SUGGESTIONS
    desk.session.generation.width = desk.session.generation.height = 1024
    assert not desk.window.form.size_remark.isVisibleTo(desk.window.form)
