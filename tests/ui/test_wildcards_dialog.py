"""The dialog of the word lists."""

import pytest
from PySide6.QtTest import QTest

from tests.app.fake_engine import Plan
from tests.ui.conftest import Desk, MakeDesk


def test_a_list_that_the_prompt_names_is_made_from_its_remark(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(reads_prompts=True)).start()
    form, store = desk.window.form, desk.session.wildcards
    desk.session.generation.prompt = "a __animal__ by the sea"
    panel = form.prompt_panel
    desk.wait(lambda: panel.make_list.isVisibleTo(panel))
    assert panel.problem.text() == "No list called “animal”."
    dialog = form.show_lists(panel.missing_list)
    assert dialog.name.text() == "animal"
    QTest.keyClicks(dialog.text, "cat")
    assert "1 entry, such as: cat" in dialog.about.text()
    dialog.save.click()
    desk.wait(lambda: store.names == ("animal",))
    desk.wait(lambda: dialog.names.count() == 1)
    assert dialog.names.item(0).text() == "animal · 1"
    dialog.close()
    desk.wait(lambda: not panel.make_list.isVisibleTo(panel))


def test_without_a_list_the_first_one_is_begun_by_typing_its_name(desk: Desk) -> None:
    # Once the focus was on the empty list beside it, and what was typed went nowhere.
    dialog = desk.window.form.show_lists("")
    desk.wait(dialog.isActiveWindow)
    QTest.keyClicks(dialog.focusWidget(), "sky")
    assert dialog.name.text() == "sky"
    dialog.reject()
    desk.session.wildcards.write("sky", "blue")
    desk.wait(lambda: desk.session.wildcards.names == ("sky",))
    dialog = desk.window.form.show_lists("")
    desk.wait(dialog.isActiveWindow)
    assert dialog.focusWidget() is dialog.names
    dialog.reject()


def test_without_a_list_an_example_can_be_begun(desk: Desk) -> None:
    dialog = desk.window.form.show_lists("")
    assert dialog.none.isVisibleTo(dialog)
    dialog.example.click()
    assert dialog.name.text() == "sky"
    dialog.use.click()
    desk.wait(lambda: desk.session.wildcards.names == ("sky",))
    desk.wait(lambda: not dialog.none.isVisibleTo(dialog))
    assert dialog.names.isVisibleTo(dialog)
    assert desk.session.generation.prompt.endswith("__sky__")
    dialog.reject()


def test_a_typed_list_is_kept_when_the_dialog_is_left(desk: Desk) -> None:
    dialog = desk.window.form.show_lists("")
    QTest.keyClicks(dialog.name, "sky")
    QTest.keyClicks(dialog.text, "blue")
    assert "__sky__" in dialog.about.text()
    dialog.reject()
    desk.wait(lambda: desk.session.wildcards.names == ("sky",))


def test_entries_without_a_usable_name_are_kept_when_the_dialog_is_left(desk: Desk) -> None:
    # Once Esc threw them away without a word.
    store = desk.session.wildcards
    for name, kept in (("", ("list",)), ("a__b", ("list", "list 2"))):
        dialog = desk.window.form.show_lists(name)
        QTest.keyClicks(dialog.text, "blue")
        dialog.reject()
        desk.wait(lambda kept=kept: set(store.names) == set(kept))
    assert [word_list.entries for word_list in store.lists] == [("blue",), ("blue",)]


def test_a_name_that_is_taken_or_impossible_is_said_and_not_saved(desk: Desk) -> None:
    desk.session.wildcards.write("sky", "blue")
    desk.wait(lambda: desk.session.wildcards.names == ("sky",))
    dialog = desk.window.form.show_lists("x")
    for name in ("sky", "a__b"):
        dialog.name.setText(name)
        assert not dialog.save.isEnabled()
    dialog.name.setText("")
    dialog.close()


def test_entries_are_kept_in_a_pause_and_the_cursor_stays(desk: Desk) -> None:
    store = desk.session.wildcards
    dialog = desk.window.form.show_lists("fruit")
    QTest.keyClicks(dialog.text, "apple")
    desk.wait(lambda: store.names == ("fruit",))
    desk.wait(lambda: dialog.names.count() == 1)
    QTest.keyClicks(dialog.text, "s")
    assert dialog.text.toPlainText() == "apples"
    desk.wait(lambda: store.lists[0].entries == ("apples",))
    dialog.reject()


