"""The main road by hand: a first picture, judged, used again, masked, and all of it kept."""

import signal

from tests.ui.real_window.conftest import StartRealWindow
from tests.ui.real_window.person import RealWindow

PAGE = "window.places.page"
GRID = f"{PAGE}.browser.grid"
WRITER = "session.memory._writer"
PAINT = "window.canvas.paint"


def make_the_first_picture(window: RealWindow) -> None:
    """Click a postcard: one click is all that it takes."""
    assert window.ask("window.canvas.empty.isVisible()")
    window.click("window.canvas.empty.postcards[0]")
    window.wait_for("session.view.path is not None and window.canvas.view.isVisible()")
    window.wait_for("'seed' in window.info.detail.text()")
    assert window.ask("state.prompt") in window.ask("window.info.title.text()")


def make_another(window: RealWindow, prompt: str) -> None:
    """Type a prompt over the old one, and press the keys that make a picture."""
    before = window.ask("session.view.path")
    window.key("ctrl+e")
    window.wait_for("form.prompt.hasFocus()")
    window.key("ctrl+a")
    window.write(prompt)
    window.wait_for(f"state.prompt == {prompt!r}")
    window.key("ctrl+Return")
    window.wait_for(f"session.view.path not in (None, {before!r})")


def judge_and_compare(window: RealWindow) -> None:
    """Give stars in the gallery, and see two pictures side by side."""
    window.key("ctrl+2")
    window.wait_for(f"window.places.place == 'gallery' and {PAGE}.browser.model.rowCount() == 2")
    window.wait_for(f"{GRID}.hasFocus()")
    window.key("Home")
    window.wait_for(f"len({PAGE}.browser.chosen) == 1")
    window.key("4")
    window.wait_for(f"{PAGE}.browser.model.row(0).rating == 4")
    window.key("ctrl+a", "c")
    window.wait_for(f"{PAGE}.comparison.isVisible() and len({PAGE}.comparison.panes) == 2")
    window.key("Escape")
    window.wait_for(f"{GRID}.isVisible() and {GRID}.hasFocus()")


def use_the_settings_of_the_first(window: RealWindow) -> None:
    """Take the settings of the older picture, whose prompt is another."""
    first = window.ask(f"{PAGE}.browser.model.row(1).path")
    now = window.ask("state.prompt")
    window.key("End")
    window.wait_for(f"{PAGE}.picture == {first!r}")
    window.key("ctrl+u")
    window.wait_for(f"state.prompt != {now!r}")
    window.key("ctrl+1")
    window.wait_for("window.places.place == 'create'")


def queue_and_remove(window: RealWindow) -> None:
    """Put a job behind a pause, see it in the queue, and remove it there."""
    window.ask("session.jobs_in_queue.pause(paused=True)")
    window.key("ctrl+Return")
    window.wait_for("session.queue.first_waiting is not None")
    window.key("ctrl+shift+q")
    rows = "window.queue.jobs.rowCount()"
    window.wait_for(f"window.queue.isVisible() and {rows} > 0")
    at = "window.queue.list.visualRect(window.queue.jobs.index(0)).center()"
    x, y = window.ask(f"window.queue.list.viewport().mapToGlobal({at}).toTuple()")
    window.click((x, y))
    window.key("Delete")
    window.wait_for("session.queue.first_waiting is None")
    window.key("Escape")
    window.wait_for("not window.queue.isVisible()")
    window.ask("session.jobs_in_queue.pause(paused=False)")


def paint_a_mask(window: RealWindow) -> None:
    """Start from the picture that is shown, and paint a part of it."""
    window.key("ctrl+i")
    window.wait_for("len(state.inputs) == 1")
    window.key("ctrl+m")
    window.wait_for(f"{PAINT} is not None and not {PAINT}.layer.mask.isNull()")
    window.wait_for(f"{PAINT}.view.hasFocus()")
    x, y = window.place(f"{PAINT}.view")
    # What is told of the deeds before may lie over it for some seconds.
    window.wait_for(f"application.widgetAt({x - 60}, {y}) is {PAINT}.view")
    window.drag((x - 60, y), (x + 60, y + 20))
    window.let_go()
    window.wait_for("len(state.inputs) == 2")


def test_the_main_road_is_walked_by_hand_and_kept_through_a_kill(
    start_real_window: StartRealWindow,
) -> None:
    window = start_real_window()
    make_the_first_picture(window)
    make_another(window, "a yellow balloon at dusk")
    judge_and_compare(window)
    use_the_settings_of_the_first(window)
    queue_and_remove(window)
    paint_a_mask(window)
    window.wait_for(f"not {WRITER}._soon.isActive() and not {WRITER}._writing")
    left = window.ask("[state.prompt, [[one.role, one.path] for one in state.inputs]]")
    assert window.kill() == -signal.SIGKILL
    again = start_real_window()
    assert again.ask("[state.prompt, [[one.role, one.path] for one in state.inputs]]") == left
    again.key("ctrl+2")
    again.wait_for(f"{PAGE}.browser.model.rowCount() == 2")
    again.wait_for(f"{PAGE}.browser.model.row(0).rating == 4")
    assert again.close() == 0
