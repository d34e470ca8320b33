"""The list of runtimes opens by a key beside the window, which stays usable, and closes by Esc."""

from tests.ui.real_window.person import RealWindow

DIALOGS = "window.findChildren(QtWidgets.QDialog)"


def test_the_list_is_opened_by_a_key_and_closed_by_escape(real_window: RealWindow) -> None:
    real_window.key("ctrl+r")
    real_window.wait_for(f"{DIALOGS} and {DIALOGS}[0].isActiveWindow()")
    assert real_window.ask(f"{DIALOGS}[0].windowTitle()") == "Runtimes"
    real_window.key("Escape")
    real_window.wait_for(f"not any(one.isVisible() for one in {DIALOGS})")


def test_the_window_takes_keys_while_the_list_is_open(real_window: RealWindow) -> None:
    real_window.key("ctrl+r")
    real_window.wait_for(f"{DIALOGS} and {DIALOGS}[0].isActiveWindow()")
    # Away from the prompt, which it may cover.
    real_window.ask(f"{DIALOGS}[0].move(window.geometry().center())")
    real_window.click("form.prompt")
    real_window.wait_for("window.isActiveWindow() and form.prompt.hasFocus()")
    real_window.write("a boat")
    real_window.wait_for("state.prompt == 'a boat'")
    assert real_window.ask(f"{DIALOGS}[0].isVisible()")


def test_a_menu_leads_to_the_updates(real_window: RealWindow) -> None:
    real_window.wait_for(f"not any(one.isVisible() for one in {DIALOGS})")
    real_window.click("form.prompt")
    real_window.wait_for("window.isActiveWindow()")
    real_window.key("alt+h")
    real_window.wait_for("application.activePopupWidget() is not None")
    real_window.key("Down")
    real_window.key("Return")
    real_window.wait_for(f"{DIALOGS} and {DIALOGS}[0].windowTitle() == 'Updates'")
    real_window.wait_for(f"{DIALOGS}[0].isActiveWindow()")
    real_window.key("Escape")
    real_window.wait_for(f"not any(one.isVisible() for one in {DIALOGS})")
