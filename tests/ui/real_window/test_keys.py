"""Keys of the window work while a field of one line has the focus."""

import pytest

from tests.ui.real_window.person import RealWindow

FIELD = "window.dock.seed.number"


def type_a_seed(window: RealWindow) -> None:
    window.click(FIELD)
    window.key("ctrl+a")
    window.write("123")
    window.wait_for("state.seed == 123")


def test_a_field_leaves_the_key_of_the_prompt_to_the_window(real_window: RealWindow) -> None:
    type_a_seed(real_window)
    real_window.key("ctrl+e")
    real_window.wait_for("form.prompt.hasFocus()")


@pytest.mark.parametrize("field", [FIELD, "window.dock.count.field"])
def test_the_key_that_uses_settings_deletes_nothing(real_window: RealWindow, field: str) -> None:
    # As with a picture on the canvas.
    real_window.ask("window.actions_by_name['use_settings'].setEnabled(True)")
    real_window.click(field)
    real_window.key("ctrl+a")
    real_window.write("12")
    real_window.key("ctrl+u")
    real_window.key("Left")
    real_window.write("1")
    real_window.wait_for(f"{field}.text() == '112'")


def test_end_still_leads_to_the_end_of_a_field(real_window: RealWindow) -> None:
    type_a_seed(real_window)
    real_window.key("Home", "End")
    real_window.write("4")
    real_window.wait_for("state.seed == 1234")
