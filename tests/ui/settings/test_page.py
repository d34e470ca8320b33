"""Settings are found by their words, act at once, and come back."""

from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.downloads.contacts import Contacts
from app.settings.reading import read_settings
from app.settings.values import USUAL, Language, Look, stated
from engine.api.saving import PictureFormat
from tests.app.supervised import PATIENCE_MS
from tests.ui.conftest import Desk
from ui.actions import ActionName
from ui.places import Place
from ui.settings.about import LicencesRow, ReportRow
from ui.settings.fields import FileNameField, FolderField
from ui.settings.page import SettingsPage
from ui.settings.privacy import HostsRow
from ui.settings.restart_offer import RestartOffer
from ui.settings.rows import SettingRow, about
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.folding_row import FoldingRow
from ui.widgets.slider_field import SliderField
from ui.widgets.tick_box import TickBox


def row_of(page: SettingsPage, title: str) -> SettingRow:
    rows = [row for section in page.sections for row in section.made]
    return next(row for row in rows if row.title.text() == title)


def folder_field(page: SettingsPage, title: str) -> FolderField:
    (field,) = row_of(page, title).findChildren(FolderField)
    return field


def choose(page: SettingsPage, title: str, value: object) -> None:
    (box,) = row_of(page, title).findChildren(ChoiceBox)
    row = box.findData(value)
    box.setCurrentIndex(row)
    box.activated.emit(row)


