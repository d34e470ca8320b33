"""The form offers what the checkpoint's features have, and asks for nothing else."""

import msgspec
from PySide6.QtCore import Qt

from engine.api.features import Features
from engine.api.values import SamplerName, ScheduleName
from tests.ui.conftest import Desk
from ui.widgets.choice_box import ChoiceBox

NARROW = Features(
    negative_prompt=False,
    size_multiple=16,
    samplers=(SamplerName.EULER, SamplerName.HEUN),
    schedules=(ScheduleName.SIMPLE,),
)


def offer(desk: Desk, features: Features) -> None:
    state = desk.session.generation
    state.suggestions = msgspec.structs.replace(state.suggestions, features=features)


def offered(box: ChoiceBox) -> set[object]:
    """The choices beside that of the checkpoint."""
    items = (box.itemData(row, Qt.ItemDataRole.UserRole) for row in range(box.count()))
    return {item for item in items if item is not None}


def test_a_negative_prompt_without_effect_is_neither_shown_nor_sent(desk: Desk) -> None:
    form, state = desk.window.form, desk.session.generation
    state.negative_prompt = "fog"
    offer(desk, NARROW)
    assert not form.negative_panel.isVisibleTo(form)
    assert state.build_request().negative_prompt == ""
    offer(desk, Features())
    assert form.negative_panel.isVisibleTo(form)
    assert state.build_request().negative_prompt == "fog"


def test_samplers_and_schedules_are_those_that_work(desk: Desk) -> None:
    method = desk.window.form.advanced.rows.method
    offer(desk, NARROW)
    assert offered(method.sampler) == {SamplerName.EULER, SamplerName.HEUN}
    assert offered(method.schedule) == {ScheduleName.SIMPLE}
    offer(desk, Features())
    assert offered(method.sampler) == set(SamplerName)
    assert offered(method.schedule) == set(ScheduleName)


def test_sides_are_multiples_of_what_the_checkpoint_takes(desk: Desk) -> None:
    sizes = desk.window.form.picture_size
    offer(desk, NARROW)
    assert sizes.width_field.valueFromText("520") == 512
    assert sizes.width_field.singleStep() == 16
    offer(desk, Features())
    assert sizes.width_field.valueFromText("520") == 520
