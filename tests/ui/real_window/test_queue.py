"""The queue by hand: its jobs are dragged, moved by keys and removed; the side is dragged."""

from collections.abc import Iterator

import pytest

from tests.ui.real_window.person import RealWindow

PROMPTS = "[job.request.prompt for job in session.queue.jobs if job.state == 'waiting']"
LIST = "window.queue.list"


@pytest.fixture
def queue(real_window: RealWindow) -> Iterator[RealWindow]:
    """Four jobs wait in a queue that is paused, and the drawer is open."""
    real_window.ask("session.jobs_in_queue.pause(paused=True)")
    real_window.wait_for("session.queue.paused")
    for prompt in ("one", "two", "three", "four"):
        real_window.ask(f"setattr(state, 'prompt', {prompt!r})")
        real_window.key("ctrl+Return")
        real_window.wait_for(f"{PROMPTS}[-1:] == [{prompt!r}]")
    real_window.key("ctrl+shift+q")
    real_window.wait_for("window.queue.jobs.rowCount() >= 4")
    yield real_window
    real_window.ask("window.queue.closed.emit()")
    real_window.ask("session.jobs.cancel_all()")
    real_window.ask("session.jobs_in_queue.pause(paused=False)")
    real_window.wait_for(f"{PROMPTS} == []")


def row(window: RealWindow, number: int, down: float = 0.5) -> tuple[int, int]:
    """A place in a row, in pixels of the screen; 0 is its upper edge and 1 its lower one."""
    rect = f"{LIST}.visualRect(window.queue.jobs.index({number}))"
    x, y = window.ask(f"{LIST}.viewport().mapToGlobal({rect}.topLeft()).toTuple()")
    height = window.ask(f"{rect}.height()")
    return x + 150, y + round(height * down)


def test_a_job_is_dragged_before_another(queue: RealWindow) -> None:
    queue.drag(row(queue, 3), row(queue, 2), row(queue, 1, 0.1))
    queue.let_go()
    queue.wait_for(f"{PROMPTS} == ['one', 'four', 'two', 'three']")
    # A job is no file: no card was offered, and nothing got into the form.
    assert not queue.ask("window.drops.overlay.isVisible()")


def test_a_job_is_dragged_behind_all_others(queue: RealWindow) -> None:
    queue.drag(row(queue, 0), row(queue, 1), row(queue, 3, 0.9))
    queue.let_go()
    queue.wait_for(f"{PROMPTS} == ['two', 'three', 'four', 'one']")


def test_jobs_are_moved_and_removed_by_keys(queue: RealWindow) -> None:
    queue.click(row(queue, 1))
    queue.key("alt+Down")
    queue.wait_for(f"{PROMPTS} == ['one', 'three', 'two', 'four']")
    queue.key("alt+Home")
    queue.wait_for(f"{PROMPTS} == ['two', 'one', 'three', 'four']")
    # The list follows the queue a moment later; a person sees that before pressing on.
    queue.wait_for("window.queue.jobs.job_at(0).request.prompt == 'two'")
    queue.key("Delete")
    queue.wait_for(f"{PROMPTS} == ['one', 'three', 'four']")
    # The next one is selected, so that the key can be pressed again.
    queue.wait_for(f"[job.request.prompt for job in {LIST}.selected] == ['one']")
    queue.key("ctrl+alt+z")
    queue.wait_for(f"{PROMPTS} == ['two', 'one', 'three', 'four']")
    queue.key("Escape")
    queue.wait_for("not window.queue.isVisible()")
    assert queue.ask(f"{PROMPTS} == ['two', 'one', 'three', 'four']")


def test_the_side_is_dragged_and_folded(real_window: RealWindow) -> None:
    real_window.ask("window.resize(1200, 700)")
    before = real_window.wait_for("window.width() == 1200 and form.width()")
    handle = "window.create_page.sides.handle(1)"
    x, y = real_window.place(handle)
    real_window.drag((x, y - 150), (x + 20, y - 150))
    real_window.let_go()
    real_window.wait_for(f"form.width() > {before}")
    real_window.click("window.create_page.sides.fold_button")
    real_window.wait_for("not form.isVisible()")
    real_window.key("ctrl+e")
    real_window.wait_for("form.prompt.hasFocus()")
