"""Presets in the window: the menu, the dialog that saves one, and the list."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.form.presets import PresetPart
from tests.ui.conftest import Desk
from ui.dialogs.preset_dialog import PresetDialog
from ui.panels.preset_panel import PresetPanel


def panel_of(desk: Desk) -> PresetPanel:
    panel = desk.window.findChild(PresetPanel)
    assert panel is not None
    return panel


def names(desk: Desk) -> list[str]:
    return [preset.name for preset in desk.session.presets.store.presets]


def press(widget: object, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    QTest.keyClick(widget, key, held)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_preset_is_saved_by_its_name_with_the_parts_that_are_ticked(desk: Desk) -> None:
    desk.session.generation.prompt = "a boat"
    dialog = panel_of(desk).save()
    assert not dialog.save.isEnabled()
    QTest.keyClicks(dialog.name, "mine")
    dialog.parts[PresetPart.PROMPTS].click()
    dialog.save.click()
    (preset,) = desk.session.presets.store.presets
    assert (preset.name, preset.parts) == ("mine", (PresetPart.PROMPTS, PresetPart.SETTINGS))


def test_a_name_that_exists_is_said_before_it_is_replaced(desk: Desk) -> None:
    desk.session.presets.save("mine", [PresetPart.PROMPTS])
    dialog = panel_of(desk).save()
    assert dialog.remark.text() == ""
    QTest.keyClicks(dialog.name, "mine")
    assert dialog.remark.text()
    for box in dialog.parts.values():
        box.setChecked(False)
    assert not dialog.save.isEnabled()
    dialog.reject()
    assert names(desk) == ["mine"]


def test_the_menu_uses_a_preset_and_shows_names_as_they_are(desk: Desk) -> None:
    session = desk.session
    session.generation.prompt = "a boat"
    session.presets.save("R&B <b>", [PresetPart.PROMPTS])
    session.generation.prompt = "x"
    panel = panel_of(desk)
    panel.menu.aboutToShow.emit()
    action = panel.menu.actions()[0]
    assert action.text() == "R&&B <b>"
    action.trigger()
    assert session.generation.prompt == "a boat"


def test_the_list_moves_renames_removes_and_uses_by_keys(desk: Desk) -> None:
    session = desk.session
    for name in ("a", "b", "c"):
        session.generation.prompt = f"prompt {name}"
        session.presets.save(name, [PresetPart.PROMPTS])
    dialog = panel_of(desk).show_list()
    dialog.activateWindow()
    desk.wait(dialog.isActiveWindow)
    dialog.list.setFocus()
    dialog.list.setCurrentRow(2)
    press(dialog.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert names(desk) == ["a", "c", "b"]
    item = dialog.list.item(0)
    item.setText("c")
    assert names(desk) == ["a", "c", "b"]
    assert item.text() == "a"
    item.setText("first")
    assert names(desk) == ["first", "c", "b"]
    dialog.list.setCurrentRow(0)
    press(dialog.list, Qt.Key.Key_Delete)
    assert names(desk) == ["c", "b"]
    press(dialog.list, Qt.Key.Key_Return)
    assert session.generation.prompt == "prompt c"


def test_a_drag_in_the_list_reorders_the_presets(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        desk.session.presets.save(name, [PresetPart.PROMPTS])
    dialog = panel_of(desk).show_list()
    model = dialog.list.model()
    assert model.moveRow(dialog.list.rootIndex(), 0, dialog.list.rootIndex(), 3)
    assert names(desk) == ["b", "c", "a"]
    assert [dialog.list.item(row).text() for row in range(3)] == ["b", "c", "a"]
    assert model.moveRow(dialog.list.rootIndex(), 2, dialog.list.rootIndex(), 0)
    assert names(desk) == ["a", "b", "c"]


def test_a_row_that_a_drag_adds_for_a_moment_is_no_preset(desk: Desk) -> None:
    desk.session.presets.save("a", [PresetPart.PROMPTS])
    dialog = panel_of(desk).show_list()
    dialog.list.addItem("a")
    dialog.list.setCurrentRow(1)
    assert dialog.current() is None
    assert not dialog.use.isEnabled()


def test_the_enter_that_ends_a_renaming_does_not_use_the_preset(desk: Desk) -> None:
    session = desk.session
    session.generation.prompt = "a boat"
    session.presets.save("a", [PresetPart.PROMPTS])
    session.generation.prompt = "mine"
    dialog = panel_of(desk).show_list()
    dialog.activateWindow()
    desk.wait(dialog.isActiveWindow)
    dialog.list.setFocus()
    dialog.rename.click()
    editor = dialog.list.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, "b")
    press(editor, Qt.Key.Key_Return)
    desk.wait(lambda: names(desk) == ["b"])
    assert session.generation.prompt == "mine"
    assert dialog.isVisible()


def test_a_list_without_presets_offers_to_save_the_first_one(desk: Desk) -> None:
    dialog = panel_of(desk).show_list()
    assert not any(widget.isVisible() for widget in (dialog.list, dialog.how, dialog.use))
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    (asked,) = dialog.findChildren(PresetDialog)
    QTest.keyClicks(asked.name, "Portrait")
    press(asked.name, Qt.Key.Key_Return)
    desk.wait(lambda: dialog.list.isVisible())
    assert names(desk) == ["Portrait"]
    assert not dialog.save.isVisible()
    dialog.remove.click()
    assert dialog.save.isVisible()
