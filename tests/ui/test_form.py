"""The form shows the state and writes back what the user edits, and nothing else."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QToolButton, QWidget

from app.form.generation import COMMON_SUGGESTIONS, OPTIONS
from app.notices.remedies import NoticeAction
from engine.api.fields import fields_of
from engine.api.limits import MAX_SEED
from engine.api.request import (
    ComponentFiles,
    GenerateRequest,
    GuidanceOptions,
    SamplerOptions,
    SeedOptions,
)
from engine.api.values import SamplerName, ScheduleName
from tests.app.requests import form_requests
from tests.ui.conftest import Desk
from ui.widgets.icon_button import IconButton
from ui.widgets.size_field import preset_sizes

# The window is the same for every example, which is the point: nothing may be left over.
ONE_WINDOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


@ONE_WINDOW
@given(request=form_requests)
def test_a_request_goes_through_the_window_unchanged(desk: Desk, request: GenerateRequest) -> None:
    state = desk.session.generation
    desk.unfold()
    # Of the starter it is known that it takes no reference pictures: they would not be sent.
    state.checkpoint = Path("/models/unknown.safetensors")
    state.load_request(request)
    QApplication.processEvents()
    wanted = request.checkpoint or str(state.checkpoint)
    assert state.build_request() == msgspec.structs.replace(request, checkpoint=wanted)


@ONE_WINDOW
@given(request=form_requests)
def test_the_window_shows_what_is_loaded(desk: Desk, request: GenerateRequest) -> None:
    form, state = desk.window.form, desk.session.generation
    desk.unfold()
    state.load_request(request)
    effective = state.effective
    assert form.advanced.rows.steps.field.value() == effective.steps
    assert form.advanced.rows.guidance.field.value() == pytest.approx(effective.guidance, abs=0.006)
    assert form.picture_size.width_field.value() == effective.width
    assert form.picture_size.height_field.value() == effective.height
    assert desk.window.dock.count.field.value() == request.count
    assert desk.window.dock.seed.lock.isChecked() == (request.seed is not None)
    assert desk.window.dock.seed.dice.isChecked() == (request.seed is None)
    if request.seed is not None:
        assert desk.window.dock.seed.number.text() == str(request.seed)
    assert form.advanced.rows.method.sampler.currentData() == request.sampler
    assert form.advanced.rows.method.schedule.currentData() == request.schedule
    assert form.advanced.reset.isVisibleTo(form) == state.has_choices


def retype(field: QAbstractSpinBox | QLineEdit, text: str) -> None:
    """Replace what a field holds by typing, and leave it."""
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Tab)


def turn_wheel(widget: QWidget) -> None:
    """One notch, over the middle of a control."""
    place = QPointF(widget.rect().center())
    event = QWheelEvent(
        place,
        QPointF(widget.mapToGlobal(place.toPoint())),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


def test_typed_values_become_the_request(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.generation
    for edit, text in ((form.prompt, "a boat"), (form.negative, "fog")):
        edit.setFocus()
        edit.selectAll()
        QTest.keyClicks(edit, text)
    for field, text in (
        (form.advanced.rows.steps.field, "31"),
        (form.advanced.rows.guidance.field, "3.5"),
        (form.picture_size.width_field, "320"),
        (desk.window.dock.seed.number, str(MAX_SEED)),
        (desk.window.dock.count.field, "4"),
    ):
        retype(field, text)
    request = state.build_request()
    assert (request.prompt, request.negative_prompt) == ("a boat", "fog")
    assert (request.steps, request.guidance, request.count) == (31, 3.5, 4)
    # The height was shown as it will be, and stays what it was shown to be.
    assert (request.width, request.height) == (320, 256)
    assert request.seed == MAX_SEED


def test_impossible_values_are_not_accepted(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.generation
    retype(desk.window.dock.seed.number, str(MAX_SEED) + "0")
    assert state.seed == MAX_SEED
    retype(form.advanced.rows.steps.field, "0")
    assert state.effective.steps >= 1
    retype(form.advanced.rows.guidance.field, "nan")
    assert state.guidance is None
    retype(form.picture_size.height_field, "301")
    assert state.height == 304


@pytest.mark.parametrize(
    ("typed", "taken", "why"), [("301", 304, "multiples of 8"), ("20", 64, "smaller")]
)
def test_a_side_that_is_not_the_one_typed_is_said_until_the_size_changes(
    desk: Desk, typed: str, taken: int, why: str
) -> None:
    form, state = desk.window.form, desk.session.generation
    retype(form.picture_size.width_field, typed)
    assert state.width == taken
    assert form.size_remark.isVisible()
    assert f"{typed} became {taken}" in form.size_remark.text()
    assert why in form.size_remark.text()
    # The same again is as silent an answer.
    retype(form.picture_size.width_field, typed)
    assert f"{typed} became {taken}" in form.size_remark.text()
    retype(form.picture_size.width_field, "256")
    assert not form.size_remark.isVisible()


def test_looking_at_a_field_changes_nothing(desk: Desk) -> None:
    state = desk.session.generation
    request = GenerateRequest(
        prompt="a\u00a0b", checkpoint="/c", width=500, guidance=7.123456, seed=5, steps=977
    )
    state.load_request(request)
    desk.unfold()
    for widget in desk.window.findChildren(type(desk.window.form.advanced.rows.steps.field)):
        widget.setFocus()
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    for widget in (desk.window.form.advanced.rows.guidance.field, desk.window.dock.seed.number):
        widget.setFocus()
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    assert state.build_request() == request


def test_settings_can_be_undone_in_the_prompt(desk: Desk) -> None:
    prompt = desk.window.form.prompt
    before = prompt.toPlainText()
    desk.session.generation.load_request(GenerateRequest(prompt="from a picture"))
    assert prompt.toPlainText() == "from a picture"
    prompt.undo()
    assert desk.session.generation.prompt == before


def test_presets_choose_both_sides(desk: Desk) -> None:
    size, state = desk.window.form.picture_size, desk.session.generation
    assert size.presets[0].isChecked()
    QTest.mouseClick(size.presets[1], Qt.MouseButton.LeftButton)
    assert (state.width, state.height) == preset_sizes(256)[1]
    assert [button.isChecked() for button in size.presets] == [False, True, False, False]
    state.height = 512
    assert not any(button.isChecked() for button in size.presets)


@pytest.mark.parametrize("side", [256, 512, 768, 1024])
def test_presets_are_sizes_networks_are_trained_on(side: int) -> None:
    for width, height in preset_sizes(side):
        assert width % 64 == height % 64 == 0
        assert min(width, height) == side


def test_dice_and_lock_are_one_choice(desk: Desk) -> None:
    seed, state = desk.window.dock.seed, desk.session.generation
    assert not seed.lock.isEnabled()
    state.seed = 5
    QTest.mouseClick(seed.lock, Qt.MouseButton.LeftButton)
    assert state.build_request().seed == 5
    QTest.mouseClick(seed.dice, Qt.MouseButton.LeftButton)
    assert state.build_request().seed is None
    # Pressed again, the dice stays and the lock opens, by its key, too.
    QTest.mouseClick(seed.dice, Qt.MouseButton.LeftButton)
    assert seed.dice.isChecked()
    for expected in (True, False):
        QTest.keyClick(desk.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
        assert state.seed_locked == seed.lock.isChecked() == expected
        assert seed.dice.isChecked() != expected
    retype(seed.number, "77")
    assert (state.seed, state.seed_locked) == (77, True)
    retype(seed.number, "\b")
    assert (state.seed, state.seed_locked) == (None, False)


def test_the_seed_is_copied_by_its_button(desk: Desk) -> None:
    seed = desk.window.dock.seed
    (button,) = seed.number.findChildren(QToolButton)
    assert not button.isVisible()
    desk.session.generation.seed = 77
    assert button.isVisible()
    assert button.accessibleName() == "Copy the seed"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "77"
    assert desk.session.generation.seed == 77


def test_samplers_can_be_chosen_and_left_to_the_checkpoint(desk: Desk) -> None:
    method, state = desk.window.form.advanced.rows.method, desk.session.generation
    assert "DPM++ 2M" in method.sampler.currentText()
    method.sampler.setCurrentIndex(method.sampler.findData(SamplerName.EULER))
    method.sampler.activated.emit(method.sampler.currentIndex())
    method.schedule.setCurrentIndex(method.schedule.findData(ScheduleName.KARRAS))
    method.schedule.activated.emit(method.schedule.currentIndex())
    assert (state.sampler, state.schedule) == (SamplerName.EULER, ScheduleName.KARRAS)
    QTest.mouseClick(desk.window.form.advanced.reset, Qt.MouseButton.LeftButton)
    assert (state.sampler, state.schedule) == (None, None)
    assert method.sampler.currentIndex() == 0


def test_another_checkpoint_shows_its_own_defaults(desk: Desk, tmp_path: Path) -> None:
    form, session = desk.window.form, desk.session
    session.generation.steps = 9
    session.open_file(tmp_path / "other.safetensors")
    assert form.checkpoint.box.currentText() == "other"
    assert form.picture_size.width_field.value() == COMMON_SUGGESTIONS.side
    assert form.advanced.rows.steps.field.value() == COMMON_SUGGESTIONS.settings[0].steps


def test_settings_from_a_picture_are_named_and_can_be_reset(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.generation
    state.components, state.clip_skip = ComponentFiles(vae="/vaes/soft.safetensors"), 2
    assert "soft.safetensors" in form.advanced.section.head.summary
    assert "clip skip 2" in form.advanced.section.head.summary
    form.advanced.reset.click()
    assert (state.components, state.clip_skip) == (ComponentFiles(), None)
    assert form.advanced.section.head.summary == ""
    desk.session.remedies.act(desk.session.notices.notices[-1], NoticeAction.UNDO_CHANGE)
    assert state.clip_skip == 2


def test_settings_of_the_method_are_shown(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.generation
    state.sampler_options = SamplerOptions(eta=0.25)
    state.seed_options = SeedOptions(variation_seed=4711, variation_strength=0.5, batch_index=2)
    state.guidance_options = GuidanceOptions(rescale=0.7)
    state.zero_terminal_snr, state.expand_wildcards = True, False
    for words in ("4711", "number 3", "rescaled by 0.7", "SNR", "wildcards"):
        assert words in form.advanced.section.head.summary
    # DPM++ 2M, the starter's own, has none; it waits for a sampler that reads it.
    assert "eta" not in form.advanced.section.head.summary
    assert state.build_request().sampler_options == SamplerOptions()
    state.sampler = SamplerName.EULER_ANCESTRAL
    assert "eta 0.25" in form.advanced.section.head.summary
    assert state.build_request().sampler_options == SamplerOptions(eta=0.25)


def test_the_wheel_over_a_field_does_not_change_it(desk: Desk) -> None:
    before = desk.session.generation.build_request()
    form = desk.window.form
    for widget in (
        form.advanced.rows.steps.slider,
        form.advanced.rows.steps.field,
        form.advanced.rows.method.sampler,
        form.checkpoint.box,
    ):
        widget.setFocus()
        turn_wheel(widget)
    assert desk.session.generation.build_request() == before


def test_every_option_has_words_for_what_differs() -> None:
    silent: set[str] = set()
    for name in OPTIONS:
        field = fields_of(GenerateRequest)[name]
        stated = [field.summary]
        if field.structure is not None:
            stated += [inner.summary for inner in fields_of(field.structure).values()]
        if not any(stated):
            silent.add(name)
    assert not silent


def test_a_number_that_a_button_changed_is_not_selected(desk: Desk) -> None:
    # Once it stayed in the colours of a selection, with the focus elsewhere.
    count = desk.window.dock.count
    for button in count.findChildren(IconButton):
        button.click()
        assert not count.field.lineEdit().hasSelectedText()
