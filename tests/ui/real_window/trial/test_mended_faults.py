"""Faults that cost people work or trust, each tried again: nothing of a person's is lost."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from PIL import Image

from tests.monkey.hand import Basket
from tests.ui.real_window.conftest import SCREEN, StartRealWindow
from tests.ui.real_window.person import RealWindow
from tests.ui.real_window.trial.conftest import copy_of_the_starter, generate, see

pytestmark = pytest.mark.slow
PAINT = "window.canvas.paint"
HAS_MASK = "len(state.inputs) == 2"
WRITER = "session.memory._writer"
TOLD = "[one.message for one in session.notices.notices]"


def test_turning_the_wheel_over_a_list_leaves_it_and_the_prompt_alone(person: RealWindow) -> None:
    # Once the list under the mouse took the focus, and the next letter.
    person.ask("form.advanced.section.open()")
    person.ask("form.ensureWidgetVisible(form.advanced.rows.method.schedule, 0, 120)")
    before = person.ask("str(state.effective.schedule)")
    person.wheel("form.advanced.rows.method.schedule", -2)
    person.write("e")
    person.wait_for("state.prompt == 'e'")
    assert person.ask("str(state.effective.schedule)") == before


def test_a_slip_on_a_thumbnail_changes_nothing(person: RealWindow) -> None:
    # Once a drag of 28 pixels used the picture's settings, and the prompt was gone.
    generate(person, "a yellow balloon")
    person.wait_for("window.strip.pictures.rowCount() > 0")
    person.ask("setattr(state, 'prompt', 'my long prompt')")
    rect = "window.strip.visualRect(window.strip.pictures.index(0))"
    x, y = person.ask(f"window.strip.viewport().mapToGlobal({rect}.center()).toTuple()")
    person.drag((x, y), (x + 14, y + 2), (x + 28, y + 3))
    person.let_go()
    person.click((x, y))
    person.wait_for("session.background._pool.waitForDone()")
    assert person.ask("state.prompt") == "my long prompt"


def start_picture(folder: Path, size: tuple[int, int] = (256, 256)) -> str:
    path = folder / "photo.png"
    Image.new("RGB", size, "teal").save(path)
    return str(path)


def paint(window: RealWindow, photo: str) -> None:
    window.ask(f"session.pictures.start_from({photo!r}, 256, 256)")
    window.key("ctrl+m")
    window.wait_for(f"{PAINT} is not None and not {PAINT}.layer.mask.isNull()")
    window.wait_for(f"{PAINT}.view.hasFocus()")
    x, y = window.place(f"{PAINT}.view")
    window.drag((x - 60, y), (x + 60, y + 20))
    window.let_go()
    window.wait_for(HAS_MASK)


def test_escape_while_painting_keeps_what_was_painted(person: RealWindow, tmp_path: Path) -> None:
    # Once Esc threw the painting away without a word.
    paint(person, start_picture(tmp_path))
    person.key("Escape")
    person.wait_for("not session.view.painting")
    assert person.ask(HAS_MASK)


def test_the_whole_form_is_there_after_closing(
    start_real_window: StartRealWindow, tmp_path: Path
) -> None:
    # Once prompt, sizes, start picture, mask and the window's size were gone.
    window = start_real_window()
    paint(window, start_picture(tmp_path))
    window.click("form.prompt")
    window.key("ctrl+a")
    window.write("a boat in the fog")
    window.ask("setattr(state, 'steps', 9)")
    window.ask("setattr(state, 'count', 3)")
    window.ask("window.setGeometry(80, 60, 1000, 640)")
    window.wait_for("window.width() == 1000")
    kept = (
        "[state.prompt, state.steps, state.count, state.width, state.height, str(state.checkpoint),"
        " [[one.role, one.path] for one in state.inputs], window.geometry().getRect()]"
    )
    left = window.ask(kept)
    see(window, "the whole form before closing")
    assert window.close() == 0
    again = start_real_window()
    again.wait_for("not window._framed.isActive()")
    see(again, "the whole form after closing")
    assert again.ask(kept) == left


def test_pictures_made_after_using_settings_differ(person: RealWindow) -> None:
    # Once the seed was locked out of sight, and two presses made the same file twice.
    generate(person, "a red house by the sea")
    person.key("ctrl+u")
    person.wait_for("session.background._pool.waitForDone()")
    made: list[bytes] = []
    for _ in range(2):
        before = person.ask("session.view.path")
        person.key("ctrl+Return")
        person.wait_for(f"session.view.path not in (None, {before!r})")
        person.wait_for("session.progress.job is None")
        made.append(Path(person.ask("session.view.path")).read_bytes())
    assert made[0] != made[1]


def test_everything_is_on_a_small_screen(start_real_window: StartRealWindow) -> None:
    # Once the last lines were below the screen's edge.
    window = start_real_window()
    window.wait_for("not window._framed.isActive()")
    see(window, "a small screen at the first start")
    assert window.ask("window.frameGeometry().bottom()") < SCREEN[1]
    assert window.ask("window.frameGeometry().right()") < SCREEN[0]
    dock = window.ask("window.dock.mapToGlobal(window.dock.rect().bottomRight()).toTuple()")
    assert dock[0] < SCREEN[0]
    assert dock[1] < SCREEN[1]


def fail(window: RealWindow, checkpoint: Path) -> None:
    """Have a job wait for a checkpoint that is then taken away."""
    window.ask(f"session.open_file(__import__('pathlib').Path({str(checkpoint)!r}))")
    window.wait_for(f"str(state.checkpoint) == {str(checkpoint)!r}")
    window.wait_for("window.dock.generate.isEnabled()")
    window.ask("session.jobs_in_queue.pause(paused=True)")
    window.key("ctrl+Return")
    window.wait_for("session.queue.first_waiting is not None")
    shutil.rmtree(checkpoint)
    window.ask("session.jobs_in_queue.pause(paused=False)")
    window.wait_for("any(card.notice.error for card in window.notices.cards)")


def test_a_dismissed_failure_stays_away(start_real_window: StartRealWindow, tmp_path: Path) -> None:
    # Once it came back at every start, for ever.
    window = start_real_window()
    window.wait_for("session.engine.state == 'ready'")
    fail(window, copy_of_the_starter(tmp_path, "gone"))
    see(window, "a failure before it is dismissed")
    card = "[card for card in window.notices.cards if card.notice.error][0]"
    window.click(f"{card}.dismiss")
    window.wait_for("not any(card.notice.error for card in window.notices.cards)")
    window.wait_for("not [job for job in session.queue.jobs if job.state == 'failed']")
    assert window.close() == 0
    again = start_real_window()
    again.wait_for("session.engine.state == 'ready'")
    see(again, "the start after a failure was dismissed")
    assert not again.ask("[card for card in window.notices.cards if card.notice.error]")


def test_a_vanished_checkpoint_keeps_its_name_and_has_a_way_out(
    person: RealWindow, tmp_path: Path
) -> None:
    # Once the picker was empty, above facts of the file that was gone.
    fail(person, copy_of_the_starter(tmp_path, "my gone mix"))
    person.wait_for("form.checkpoint.use_starter.isVisible()")
    assert "my gone mix" in person.ask("form.checkpoint.box.currentText()")
    assert not person.ask("window.dock.generate.isEnabled()")
    see(person, "a vanished checkpoint")
    person.ask("form.ensureWidgetVisible(form.checkpoint.use_starter)")
    person.click("form.checkpoint.use_starter")
    person.wait_for("state.checkpoint == session.checkpoints.starter")


def test_a_failure_speaks_of_the_window_and_offers_what_mends_it(
    start_real_window: StartRealWindow, tmp_path: Path
) -> None:
    # Once it said "choose another folder with --out".
    output = tmp_path / "person" / "output"
    output.parent.mkdir(exist_ok=True)
    output.write_text("a file where the folder should be")
    window = start_real_window()
    window.wait_for("session.engine.state == 'ready' and window.dock.generate.isEnabled()")
    window.key("ctrl+Return")
    window.wait_for("any(card.notice.error for card in window.notices.cards)")
    see(window, "a folder that cannot be written to")
    card = "[card for card in window.notices.cards if card.notice.error][0]"
    told = window.ask(f"{card}.notice.message + ' ' + {card}.notice.hint")
    assert "--" not in told
    assert "`" not in told
    buttons = window.ask(f"[str(action) for action in {card}.remedies]")
    assert "choose_folder" in buttons


def test_ctrl_e_leads_to_the_prompt_wherever_the_form_is(person: RealWindow) -> None:
    # Once one typed into a prompt that was out of sight.
    person.ask("form.advanced.section.open()")
    bar = "form.verticalScrollBar()"
    person.wait_for(f"{bar}.maximum() > 200")
    person.ask(f"{bar}.setValue({bar}.maximum())")
    person.click("window.dock.seed.number")
    person.key("ctrl+e")
    person.wait_for("form.prompt.hasFocus()")
    seen = "form.viewport().rect().contains(form.prompt.mapTo(form.viewport(), form.prompt.rect()"
    person.wait_for(f"{seen}.center()))")


@pytest.mark.parametrize("box", ["sampler", "schedule", "tool"])
def test_a_list_of_choices_stays_within_the_window(person: RealWindow, box: str) -> None:
    # Once it was as tall as the screen, or cut its fourth entry off.
    name = f"form.advanced.rows.method.{box}"
    person.ask("form.advanced.section.open()")
    person.ask(f"form.ensureWidgetVisible({name}, 0, 60)")
    person.click(name)
    popup = "application.activePopupWidget()"
    person.wait_for(f"{popup} is not None")
    see(person, f"the list of the {box}")
    assert person.ask(f"window.frameGeometry().contains({popup}.frameGeometry())")
    assert person.ask(f"{popup}.height()") <= 480
    person.key("Escape")
    person.wait_for(f"{popup} is None")


def test_a_picture_without_a_prompt_has_a_title(person: RealWindow) -> None:
    # Once the line was blank.
    person.ask("setattr(state, 'prompt', '')")
    before = person.ask("session.view.path")
    person.key("ctrl+Return")
    person.wait_for(f"session.view.path not in (None, {before!r})")
    person.wait_for("session.progress.job is None and 'seed' in window.info.detail.text()")
    assert person.ask("window.info.title.text()").strip()


def test_a_file_that_another_program_drags_in_is_copied(person: RealWindow, tmp_path: Path) -> None:
    # Once a move was accepted, after which a file manager deletes the file.
    photo = start_picture(tmp_path)
    basket = Basket(person.display, at=(4, 4))
    try:
        person.drag(basket.put(Path(photo)), person.place("window"))
        person.wait_for("len(window.drops.overlay.cards) == 2")
        see(person, "cards for a dragged picture")
        person.drag_on(person.place("window.drops.overlay.cards[1]"))
        time.sleep(0.2)
        person.let_go()
        assert basket.outcome() == "CopyAction"
        # The window asks the other program for the file's path only now.
        person.wait_for("len(state.inputs) == 1")
    finally:
        basket.close()
    assert Path(photo).exists()


def test_a_dead_engine_is_told_and_replaced(person: RealWindow) -> None:
    # It survived this before, too: the queue goes on.
    person.ask("setattr(state, 'steps', 60)")
    person.key("ctrl+Return")
    person.wait_for("session.queue.running is not None")
    pid = person.ask("session.process.hello.pid")
    subprocess.run(["kill", "-9", str(pid)], check=True)
    person.wait_for(f"session.process.hello is not None and session.process.hello.pid != {pid}")
    person.wait_for("session.engine.state == 'ready'")
    person.ask("session.jobs.cancel_all()")
    person.wait_for("session.queue.running is None")
