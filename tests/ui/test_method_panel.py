"""Samplers, schedules and the tool to follow: all there, in an order, told of truly."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from engine.api.conventions import CONVENTIONS, Convention
from engine.api.methods import SAMPLER_FACTS
from engine.api.noise_rules import RandomSource
from engine.api.prompt_rules import Emphasis
from engine.api.values import ConventionName, SamplerName, ScheduleName
from tests.ui.conftest import Desk
from ui.method_labels import (
    SAMPLER_GROUPS,
    SCHEDULE_GROUPS,
    adjustments,
    sampler_about,
    schedule_about,
    tool_about,
    tool_label,
)
from ui.panels.method_panel import MethodPanel
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.choice_rows import ABOUT_ROLE

ADJUSTED = msgspec.structs.replace(
    CONVENTIONS[ConventionName.A1111],
    random_source=RandomSource.CUDA,
    step_source=RandomSource.CUDA,
    emphasis=Emphasis.NO_NORM,
)


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, as at first."""
    return kept_desk


def choices(box: ChoiceBox) -> list[object]:
    """The choices, from the top."""
    items = (box.model().index(row, 0) for row in range(box.count()))
    return [
        i.data(Qt.ItemDataRole.UserRole) for i in items if i.flags() & Qt.ItemFlag.ItemIsEnabled
    ]


def choose(method: MethodPanel, tool: ConventionName | Convention) -> None:
    """Choose an entry as a person does."""
    row = method.tools.index(tool)
    method.tool.setCurrentIndex(row)
    method.tool.activated.emit(row)


def test_everything_is_there_once_the_common_first(desk: Desk) -> None:
    method = desk.window.form.advanced.rows.method
    samplers, schedules = choices(method.sampler), choices(method.schedule)
    assert samplers[:3] == [None, SamplerName.DPMPP_2M, SamplerName.EULER]
    grouped = "each is in a group of ui/method_labels.py, and has a sentence there"
    assert sorted(map(str, samplers[1:])) == sorted(SamplerName), grouped
    assert sorted(map(str, schedules[1:])) == sorted(ScheduleName), grouped
    assert method.tools == (*ConventionName,)
    assert method.sampler.count() == 1 + len(SamplerName) + len(SAMPLER_GROUPS)
    assert method.schedule.count() == 1 + len(ScheduleName) + len(SCHEDULE_GROUPS)


@pytest.mark.parametrize("name", SamplerName)
def test_the_description_of_a_sampler_tells_its_noise_and_its_time(name: SamplerName) -> None:
    facts, said = SAMPLER_FACTS[name], sampler_about(name)
    assert ("Adds no noise" in said) == (facts.adds_noise is False)
    assert ("AUTOMATIC1111" in said) == (facts.adds_noise is None)
    assert ("twice" in said) == (facts.evaluations == 2)


def test_every_entry_says_what_it_is_like(desk: Desk) -> None:
    method = desk.window.form.advanced.rows.method
    for box, about in ((method.sampler, sampler_about), (method.schedule, schedule_about)):
        for row in range(1, box.count()):
            value = box.itemData(row)
            if value is not None:
                assert box.itemData(row, ABOUT_ROLE) == about(value)
    desk.session.generation.sampler = SamplerName.HEUN
    assert method.sampler.toolTip() == sampler_about(SamplerName.HEUN)
    assert method.sampler.accessibleDescription() == method.sampler.toolTip()


def test_typing_finds_an_entry_and_passes_over_headings(desk: Desk) -> None:
    sampler = desk.window.form.advanced.rows.method.sampler
    sampler.setFocus()
    QTest.keyClicks(sampler, "heun")
    assert desk.session.generation.sampler is SamplerName.HEUN
    QTest.keyClick(sampler, Qt.Key.Key_Home)
    QTest.keyClick(sampler, Qt.Key.Key_Down)
    assert desk.session.generation.sampler is SamplerName.DPMPP_2M


def test_choosing_a_tool_changes_the_request(desk: Desk) -> None:
    method, state = desk.window.form.advanced.rows.method, desk.session.generation
    assert method.tool.currentText() == "AUTOMATIC1111"
    for name in (ConventionName.COMFY, ConventionName.INVOKE, ConventionName.A1111):
        choose(method, name)
        assert state.build_request().convention is name
        assert method.tool.currentText() == name.label


def test_a_pictures_own_habits_stay_until_a_tool_is_chosen(desk: Desk) -> None:
    method, state = desk.window.form.advanced.rows.method, desk.session.generation
    state.convention = ADJUSTED
    assert method.tool.currentText() == "AUTOMATIC1111, adjusted"
    assert "a graphics card's noise" in method.tool.toolTip()
    assert method.tools == (ADJUSTED, *ConventionName)
    choose(method, ADJUSTED)
    assert state.build_request().convention == ADJUSTED
    choose(method, ConventionName.A1111)
    assert state.build_request().convention is ConventionName.A1111
    assert method.tools == (*ConventionName,)


def test_a_tools_own_habits_are_no_adjustment(desk: Desk) -> None:
    method, state = desk.window.form.advanced.rows.method, desk.session.generation
    state.convention = CONVENTIONS[ConventionName.COMFY]
    assert method.tool.currentText() == "ComfyUI"
    # What was loaded is what is asked for.
    assert state.build_request().convention == CONVENTIONS[ConventionName.COMFY]


def test_an_adjusted_setting_is_stated_once() -> None:
    assert adjustments(ADJUSTED) == ["weights without norm", "a graphics card's noise"]
    assert tool_label(ADJUSTED) == "AUTOMATIC1111, adjusted"
    assert tool_about(CONVENTIONS[ConventionName.INVOKE]) == tool_about(ConventionName.INVOKE)


@pytest.mark.parametrize("field", Convention.__struct_fields__[1:])
@pytest.mark.parametrize("name", ConventionName)
def test_whatever_is_adjusted_something_is_said(name: ConventionName, field: str) -> None:
    usual = CONVENTIONS[name]
    others = {getattr(other, field) for other in CONVENTIONS.values()} - {getattr(usual, field)}
    for value in others:
        changed = msgspec.structs.replace(usual, **{field: value})
        (said,) = adjustments(changed)
        assert said
