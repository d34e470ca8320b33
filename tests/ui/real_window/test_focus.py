"""A key that leads to a field leads to where it can be seen."""

from tests.ui.real_window.person import RealWindow


def test_a_key_brings_a_field_into_view_with_its_name(real_window: RealWindow) -> None:
    bar = "form.verticalScrollBar()"
    real_window.ask("window.resize(1000, 560)")
    real_window.ask("form.advanced.section.open()")
    real_window.wait_for(f"{bar}.maximum() > 100")
    real_window.ask("window.dock.generate.setFocus()")
    real_window.ask(f"{bar}.setValue({bar}.maximum())")
    assert not real_window.ask(
        "form.viewport().rect().contains(form.prompt.mapTo(form, form.prompt.rect().topLeft()))"
    )
    real_window.key("ctrl+e")
    real_window.wait_for("form.prompt.hasFocus()")
    panel = "form.prompt_panel"
    assert real_window.ask(f"{panel}.mapTo(form, {panel}.rect().topLeft()).y() >= 0")
