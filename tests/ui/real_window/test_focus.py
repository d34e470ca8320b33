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


def test_the_form_stays_where_it_is_while_another_window_is_in_front(
    real_window: RealWindow,
) -> None:
    bar = "form.verticalScrollBar()"
    real_window.ask("window.resize(1000, 560)")
    real_window.ask("form.advanced.section.open()")
    real_window.wait_for(f"{bar}.maximum() > 100")
    # The prompt has the focus, and is scrolled out of sight.
    real_window.ask(f"{bar}.setValue({bar}.maximum())")
    real_window.ask("setattr(window, 'other', QtWidgets.QWidget())")
    real_window.ask("window.other.show()")
    real_window.wait_for("window.other.isActiveWindow()")
    real_window.ask("window.other.close()")
    real_window.wait_for("window.isActiveWindow() and form.prompt.hasFocus()")
    assert real_window.ask(f"{bar}.value() == {bar}.maximum()")
