"""The LoRAs in the form: strengths, trigger words, settings to use, and files that are missing."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from app.form.lora_list import LoraFate
from app.notices.remedies import NoticeAction
from engine.api.lora import LoraChoice
from tests.app.fake_engine import Plan
from tests.app.loras import FAST, HUGE, INK, LCM, LORAS, lora
from tests.app.test_lora_list import choose
from tests.checkpoints.files import CHECKPOINT, write_sparse
from tests.jobs.test_lora_index import KEYS
from tests.ui.conftest import Desk, MakeDesk, desk_of_module
from tests.ui.test_accessibility import unnamed
from tests.ui.test_main_window import drag, drop
from ui.files.chooser import FileChooser
from ui.item_models.lora_item_model import ABOUT_ROLE
from ui.panels.lora_panel import FileMenu, LoraPanel
from ui.panels.lora_row import LoraRowPanel
from ui.theme.theme import Theme

# The display of tests says so of menus.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

LEFT = Qt.MouseButton.LeftButton
PLAN = Plan(loras=LORAS)


@pytest.fixture(scope="module")
def _one_desk(dark_theme: Theme, request: pytest.FixtureRequest) -> Iterator[Desk]:  # pyright: ignore[reportUnusedFunction]
    """A window whose engine lists a few LoRA files."""
    with desk_of_module(request, dark_theme, PLAN) as made:
        made.start()
        made.wait(lambda: made.session.loras.is_listed)
        yield made


@pytest.fixture
def desk(_one_desk: Desk, theme: Theme) -> Desk:
    """The window of all tests, as at first."""
    _one_desk.put_back()
    choose(_one_desk, "sd1")
    return _one_desk


def choosing(path: str) -> Callable[..., str]:
    """A file dialog in which this file is chosen."""

    def choose_file(*_: object) -> str:
        return path

    return choose_file


def panel(desk: Desk) -> LoraPanel:
    return desk.window.form.loras


def row(desk: Desk, at: int = 0) -> LoraRowPanel:
    return panel(desk).cards[at]


def test_an_empty_list_is_one_button_that_opens_all_files(desk: Desk) -> None:
    assert panel(desk).cards == []
    assert not panel(desk).heading.isVisibleTo(desk.window)
    dialog = panel(desk).browse()
    assert dialog.model.rowCount() == len(LORAS)
    dialog.reject()


def test_the_slider_acts_on_the_next_picture(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    assert row(desk).name.text() == "ink"
    row(desk).strength.slider.setValue(0.6)
    request = desk.session.generation.build_request()
    assert request.loras == (LoraChoice(file=INK.path, strength=0.6),)


def test_the_text_has_the_same_strength_until_it_is_given_its_own(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    lora_row = row(desk)
    assert not lora_row.text_strength.isVisibleTo(desk.window)
    lora_row.more.click()
    assert lora_row.text_strength.isVisibleTo(desk.window)
    lora_row.text_strength.slider.setValue(0.2)
    assert desk.session.generation.loras[0].text_strength == 0.2
    lora_row.more.click()
    assert not lora_row.text_strength.isVisibleTo(desk.window)
    assert desk.session.generation.loras[0].text_strength is None


def test_strengths_are_typed_and_go_back_to_the_usual_ones_by_a_double_click(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    lora_row = row(desk)
    desk.window.form.ensureWidgetVisible(lora_row)
    for value in ("0.35", "-2"):
        lora_row.strength.field.selectAll()
        QTest.keyClicks(lora_row.strength.field, f"{value}\r")
        assert desk.session.generation.loras[0].strength == float(value)
    QTest.mouseDClick(lora_row.strength.slider, LEFT)
    assert desk.session.generation.loras[0].strength == lora_row.strength.field.value() == 1
    lora_row.more.click()
    lora_row.text_strength.slider.setValue(0.2)
    lora_row.text_strength.slider.reset.emit()
    assert desk.session.generation.loras[0].text_strength is None
    assert lora_row.text_strength.field.value() == 1


def test_a_lora_is_switched_off_and_on_by_its_tick(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    lora_row = row(desk)
    desk.window.form.ensureWidgetVisible(lora_row)
    QTest.mouseClick(lora_row.enabled, LEFT)
    assert desk.session.generation.build_request().loras == ()
    assert lora_row.reason.text()
    QTest.keyClick(lora_row.enabled, Qt.Key.Key_Space)
    assert len(desk.session.generation.build_request().loras) == 1
    assert not lora_row.reason.isVisibleTo(desk.window)


def test_a_trigger_word_is_clicked_into_the_prompt_and_out_again(desk: Desk) -> None:
    desk.session.generation.prompt = "a cat"
    desk.session.lora.add(INK.path)
    chips = row(desk).words.chips
    assert [chip.text() for chip in chips] == list(INK.trigger_words)
    chips[1].click()
    assert desk.window.form.prompt.toPlainText() == "a cat, sumi-e brush"
    assert [chip.isChecked() for chip in chips] == [False, True]
    chips[1].click()
    assert desk.session.generation.prompt == "a cat"
    # The field undoes it like any edit.
    desk.window.form.prompt.undo()
    assert desk.session.generation.prompt == "a cat, sumi-e brush"
    assert chips[1].isChecked()


def test_the_settings_of_a_few_step_lora_are_one_click(desk: Desk) -> None:
    desk.session.lora.add(FAST.path)
    button = row(desk).use_settings
    assert button.isVisibleTo(desk.window)
    assert button.text() == "Use its settings: LCM, 4 steps, guidance 1"
    button.click()
    request = desk.session.generation.build_request()
    used = request.sampler, request.schedule, request.steps, request.guidance
    assert used == (LCM.sampler, LCM.schedule, LCM.steps, LCM.guidance)
    assert not button.isVisibleTo(desk.window)
    desk.window.notices.cards[-1].remedies[NoticeAction.UNDO_CHANGE].click()
    assert desk.session.generation.steps is None
    assert button.isVisibleTo(desk.window)


def test_a_lora_of_another_family_says_so_and_stays(desk: Desk) -> None:
    desk.session.lora.add(HUGE.path)
    lora_row = row(desk)
    assert lora_row.reason.text().replace("\u200b", "") == (
        "Not applied: it is a LoRA for sdxl, and the model is sd1."
    )
    assert not lora_row.strength.isVisibleTo(desk.window)
    choose(desk, "sdxl")
    assert not lora_row.reason.isVisibleTo(desk.window)
    assert lora_row.strength.isVisibleTo(desk.window)


def test_removing_one_can_be_undone_from_its_notice(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    desk.session.lora.add(FAST.path)
    row(desk).remove.click()
    assert [card.name.text() for card in panel(desk).cards] == ["lcm-lora"]
    desk.window.notices.cards[-1].remedies[NoticeAction.UNDO_CHANGE].click()
    assert [card.name.text() for card in panel(desk).cards] == ["ink", "lcm-lora"]


def test_the_focus_stays_in_the_list_when_the_last_row_is_removed(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    row(desk).remove.setFocus()
    row(desk).remove.click()
    assert desk.window.focusWidget() is panel(desk).add


def test_a_missing_file_is_named_with_its_hash_and_can_be_found(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session.generation.loras = (LoraChoice(file="lost", strength=0.3, hash="cd" * 6),)
    lora_row = row(desk)
    assert lora_row.find_it.isVisibleTo(desk.window)
    assert "cdcdcdcdcdcd" in lora_row.reason.text()
    found = str(write_sparse(tmp_path / "found.safetensors", KEYS))
    monkeypatch.setattr(FileChooser, "open_file", choosing(found))
    lora_row.find_it.click()
    assert desk.session.generation.loras[0] == LoraChoice(file=found, strength=0.3, hash="cd" * 6)


def test_a_lost_lora_of_the_prompt_is_shown_with_a_button_to_find_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session.generation.prompt = "a cat <lora:seaside:0.8> <lora:ink:1>"
    (lost,) = panel(desk).questions
    assert "seaside" in lost.words.text()
    assert "ink" in panel(desk).named.text()
    monkeypatch.setattr(FileChooser, "open_file", choosing(FAST.path))
    lost.act.click()
    assert panel(desk).questions == []
    assert desk.session.generation.prompt == "a cat <lora:ink:1>"
    assert desk.session.generation.loras == (LoraChoice(file=FAST.path, strength=0.8),)


def test_a_dropped_file_says_on_its_card_what_becomes_of_it(desk: Desk, tmp_path: Path) -> None:
    lora = write_sparse(tmp_path / "drop.safetensors", KEYS)
    mix = write_sparse(tmp_path / "mix.safetensors", CHECKPOINT)
    titles = [desk.window.drops.offers(file)[0].title for file in (lora, mix)]
    assert titles == ["Add this LoRA", "Use this model"]
    desk.window.drops.take(desk.window.drops.offers(lora)[0])
    assert [card.name.text() for card in panel(desk).cards] == ["drop"]


def test_every_control_of_a_row_has_a_name_of_its_own(desk: Desk) -> None:
    for info in LORAS:
        desk.session.lora.add(info.path)
    desk.session.lora.change(0, text_strength=0.5)
    desk.session.generation.prompt = "<lora:seaside:1>"
    assert unnamed(desk.window) == []
    names = [card.enabled.accessibleName() for card in panel(desk).cards]
    assert len(set(names)) == len(LORAS)


def test_the_tab_key_goes_through_the_rows_where_they_are_seen(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    desk.session.generation.prompt = "<lora:seaside:1>"
    desk.session.lora.add(FAST.path)
    desk.window.form.negative.setFocus()
    (question,), (first, second) = panel(desk).questions, panel(desk).cards
    seen: list[QWidget | None] = []
    while desk.window.focusWidget() is not panel(desk).add and len(seen) < 40:
        QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Tab)
        seen.append(desk.window.focusWidget())
    assert seen == [
        *(
            control
            for control in (*first.controls, *second.controls)
            if control.isVisibleTo(desk.window)
        ),
        question.act,
        panel(desk).add,
    ]


def test_words_of_a_stranger_widen_nothing(desk: Desk) -> None:
    long = "<b>word</b>" * 100
    desk.session.generation.loras = (LoraChoice(file=long, hash="cd" * 6),)
    desk.session.generation.prompt = f"<lora:{'seaside' * 100}:1>"
    desk.resize(960, 640)
    form, content = desk.window.form, desk.window.form.widget()
    assert content is not None
    desk.wait(lambda: desk.window.size().toTuple() == (960, 640))
    desk.wait(lambda: content.width() <= form.viewport().width())


def test_a_row_is_laid_out_from_right_to_left(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    desk.window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    lora_row = row(desk)
    desk.wait(lambda: lora_row.enabled.x() > lora_row.remove.x())
    first, second = lora_row.words.chips
    desk.wait(lambda: first.x() > second.x() or first.y() < second.y())
    assert lora_row.words.rect().right() - first.geometry().right() <= 1


def test_several_loras_that_are_dropped_at_once_all_join_the_list(
    desk: Desk, tmp_path: Path
) -> None:
    files = [write_sparse(tmp_path / f"{name}.safetensors", KEYS) for name in "abc"]
    mix = write_sparse(tmp_path / "mix.safetensors", CHECKPOINT)
    before = desk.session.generation.checkpoint
    drop(desk.window, drag(desk.window, *files, mix))
    assert [choice.file for choice in desk.session.generation.loras] == list(map(str, files))
    assert desk.session.generation.checkpoint == before


TWINS = (
    lora("ink", path="/first/Lora/ink.safetensors"),
    lora("styles/ink", path="/first/Lora/styles/ink.safetensors"),
    lora("ink", path="/second/Lora/ink.safetensors"),
    FAST,
)


@pytest.fixture
def twins(make_desk: MakeDesk) -> Desk:
    """A window whose engine lists three files of one name."""
    made = make_desk(Plan(loras=TWINS))
    made.start()
    made.wait(lambda: made.session.loras.is_listed)
    choose(made, "sd1")
    return made


def open_menu(desk: Desk, button: QPushButton) -> FileMenu:
    button.click()
    (menu,) = desk.window.findChildren(FileMenu)
    return menu


def test_a_row_says_which_of_several_files_it_is_and_offers_the_others(twins: Desk) -> None:
    # By name, as a picture of another tool brings it.
    twins.session.generation.loras = (LoraChoice(file="ink", strength=0.3),)
    lora_row = row(twins)
    assert lora_row.about.text().startswith("first/Lora · ")
    menu = open_menu(twins, lora_row.another)
    lines = [(action.text(), action.isChecked()) for action in menu.actions()]
    assert lines == [("first/Lora", True), ("styles", False), ("second/Lora", False)]
    menu.actions()[2].trigger()
    request = twins.session.generation.build_request()
    assert request.loras == (LoraChoice(file=TWINS[2].path, strength=0.3),)
    assert lora_row.about.text().startswith("second/Lora · ")
    twins.window.notices.cards[-1].remedies[NoticeAction.UNDO_CHANGE].click()
    assert twins.session.generation.loras[0].file == "ink"


def test_another_file_in_place_of_one_that_is_gone_is_told(twins: Desk) -> None:
    twins.session.generation.loras = (LoraChoice(file="/gone/lcm-lora.safetensors"),)
    text = row(twins).reason.text().replace("\u200b", "")
    assert text == "Its file is not there; the one of its name in /loras is used."
    twins.session.generation.loras = (LoraChoice(file="lcm-lora"),)
    assert not row(twins).reason.isVisibleTo(twins.window)


def test_a_file_that_has_its_name_alone_offers_no_other(twins: Desk) -> None:
    twins.session.lora.add(FAST.path)
    assert not row(twins).another.isVisibleTo(twins.window)


def test_the_file_of_a_tag_is_chosen_among_those_of_its_name(twins: Desk) -> None:
    twins.session.generation.prompt = "a cat <lora:ink:0.4>"
    (question,) = panel(twins).questions
    assert "first/Lora" in question.words.text().replace("\u200b", "")
    open_menu(twins, question.act).actions()[1].trigger()
    assert twins.session.generation.prompt == "a cat"
    assert twins.session.generation.loras == (LoraChoice(file=TWINS[1].path, strength=0.4),)


def test_a_tag_that_says_more_than_strengths_gets_the_folder_of_the_chosen_file(
    twins: Desk,
) -> None:
    prompt = "a cat <lora:ink:1:lbw=MIDD>"
    twins.session.generation.prompt = prompt
    (question,) = panel(twins).questions
    menu = open_menu(twins, question.act)
    # No name tells it from the first.
    menu.actions()[2].trigger()
    assert twins.session.generation.prompt == prompt
    assert twins.session.notices.notices[-1].message.startswith("Two files are called ink")
    menu.actions()[1].trigger()
    assert twins.session.generation.prompt == "a cat <lora:styles/ink:1:lbw=MIDD>"
    assert panel(twins).questions == []


def test_the_list_of_files_tells_those_of_one_name_apart(twins: Desk) -> None:
    model = panel(twins).browse().model
    lines = [model.data(model.index(row), ABOUT_ROLE) for row in range(4)]
    assert {line.split(" · ")[0] for line in lines} == {
        "sd1",
        "first/Lora",
        "styles",
        "second/Lora",
    }


def test_a_strength_begun_in_a_removed_card_is_given_up(desk: Desk) -> None:
    desk.session.lora.add(INK.path)
    field = row(desk).strength.field
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "3")
    row(desk).remove.click()
    assert desk.session.generation.loras == ()


def test_a_card_that_takes_the_next_lora_shows_no_strength_of_the_one_before(desk: Desk) -> None:
    desk.session.generation.loras = (
        LoraChoice(file=INK.path, text_strength=0.5),
        LoraChoice(file=FAST.path),
    )
    desk.wait(lambda: len(panel(desk).cards) == 2)
    assert row(desk).text_strength.isVisibleTo(desk.window)
    desk.session.lora.remove(0)
    assert row(desk).name.text() == "lcm-lora"
    assert not row(desk).more.isChecked()
    assert not row(desk).text_strength.isVisibleTo(desk.window)


def test_a_broken_file_outside_of_the_folders_is_not_called_lost(
    make_desk: MakeDesk, tmp_path: Path
) -> None:
    desk = make_desk(real=True).start()
    page = tmp_path / "style.safetensors"
    page.write_bytes(b"<!DOCTYPE html><html>Please log in</html>")
    desk.wait(lambda: desk.session.loras.is_listed)
    desk.session.lora.add(str(page))
    desk.wait(lambda: desk.session.lora_list.rows[0].fate is LoraFate.BROKEN)
    assert "Not applied" in row(desk).reason.text()
    assert not row(desk).find_it.isVisibleTo(desk.window)
