"""The popup "Upscale": the user's files, sizes, what they take; it queues the pictures."""

import os
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.notices.remedies import NoticeAction
from app.queue.jobs import JobState
from engine.api.saving import PictureFormat
from engine.api.second_passes import Resampling
from engine.metadata.record import record_chunks
from engine.output.encoding import encode_picture
from tests.app.test_upscale_command import pixels
from tests.metadata.records import PLAIN, read_record
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from tests.ui.test_remedies_act import answering
from tests.upscalers.small import file_of
from ui.actions import ActionName
from ui.gallery.page import GalleryPage
from ui.places import Place
from ui.upscale_popup import UpscalePopup

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def desk(make_desk: MakeDesk, tmp_path: Path) -> Desk:
    """A window with a picture on the canvas, and an upscaler's file in the folder of models."""
    folder = tmp_path / "models" / "upscale_models"
    folder.mkdir(parents=True)
    file_of(folder, "ESRGAN")
    source = tmp_path / "output" / "cat.png"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(encode_picture(pixels(64, 80), record_chunks(PLAIN), PictureFormat.PNG, 92))
    desk = make_desk(real=True).start()
    desk.session.view.choose(str(source))
    return desk


def opened(desk: Desk) -> UpscalePopup:
    desk.window.actions_by_name[ActionName.UPSCALE].trigger()
    popup = desk.window.info.upscale.popup
    assert popup is not None
    desk.wait(popup.isVisible)
    desk.wait(lambda: popup.upscaler.count() == 2 + len(Resampling))
    return popup


def keep(widget: UpscalePopup, name: str) -> None:
    """Keep a picture of a state where somebody asks for it, to be looked at."""
    folder = os.environ.get("SAFELIGHT_UPSCALE_PICTURES")
    if folder:
        widget.grab().save(f"{folder}/{name}.png")


def test_nothing_is_cut_off_on_a_low_screen(desk: Desk) -> None:
    # Qt makes windows no higher than two thirds of the screen: 240 of 360 pixels at 200 %.
    popup = opened(desk)
    desk.wait(popup.start.isEnabled)
    popup.pictures.setText("a name of many words " * 150)
    popup.open_for([str(desk.session.view.path)] * 2, popup.geometry())
    popup.pictures.setText("a name of many words " * 150)
    popup.sizes.kinds.setCurrentIndex(1)
    desk.wait(popup.start.isEnabled)
    low = popup.screen().availableGeometry().height() * 2 // 3
    assert popup.sizeHint().height() > low or popup.heightForWidth(popup.width()) > low
    assert popup.sizes.height() >= popup.sizes.kinds.height()
    assert popup.pictures.height() >= popup.pictures.heightForWidth(popup.pictures.width())


def test_enter_on_cancel_closes_the_popup(desk: Desk) -> None:
    popup = opened(desk)
    desk.wait(popup.start.isEnabled)
    popup.cancel.setFocus()
    QTest.keyClick(popup.cancel, Qt.Key.Key_Return)
    assert not popup.isVisible()
    assert not desk.session.queue.jobs


def test_a_picture_is_upscaled_from_the_canvas(desk: Desk, tmp_path: Path) -> None:
    popup = opened(desk)
    assert popup.pictures.text() == "cat.png"
    assert "ESRGAN" in popup.upscaler.itemText(0)
    desk.wait(popup.start.isEnabled)
    assert "160" in popup.result.text()
    assert "128" in popup.result.text()
    assert "memory" in popup.cost.text()
    assert popup.cost.text() in popup.start.accessibleDescription()
    assert "4 times" in popup.about.text()
    assert not unnamed(popup)
    keep(popup, "popup")
    QTest.keyClick(popup.upscaler, Qt.Key.Key_Return)
    if popup.isVisible():
        popup.start.click()
    (job,) = desk.wait_for_jobs(1)
    assert job.state is JobState.DONE, job.error
    assert Path(job.images[0]).parent == tmp_path / "output"
    with Image.open(job.images[0]) as image:
        assert image.size == (160, 128)
    record = read_record(Path(job.images[0]))
    assert record is not None
    assert record.upscales
    assert record.request == PLAIN.request
    desk.session.upscales.show_original(job.images[0])
    desk.wait(lambda: desk.session.view.path == str(tmp_path / "output" / "cat.png"))