def test_a_click_on_a_settings_name_ticks_its_box(desk: Desk, page: SettingsPage) -> None:
    name = row_of(page, "Previews").title
    QTest.mouseClick(name, Qt.MouseButton.RightButton)
    assert desk.session.settings.now.previews
    QTest.mouseClick(name, Qt.MouseButton.LeftButton)
    assert not desk.session.settings.now.previews
    # Let go beside it, the press was a slip.
    QTest.mousePress(name, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(name, Qt.MouseButton.LeftButton, pos=QPoint(-5, -5))
    assert not desk.session.settings.now.previews


def test_the_rail_leads_to_the_settings(new_desk: Desk) -> None:
    QTest.keyClick(new_desk.window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert new_desk.window.places.place is Place.SETTINGS


def test_the_page_opens_with_its_first_rows_and_makes_the_others_later(new_desk: Desk) -> None:
    new_desk.window.places.open(Place.SETTINGS)
    (page,) = new_desk.window.findChildren(SettingsPage)
    assert page.sections[0].made
    assert not page.sections[-1].made
    new_desk.wait(lambda: len(page.sections[-1].made) == 4)
    assert set(page.shortcuts.rows) == set(ActionName)


def test_rows_are_made_while_they_are_seen(new_desk: Desk) -> None:
    """Rows that came meanwhile were all laid out at once when the page was opened again."""
    places = new_desk.window.places
    places.open(Place.SETTINGS)
    page = places.page
    assert isinstance(page, SettingsPage)

    def made() -> int:
        return sum(len(section.made) for section in page.sections)

    first = made()
    places.open(Place.CREATE)
    for _ in range(20):
        QApplication.processEvents()
    assert made() == first
    places.open(Place.SETTINGS)
    new_desk.wait(lambda: not page._unfinished)  # pyright: ignore[reportPrivateUsage]
    assert made() > first
    # Work that is over stays so.
    places.open(Place.CREATE)
    places.open(Place.SETTINGS)


def test_rows_are_not_measured_anew_for_each_row_that_comes(
    new_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once each was asked for its height some 180 times, as all around it asked at several widths.
    asked, height_for_width = list[int](), FoldingRow.heightForWidth

    def counted(row: FoldingRow, width: int) -> int:
        asked.append(width)
        return height_for_width(row, width)

    monkeypatch.setattr(FoldingRow, "heightForWidth", counted)
    new_desk.window.places.open(Place.SETTINGS)
    (page,) = new_desk.window.findChildren(SettingsPage)
    new_desk.wait(lambda: len(page.sections[-1].made) == 4)
    rows = sum(len(section.made) for section in page.sections)
    assert 0 < len(asked) < 130 * rows


def test_a_search_finds_what_was_not_made_yet(new_desk: Desk) -> None:
    new_desk.window.places.open(Place.SETTINGS)
    (page,) = new_desk.window.findChildren(SettingsPage)
    assert not page.sections[-1].made
    page.search.setText("lic")
    page.search.setText("licences")
    # The rows come in slices; all of them at once would hold the window up.
    assert not page.sections[-1].made
    new_desk.wait(lambda: page.count.text() == "1 setting found.")
    row = row_of(page, "Licences")
    assert row.property("found")
    assert 0 <= row.mapTo(page.area.viewport(), row.rect().topLeft()).y() < page.area.height()


def test_a_word_marks_what_it_finds_and_scrolls_there(desk: Desk, page: SettingsPage) -> None:
    QTest.keyClicks(page.search, "graphics card")
    assert row_of(page, "Devices").property("found")
    assert not row_of(page, "Format").property("found")
    assert page.count.text() == "1 setting found."
    assert page.navigation.item(page.navigation.currentRow()).text() == "Devices"
    row = row_of(page, "Devices")
    top = row.mapTo(page.area.viewport(), row.rect().topLeft())
    assert 0 <= top.y() < page.area.viewport().height()
    page.search.setText("xylophone")
    assert "No setting" in page.count.text()
    page.search.clear()
    assert not page.count.isVisible()


def test_enter_goes_on_to_the_next_setting_that_was_found(page: SettingsPage) -> None:
    page.search.setText("folder")
    before = page.area.verticalScrollBar().value()
    QTest.keyClick(page.search, Qt.Key.Key_Return)
    QTest.keyClick(page.search, Qt.Key.Key_Return)
    assert page.count.text().startswith("3 of")
    assert page.area.verticalScrollBar().value() > before


def test_a_section_is_scrolled_to_and_marked(page: SettingsPage) -> None:
    for number, section in enumerate(page.sections):
        page.navigation.setCurrentRow(number)
        heading = page.headings[number]
        assert heading.text() == section.title
        assert heading.mapTo(page.area.viewport(), heading.rect().topLeft()).y() >= 0
    page.area.verticalScrollBar().setValue(0)
    assert page.navigation.currentRow() == 0


def test_the_look_changes_at_once(
    desk: Desk, page: SettingsPage, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Look] = []
    monkeypatch.setattr(theme, "use_look", used.append)
    choose(page, "Colours", Look.CONTRAST)
    assert desk.session.settings.now.look is Look.CONTRAST
    assert used == [Look.CONTRAST]


def test_a_setting_is_in_the_file_and_shown_again(desk: Desk, page: SettingsPage) -> None:
    settings = desk.session.settings
    choose(page, "Format", PictureFormat.WEBP)
    (slider,) = row_of(page, "Quality").findChildren(SliderField)
    assert slider.isEnabled()
    slider.field.setValue(70)
    for title in ("Previews", "Settings in each picture", "Reduce motion"):
        (tick,) = row_of(page, title).findChildren(TickBox)
        tick.click()
    now = settings.now
    assert (now.picture_format, now.quality) == (PictureFormat.WEBP, 70)
    assert (now.previews, now.metadata, now.reduce_motion) == (False, False, True)
    desk.wait(lambda: read_settings(settings.path).settings == now)
    # By hand, back again.
    desk.wait(lambda: settings.is_idle)
    settings.path.write_text("previews = true\n")
    settings.look_again()
    desk.wait(lambda: settings.now == USUAL)
    (tick,) = row_of(page, "Previews").findChildren(TickBox)
    assert tick.isChecked()
    assert not slider.isEnabled()


def test_every_setting_has_a_row(page: SettingsPage) -> None:
    rows = [row for section in page.sections for row in section.made]
    # A section of its own.
    without = stated().keys() - {"shortcuts"}
    missing = [
        name
        for name in without
        if not any(row.matches(about(name).casefold().split()) for row in rows)
    ]
    assert not missing, "a setting of app/settings/values.py has a row in ui/settings/sections.py"


def test_every_control_has_a_name(page: SettingsPage) -> None:
    for section in page.sections:
        for row in section.made:
            for control in row.findChildren(QWidget):
                if control.focusPolicy() & Qt.FocusPolicy.TabFocus and control.isVisible():
                    named = control.accessibleName() or getattr(control, "text", str)()
                    assert named, (row.title.text(), control)


def test_nothing_on_the_page_is_rich_text(page: SettingsPage) -> None:
    for label in page.findChildren(QLabel):
        assert label.textFormat() is Qt.TextFormat.PlainText


# --- folders ---


def test_a_folder_is_typed_and_used(desk: Desk, page: SettingsPage, tmp_path: Path) -> None:
    field = folder_field(page, "Wildcards")
    folder = tmp_path / "new" / "lists"
    field.path.setText(str(folder))
    QTest.keyClick(field.path, Qt.Key.Key_Return)
    desk.wait(lambda: desk.session.settings.now.wildcards_folder == str(folder))
    assert folder.is_dir()
    field.usual.click()
    desk.wait(lambda: desk.session.settings.now.wildcards_folder == "")


def test_a_file_is_no_folder_and_changes_nothing(
    desk: Desk, page: SettingsPage, tmp_path: Path
) -> None:
    field = folder_field(page, "Wildcards")
    (tmp_path / "file").touch()
    for folder, problem in (
        (str(tmp_path / "file"), "This is a file."),
        (str(tmp_path / "file" / "below"), "This folder cannot be used"),
        ("~nobody-of-this-name/x", "There is no such home folder."),
    ):
        field.use(folder)
        desk.wait(lambda problem=problem: problem in field.problem.text())
    assert desk.session.settings.now.wildcards_folder == ""


def test_a_folder_whose_drive_does_not_answer_leaves_the_window_free(
    desk: Desk, page: SettingsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once the window's own thread asked the drive.
    field, asked, answer = folder_field(page, "Wildcards"), Event(), Event()
    exists = Path.exists

    def asleep(path: Path) -> bool:
        if path == tmp_path / "asleep":
            asked.set()
            answer.wait(PATIENCE_MS / 1000)
        return exists(path)

    monkeypatch.setattr(Path, "exists", asleep)
    field.use(str(tmp_path / "asleep"))
    desk.wait(asked.is_set)
    desk.wait(lambda: "Waiting for this folder" in field.problem.text())
    assert desk.session.settings.now.wildcards_folder == ""
    # What is typed meanwhile counts, and the answer that comes after all does not.
    field.use(str(tmp_path / "awake"))
    desk.wait(lambda: desk.session.settings.now.wildcards_folder == str(tmp_path / "awake"))
    answer.set()
    desk.wait((tmp_path / "asleep").is_dir)
    field.use(str(tmp_path / "last"))
    desk.wait(lambda: desk.session.settings.now.wildcards_folder == str(tmp_path / "last"))


def test_a_folder_of_the_environment_cannot_be_changed(desk: Desk, page: SettingsPage) -> None:
    field = folder_field(page, "Folder")
    assert not field.path.isEnabled()
    assert "SAFELIGHT_OUTPUT" in field.problem.text()
    assert field.path.placeholderText() == str(desk.paths.output)


# --- file names ---


@pytest.mark.parametrize(
    ("name", "title"),
    [("models_folder", "Models"), ("wildcards_folder", "Wildcards"), ("language", "Language")],
)
def test_a_setting_of_the_next_start_offers_that_now(
    desk: Desk, page: SettingsPage, tmp_path: Path, name: str, title: str
) -> None:
    settings = desk.session.settings
    (offer,) = row_of(page, title).findChildren(RestartOffer)
    assert offer.isHidden()
    other = Language.GERMAN if name == "language" else str(tmp_path)
    before = getattr(settings.now, name)
    settings.change(**{name: other})
    assert not offer.isHidden()
    settings.change(**{name: before})
    assert offer.isHidden()
    settings.change(**{name: other})
    asked: list[bool] = []
    desk.session.updates.restart_asked.connect(lambda: asked.append(True))
    offer.restart.click()
    assert asked == [True]
    # What starts Safelight again once the window is closed.
    assert desk.session.updates.restarts


def test_a_folder_that_acts_at_once_offers_no_restart(page: SettingsPage) -> None:
    assert not row_of(page, "Folder").findChildren(RestartOffer)


def test_a_pattern_shows_what_it_gives(desk: Desk, page: SettingsPage) -> None:
    (field,) = page.findChildren(FileNameField)
    field.pattern.setText("")
    field.chips["date"].click()
    QTest.keyClicks(field.pattern, "_")
    field.chips["prompt"].click()
    assert desk.session.settings.now.file_name == "{date}_{prompt}"
    assert "_a-red-house" in field.example.text().replace("\u200b", "")
    desk.session.generation.prompt = "a blue cat"
    assert "_a-blue-cat" in field.example.text().replace("\u200b", "")


@pytest.mark.parametrize("pattern", ["", "  ", "{sed}", "x" * 201])
def test_a_pattern_without_sense_is_not_taken(desk: Desk, page: SettingsPage, pattern: str) -> None:
    (field,) = page.findChildren(FileNameField)
    field.take(pattern)
    assert field.problem.text()
    assert desk.session.settings.now.file_name == USUAL.file_name


# --- privacy, about ---


def test_the_machines_that_were_asked_are_named(desk: Desk, page: SettingsPage) -> None:
    (row,) = page.findChildren(HostsRow)
    desk.wait(lambda: "None so far" in row.hosts.text())
    Contacts(desk.paths.state).note("files.example")
    desk.window.places.open(Place.CREATE)
    desk.window.places.open(Place.SETTINGS)
    desk.wait(lambda: "files.example" in row.hosts.text().replace("\u200b", ""))


def test_the_licence_of_every_part_can_be_read(desk: Desk, page: SettingsPage) -> None:
    (row,) = page.findChildren(LicencesRow)
    desk.wait(lambda: row.parts.count() > 5)
    parts = [row.parts.itemText(number) for number in range(row.parts.count())]
    assert parts[0].startswith("Safelight")
    assert any(part.startswith("numpy") for part in parts)
    assert "Apache License" in row.text.toPlainText()
    row.parts.setCurrentIndex(next(n for n, part in enumerate(parts) if part.startswith("numpy")))
    assert "NumPy" in row.text.toPlainText()


def test_a_report_is_copied_and_saved(desk: Desk, page: SettingsPage, tmp_path: Path) -> None:
    (row,) = page.findChildren(ReportRow)
    desk.session.generation.prompt = "my very secret prompt"
    row.write(tmp_path / "report.txt")
    desk.wait((tmp_path / "report.txt").exists)
    text = (tmp_path / "report.txt").read_text()
    assert "Safelight" in text
    assert "secret" not in text
    row.copy.click()
    desk.wait(lambda: any("clipboard" in notice.message for notice in desk.session.notices.notices))
    row.write(tmp_path / "report.txt" / "below.txt")
    desk.wait(lambda: any("cannot" in notice.message for notice in desk.session.notices.notices))