@pytest.mark.parametrize("next_list", ["", "sea"])
def test_the_next_list_stays_when_the_one_before_is_saved(desk: Desk, next_list: str) -> None:
    # Once the list that was left came back, took the next one's name and words, and was lost.
    store = desk.session.wildcards
    for name in ("sea", "sky"):
        store.write(name, "blue\n")
    desk.wait(lambda: store.names == ("sea", "sky"))
    dialog = desk.window.form.show_lists("")
    dialog.names.setCurrentRow(1)
    QTest.keyClicks(dialog.text, "grey, ")
    if next_list:
        dialog.names.setCurrentRow(0)
    else:
        dialog.new.click()
        QTest.keyClicks(dialog.name, "tree")
    desk.wait(lambda: store.lists[1].text == "grey, blue\n")
    assert dialog.name.text() == (next_list or "tree")
    assert dialog.text.toPlainText() == ("blue\n" if next_list else "")
    dialog.reject()


def test_a_list_that_another_program_deletes_is_shown_no_longer(desk: Desk) -> None:
    store = desk.session.wildcards
    store.write("sky", "blue\n")
    desk.wait(lambda: store.names == ("sky",))
    dialog = desk.window.form.show_lists("")
    assert dialog.name.text() == "sky"
    (store.folder / "sky.txt").unlink()
    store.refresh()
    desk.wait(lambda: not store.names)
    assert (dialog.name.text(), dialog.text.toPlainText()) == ("", "")
    dialog.reject()


def test_a_deleted_list_comes_back(desk: Desk) -> None:
    store = desk.session.wildcards
    store.write("sky", "blue")
    desk.wait(lambda: store.names == ("sky",))
    dialog = desk.window.form.show_lists("")
    dialog.delete.click()
    desk.wait(lambda: store.names == ())
    desk.wait(dialog.undo.isVisible)
    dialog.undo.click()
    desk.wait(lambda: store.names == ("sky",))
    dialog.close()


def test_a_list_is_added_to_the_prompt(desk: Desk) -> None:
    desk.session.wildcards.write("sky", "blue")
    desk.wait(lambda: desk.session.wildcards.names == ("sky",))
    dialog = desk.window.form.show_lists("")
    dialog.use.click()
    assert desk.session.generation.prompt.endswith(", __sky__")
    dialog.close()


def test_a_list_that_is_only_looked_at_is_not_written(desk: Desk) -> None:
    folder = desk.session.wildcards.folder
    folder.mkdir(parents=True)
    # Of a web page, with spaces that Qt's document changes, and in a system's older encoding.
    contents = {"web": "a\u00a0house\r\nb".encode(), "old": "café\n".encode("cp1252")}
    for name, content in contents.items():
        (folder / f"{name}.txt").write_bytes(content)
    desk.session.wildcards.refresh()
    desk.wait(lambda: len(desk.session.wildcards.lists) == 2)
    dialog = desk.window.form.show_lists("")
    for row in (0, 1, 0):
        dialog.names.setCurrentRow(row)
    assert dialog.name.text() == "old"
    assert dialog.text.isReadOnly()
    QTest.keyClicks(dialog.text, "new")
    QTest.keyClicks(dialog.name, "er")
    assert not dialog.save.isEnabled()
    dialog.reject()
    desk.session.background.close()
    assert {path.stem: path.read_bytes() for path in folder.iterdir()} == contents


def test_a_list_that_cannot_be_edited_says_why_and_what_helps(desk: Desk) -> None:
    # Once its fields took no letter, and nothing said a reason.
    store = desk.session.wildcards
    store.folder.mkdir(parents=True, exist_ok=True)
    (store.folder / "cafe.txt").write_bytes("café\nbar".encode("cp1252"))
    (store.folder / "long.txt").write_bytes(b"blue\n" * 1_000_000)
    store.refresh()
    desk.wait(lambda: store.names == ("cafe", "long"))
    dialog = desk.window.form.show_lists("")
    told: list[str] = []
    for row in range(2):
        dialog.names.setCurrentRow(row)
        assert dialog.text.isReadOnly()
        told.append(dialog.about.text().replace("\u200b", ""))
    assert len(dialog.text.toPlainText()) < 100_000
    assert "not in the encoding UTF-8. Save it in UTF-8" in told[0]
    assert "Prompts draw from the first 4 MB" in told[1]
    dialog.reject()