def test_a_size_beyond_the_limit_is_refused_with_the_reason(desk: Desk) -> None:
    popup = opened(desk)
    popup.sizes.kinds.setCurrentIndex(3)
    popup.sizes.width_field.setValue(60_000)
    popup.sizes.height_field.setValue(60_000)
    desk.wait(popup.refusal.isVisible)
    assert "60000 × 60000" in popup.refusal.text().replace("\u200b", "")  # noqa: RUF001
    assert not popup.start.isEnabled()
    keep(popup, "refused")
    popup.sizes.kinds.setCurrentIndex(2)
    popup.sizes.longest.setValue(320)
    desk.wait(popup.start.isEnabled)
    assert "320" in popup.result.text()
    assert "256" in popup.result.text()
    keep(popup, "longest")


def test_the_popup_closes_with_escape_and_queues_nothing(desk: Desk) -> None:
    popup = opened(desk)
    QTest.keyClick(popup, Qt.Key.Key_Escape)
    assert not popup.isVisible()
    assert not desk.queue.jobs


def test_chosen_pictures_of_the_gallery_are_upscaled_together(desk: Desk, tmp_path: Path) -> None:
    for name in ("dog.png", "owl.png"):
        Image.new("RGB", (48, 32), "teal").save(tmp_path / "output" / name)
    desk.window.places.open(Place.GALLERY)
    (page,) = desk.window.findChildren(GalleryPage)
    desk.wait(lambda: page.browser.count == 3)
    page.browser.grid.selectAll()
    desk.window.actions_by_name[ActionName.UPSCALE].trigger()
    popup = page.upscale.popup
    assert popup is not None
    desk.wait(lambda: popup.upscaler.count() == 2 + len(Resampling) and popup.start.isEnabled())
    assert popup.pictures.text().startswith("3")
    popup.upscaler.setCurrentIndex(popup.upscaler.findData("area"))
    desk.wait(popup.start.isEnabled)
    popup.start.click()
    jobs = desk.wait_for_jobs(3)
    assert {job.state for job in jobs} == {JobState.DONE}
    assert sorted(Path(job.images[0]).name for job in jobs) == [
        "cat-upscaled.png", "dog-upscaled.png", "owl-upscaled.png",
    ]  # fmt: skip
    notice = desk.session.notices.notices[-1]
    assert notice.message == "3 pictures are upscaled."
    desk.wait(lambda: page.browser.count == 6)
    desk.window.places.open(Place.CREATE)
    page.browser.search.words.setText("nothing has these words")
    card = next(card for card in desk.window.notices.cards if card.notice == notice)
    card.remedies[NoticeAction.SHOW_PICTURES].click()
    assert desk.window.places.place is Place.GALLERY
    shown = {job.images[0] for job in jobs}
    desk.wait(lambda: {row.path for row in desk.session.gallery_index.rows(page.meant())} == shown)
    assert notice not in desk.session.notices.notices


def test_an_upscaler_that_is_in_no_folder_is_chosen_as_a_file(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    file = file_of(tmp_path / "elsewhere", "SPAN")
    popup = opened(desk)
    before = popup.upscaler.currentData()
    dialog = "ui.upscale_popup.FileChooser.open_file"
    monkeypatch.setattr(dialog, answering(""))
    choose = popup.upscaler.findText("Choose a file…")
    popup.upscaler.setCurrentIndex(choose)
    desk.wait(lambda: popup.upscaler.currentIndex() != choose)
    assert popup.upscaler.currentData() == before
    monkeypatch.setattr(dialog, answering(str(file)))
    popup.upscaler.setCurrentIndex(choose)
    desk.wait(lambda: popup.upscaler.currentData() == str(file))
    desk.wait(popup.start.isEnabled)
    assert str(file.parent) in popup.about.text()
    keep(popup, "elsewhere")
    popup.start.click()
    (job,) = desk.wait_for_jobs(1)
    assert job.state is JobState.DONE, job.error
    assert job.upscale is not None
    assert job.upscale.upscaler == str(file)
    # It is in the list from now on.
    assert popup.upscaler.findData(str(file)) >= 0
