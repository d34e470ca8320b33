"""Turning the wheel over the form scrolls it, and does nothing else."""

import pytest

from tests.ui.real_window.person import RealWindow


@pytest.mark.parametrize(
    "control",
    [
        "form.negative",
        "form.checkpoint.box",
        "form.picture_size.width_field",
        "form.advanced.rows.steps.slider",
        "form.advanced.rows.guidance.field",
        "form.advanced.rows.method.schedule",
    ],
)
def test_turning_the_wheel_over_a_control_scrolls_the_form(
    real_window: RealWindow, control: str
) -> None:
    real_window.ask("form.advanced.section.open()")
    real_window.click("form.prompt")
    before = real_window.ask("state.build_request()")
    # Into the middle, so that the form can scroll both ways.
    real_window.ask(f"form.ensureWidgetVisible({control}, 0, 120)")
    at = real_window.ask("form.verticalScrollBar().value()")
    real_window.wheel(control, 1 if at == 0 else -1)
    real_window.wait_for(f"form.verticalScrollBar().value() != {at}")
    assert real_window.ask("form.prompt.hasFocus()")
    assert real_window.ask("state.build_request()") == before
    real_window.write("e")
    real_window.wait_for("state.prompt == 'e'")
    assert real_window.ask("state.schedule is None")


@pytest.mark.parametrize("control", ["window.dock.count.field", "window.dock.seed.number"])
def test_turning_the_wheel_over_the_dock_does_nothing(
    real_window: RealWindow, control: str
) -> None:
    real_window.click("form.prompt")
    before = real_window.ask("state.build_request()")
    real_window.wheel(control, 2)
    real_window.write("e")
    real_window.wait_for("state.prompt == 'e'")
    real_window.ask("setattr(state, 'prompt', '')")
    assert real_window.ask("state.build_request()") == before
