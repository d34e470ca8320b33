"""Troubles that slowed people down or misled them, each tried again."""

from pathlib import Path

import pytest
from PIL import Image

from tests.ui.real_window.conftest import StartRealWindow
from tests.ui.real_window.person import RealWindow
from tests.ui.real_window.trial.conftest import generate, see

pytestmark = pytest.mark.slow
VIEW = "window.canvas.view"
PAINT = "window.canvas.paint"


def test_count_seed_and_generate_are_together_and_say_the_number(person: RealWindow) -> None:
    # Once they were below the fold, and a count of 4 stayed in force unseen.
    for widget in ("count", "seed", "generate"):
        assert person.ask(f"not window.dock.{widget}.visibleRegion().isEmpty()")
    person.click("window.dock.count.field")
    person.key("ctrl+a")
    person.write("4")
    person.key("Tab")
    person.wait_for("state.count == 4 and '4' in window.dock.generate.text()")


def test_a_newcomer_meets_no_schedules(start_real_window: StartRealWindow) -> None:
    # Once "SGM Uniform" and "As in: AUTOMATIC1111" came before the first picture.
    window = start_real_window()
    for widget in ("method.schedule", "method.tool", "steps", "guidance"):
        assert not window.ask(f"form.advanced.rows.{widget}.isVisible()")
    see(window, "the first start")


def test_a_batch_shows_all_its_pictures_and_its_number(person: RealWindow) -> None:
    # Once only the last was shown, and nothing said "2 of 4".
    person.ask("setattr(state, 'count', 3)")
    person.write("a castle")
    person.key("ctrl+Return")
    person.wait_for("len(window.canvas.batch.cells) == 3 and window.canvas.batch.isVisible()")
    person.wait_for("'Picture 2 of 3' in window.dock.status.title.text()")
    see(person, "a batch while it is made")
    person.wait_for("session.progress.job is None and session.queue.running is None")


def test_progress_contradicts_itself_nowhere(person: RealWindow) -> None:
    # Once "step 0 of 20" stood beside "almost done".
    person.ask("setattr(state, 'steps', 30)")
    person.key("ctrl+Return")
    person.wait_for("session.progress.job is not None")
    statuses: list[tuple[str, str, int, int]] = []
    while person.ask("session.queue.running is not None"):
        parts = person.ask(
            "[window.dock.status.title.text(), window.dock.status.detail.text(),"
            " session.progress.done, session.progress.total]"
        )
        statuses.append(tuple(parts))
    early = [status for status in statuses if status[3] and status[2] < status[3] * 0.6]
    assert early
    assert not [status for status in early if "almost" in status[0] + status[1]]


def test_notices_leave_the_picture_where_it_is_and_leave_by_themselves(
    person: RealWindow,
) -> None:
    # Once each pushed the picture down and stayed for ever.
    generate(person, "a red house")
    before = person.ask(f"{VIEW}.geometry().getRect()")
    person.key("ctrl+l")
    person.ask("setattr(state, 'prompt', 'something else')")
    person.key("ctrl+u")
    person.wait_for("window.notices.cards")
    see(person, "a notice over the picture")
    assert person.ask(f"{VIEW}.geometry().getRect()") == before
    person.point_at("window.dock.status")
    person.wait_for("not window.notices.cards")


def test_a_picture_says_which_model_made_it_and_how(person: RealWindow) -> None:
    # Once neither the model nor the negative prompt could be seen.
    generate(person, "a yellow boat")
    # While it is made, the line says its seed without the model.
    person.wait_for("'starter' in window.info.detail.text().lower()")
    assert "seed" in person.ask("window.info.detail.text()")
    person.key("ctrl+shift+i")
    person.wait_for("session.view.details and window.canvas.details.isVisible()")
    see(person, "how a picture was made")
    person.key("ctrl+shift+i")
    person.wait_for("not session.view.details")


def test_a_picture_is_zoomed_by_wheel_and_keys(person: RealWindow) -> None:
    # Once it was always fitted, and the wheel did nothing.
    generate(person, "a purple flower")
    person.wait_for(f"{VIEW}.isVisible() and {VIEW}.is_fitted")
    person.wheel(VIEW, -3)
    person.wait_for(f"not {VIEW}.is_fitted")
    see(person, "a picture zoomed by the wheel")
    person.key("ctrl+0")
    person.wait_for(f"{VIEW}.is_fitted")
    person.key("ctrl+alt+0")
    person.wait_for(f"not {VIEW}.is_fitted")
    person.key("ctrl+0")
    person.wait_for(f"{VIEW}.is_fitted")


