"""A key that leads to a field leads to where it can be seen."""

import pytest

from tests.ui.real_window.person import RealWindow


@pytest.mark.parametrize("key", ["ctrl+e", "ctrl+d"])
def test_a_key_brings_its_field_into_view(real_window: RealWindow, key: str) -> None:
    field = {"ctrl+e": "form.prompt", "ctrl+d": "form.seed"}[key]
    bar = "form.verticalScrollBar()"
    real_window.click("form.prompt")
    far = "maximum" if key == "ctrl+e" else "minimum"
    real_window.click("window.generate.generate", button=3)
    real_window.ask("window.generate.generate.setFocus()")
    real_window.ask(f"{bar}.setValue({bar}.{far}())")
    assert not real_window.ask(
        f"form.viewport().rect().contains({field}.mapTo(form, {field}.rect().center()))"
    )
    real_window.key(key)
    real_window.wait_for(
        f"form.viewport().rect().contains({field}.mapTo(form, {field}.rect().center()))"
    )


def test_a_key_brings_a_field_into_view_with_its_name(real_window: RealWindow) -> None:
    bar = "form.verticalScrollBar()"
    real_window.ask("window.generate.generate.setFocus()")
    real_window.ask(f"{bar}.setValue({bar}.maximum())")
    real_window.key("ctrl+e")
    real_window.wait_for("form.prompt.hasFocus()")
    panel = "form.prompt_panel"
    assert real_window.ask(f"{panel}.mapTo(form, {panel}.rect().topLeft()).y() >= 0")