def test_a_changed_size_is_told(person: RealWindow, tmp_path: Path) -> None:
    # Once a start picture of 512 x 768 became 208 x 312 without a word.
    path = tmp_path / "photo.png"
    Image.new("RGB", (512, 768), "teal").save(path)
    person.ask(f"form.inputs.start_from({str(path)!r})")
    person.wait_for("len(state.inputs) == 1")
    told = "window.form.size_remark.text() + ' '.join(one.message for one in"
    person.wait_for(f"({told} session.notices.notices)).strip()")
    person.ask("form.ensureWidgetVisible(form.size_remark)")


@pytest.mark.parametrize("name", ["web page.safetensors", "cut.ckpt"])
def test_a_broken_model_cannot_be_made_pictures_with(
    person: RealWindow, tmp_path: Path, name: str
) -> None:
    # Once Generate was enabled, and then failed.
    broken = tmp_path / name
    broken.write_text("<!doctype html><html>not found</html>")
    person.ask(f"session.open_file(__import__('pathlib').Path({str(broken)!r}))")
    person.wait_for(f"str(state.checkpoint) == {str(broken)!r}")
    person.wait_for("not window.dock.generate.isEnabled()")
    person.wait_for("form.checkpoint.problem.text()")


def test_painting_has_redo_zoom_and_another_colour(person: RealWindow, tmp_path: Path) -> None:
    # Once a red veil was all, invisible on a red house, in a window that let nothing else be done.
    path = tmp_path / "photo.png"
    Image.new("RGB", (256, 256), "firebrick").save(path)
    person.ask(f"session.pictures.start_from({str(path)!r}, 256, 256)")
    person.key("ctrl+m")
    person.wait_for(f"{PAINT} is not None and not {PAINT}.layer.mask.isNull()")
    x, y = person.place(f"{PAINT}.view")
    person.drag((x - 60, y), (x + 60, y + 20))
    person.let_go()
    person.wait_for("len(state.inputs) == 2")
    person.key("ctrl+z")
    person.wait_for("len(state.inputs) == 1")
    person.key("ctrl+shift+z")
    person.wait_for("len(state.inputs) == 2")
    person.key("v")
    see(person, "a mask in another colour")
    person.wheel((x, y), -2)
    person.wait_for(f"not {PAINT}.view.is_fitted")
    person.click("form.prompt")
    person.write("a boat")
    person.wait_for("state.prompt == 'a boat'")


def test_the_side_folds_and_gives_its_room_to_the_picture(person: RealWindow) -> None:
    # Once it had a fixed width of nearly half a small window.
    before = person.ask("window.canvas.width()")
    person.key("ctrl+b")
    person.wait_for(f"not form.isVisible() and window.canvas.width() > {before}")
    see(person, "the form folded away")
    person.key("ctrl+b")
    person.wait_for("form.isVisible()")


def test_a_short_prompt_is_not_counted(person: RealWindow) -> None:
    # Once "8 of 75 tokens" was in the best place.
    person.write("a red house")
    person.wait_for("state.prompt == 'a red house'")
    person.wait_for("session.prompts.prompt.check.text == 'a red house'")
    assert not person.ask("form.prompt_panel.count.text()")
    person.ask("setattr(state, 'prompt', 'a house, ' * 30)")
    person.wait_for("form.prompt_panel.count.text()")


def test_an_empty_prompt_has_an_example_and_surprise_me(person: RealWindow) -> None:
    # Once it was an empty box.
    assert person.ask("form.prompt.placeholderText()")
    see(person, "an empty prompt")
    person.click("form.surprise")
    person.wait_for("state.prompt")


def test_words_that_the_starter_never_saw_are_told(person: RealWindow) -> None:
    # Once "a portrait of a woman" made a red tree without a word.
    person.write("a portrait of a woman")
    person.wait_for("'portrait' in form.prompt_panel.unknown.text()")
