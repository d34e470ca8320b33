"""A picture to start from, a mask painted on it, a refiner: chosen in the window, in force."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.queue.jobs import JobState
from engine.api.features import ConcatChannels, Features
from engine.api.masks import MaskOptions
from engine.api.request import InputImage, RefinerChoice
from engine.api.values import ErrorCode, InputRole
from engine.metadata.readers import read_request
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from tests.ui.test_form import retype
from tests.ui.test_main_window import drag, drop
from ui.actions import ActionName
from ui.dialogs.mask_dialog import MaskDialog

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture that nothing says how it was made."""
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).resize((256, 192), Image.Resampling.BICUBIC).save(path)
    return path


def start(desk: Desk, path: Path) -> None:
    desk.window.form.inputs.start_from(str(path))
    desk.wait(lambda: bool(desk.session.generation.inputs))


def open_dialog(desk: Desk) -> MaskDialog:
    found: list[MaskDialog] = []

    def is_open() -> bool:
        found[:] = desk.window.findChildren(MaskDialog)
        return bool(found)

    desk.window.form.inputs.paint.click()
    desk.wait(is_open)
    return found[0]


def pixels(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def test_a_picture_is_chosen_shown_and_dropped_again(desk: Desk, photo: Path) -> None:
    panel, state = desk.window.form.inputs, desk.session.generation
    assert panel.choose.isVisibleTo(panel)
    assert not panel.card.isVisibleTo(panel)
    start(desk, photo)
    assert state.build_request().inputs == (InputImage(role=InputRole.INIT, path=str(photo)),)
    # In its shape, and as large as the starter draws.
    assert (state.width, state.height) == (256, 192)
    assert panel.name.text() == "photo.png"
    desk.wait(lambda: "256" in panel.detail.text())
    assert panel.strength.field.value() == 0.75
    retype(panel.strength.field, "0.4")
    assert state.build_request().strength == 0.4
    assert unnamed(desk.window) == []
    panel.drop.click()
    assert state.build_request().inputs == ()
    assert (state.width, state.height, state.strength) == (None, None, None)
    assert panel.choose.isVisibleTo(panel)


def test_a_start_picture_that_is_no_picture_is_refused(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"not a picture")
    desk.window.form.inputs.start_from(str(tmp_path / "photo.png"))
    desk.wait(lambda: bool(desk.session.notices.notices))
    (notice,) = desk.session.notices.notices
    assert notice.error is not None
    assert notice.error.code is ErrorCode.INPUT_IMAGE_UNREADABLE
    assert desk.session.generation.inputs == ()


def test_a_picture_dropped_on_the_right_is_started_from(desk: Desk, photo: Path) -> None:
    window = desk.window
    data = drag(window, photo)
    assert len(window.overlay.cards) == 2
    drop(window, data, 1)
    desk.wait(lambda: bool(desk.session.generation.inputs))
    assert desk.session.generation.input_path(InputRole.INIT) == str(photo)
    drag(window, photo.with_suffix(".safetensors"))
    assert len(window.overlay.cards) == 1


def test_a_checkpoint_that_edits_asks_for_a_picture(desk: Desk, photo: Path) -> None:
    panel, state = desk.window.form.inputs, desk.session.generation
    state.suggestions = msgspec.structs.replace(
        state.suggestions, features=Features(concat_channels=ConcatChannels.PICTURE)
    )
    assert panel.about.isVisibleTo(panel)
    assert not panel.likeness.isVisibleTo(panel)
    start(desk, photo)
    assert not panel.about.isVisibleTo(panel)
    assert panel.strength.field.value() == 1
    assert panel.likeness.field.value() == 1.5
    retype(panel.likeness.field, "2")
    assert state.build_request().guidance_options.image_guidance == 2


def test_a_mask_is_painted_erased_undone_and_inverted(desk: Desk, photo: Path) -> None:
    start(desk, photo)
    dialog = open_dialog(desk)
    canvas = dialog.canvas

    def painted() -> float:
        return float(np.asarray(canvas.painted.constBits()).mean()) / 255

    assert not dialog.undo.isEnabled()
    middle = canvas.rect().center()
    QTest.mousePress(canvas, LEFT, pos=middle)
    QTest.mouseMove(canvas, middle + QPoint(80, 0))
    QTest.mouseRelease(canvas, LEFT, pos=middle + QPoint(80, 0))
    stroke = painted()
    assert 0.005 < stroke < 0.2
    assert canvas.painted.pixelColor(128, 96).red() == 255
    QTest.keyClick(dialog, Qt.Key.Key_E)
    assert dialog.erase.isChecked()
    QTest.mouseClick(canvas, LEFT, pos=middle)
    assert 0 < painted() < stroke
    QTest.keyClick(dialog, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert painted() == stroke
    dialog.invert.click()
    assert painted() == pytest.approx(1 - stroke, abs=1e-3)
    dialog.clear.click()
    assert painted() == 0
    assert not dialog.clear.isEnabled()
    before = canvas.brush
    QTest.keyClick(dialog, Qt.Key.Key_BracketRight)
    assert canvas.brush == dialog.brush.field.value() > before
    assert unnamed(dialog) == []
    dialog.use.click()
    assert desk.session.generation.input_path(InputRole.MASK) is None


def test_a_mask_that_is_there_is_shown_as_it_acts(desk: Desk, photo: Path, tmp_path: Path) -> None:
    levels = np.zeros((192, 256), np.uint8)
    levels[:, :100] = 255
    Image.fromarray(levels).save(tmp_path / "mask.png")
    state = desk.session.generation
    start(desk, photo)
    state.paint_within(str(tmp_path / "mask.png"))
    state.extras = msgspec.structs.replace(state.extras, mask_options=MaskOptions(inverted=True))
    dialog = open_dialog(desk)
    canvas = dialog.canvas
    desk.wait(lambda: canvas.painted.pixelColor(200, 5).red() == 255)
    assert canvas.painted.pixelColor(20, 5).red() == 0
    # What is seen is what is painted, also once it is used.
    dialog.use.click()
    desk.wait(lambda: state.input_path(InputRole.MASK) != str(tmp_path / "mask.png"))
    mask = pixels(Path(state.input_path(InputRole.MASK) or ""))
    assert mask[5, 200].min() == 255
    assert not state.build_request().mask_options.inverted


def test_only_what_was_painted_is_drawn_anew(make_desk: MakeDesk, photo: Path) -> None:
    """In the window, with the real engine: the rest of the picture keeps its pixels."""
    desk = make_desk(real=True).start()
    start(desk, photo)
    dialog = open_dialog(desk)
    dialog.canvas.stroke(QPointF(60, 60), QPointF(90, 120))
    dialog.use.click()
    desk.wait(lambda: desk.session.generation.input_path(InputRole.MASK) is not None)
    desk.session.generation.steps = 3
    desk.session.jobs.generate()
    (job,) = desk.wait_for_jobs(1)
    assert job.state is JobState.DONE, job.error
    made = Path(job.images[0])
    request = read_request(made).request
    assert [image.role for image in request.inputs] == [InputRole.INIT, InputRole.MASK]
    before, after = pixels(photo), pixels(made)
    assert after.shape == before.shape
    np.testing.assert_array_equal(after[:, 150:], before[:, 150:])
    assert (after[70:110, 65:85] != before[70:110, 65:85]).mean() > 0.5


def test_the_picture_on_the_canvas_is_started_from(desk: Desk, photo: Path) -> None:
    desk.session.view.choose(str(photo))
    desk.window.actions_by_name[ActionName.START_FROM].setEnabled(True)
    desk.window.actions_by_name[ActionName.START_FROM].trigger()
    desk.wait(lambda: desk.session.generation.input_path(InputRole.INIT) == str(photo))


def test_a_refiner_is_offered_for_sdxl_alone(make_desk: MakeDesk, tmp_path: Path) -> None:
    desk = make_desk(real=True).start()
    panel, state = desk.window.form.refiner, desk.session.generation
    models = desk.session.checkpoints.models
    models.mkdir(parents=True)
    refiner = write_sparse(models / "sd_xl_refiner_1.0.safetensors", listings.sdxl())
    write_sparse(models / "another.safetensors", listings.sdxl())
    desk.session.checkpoints.refresh()
    assert not panel.isVisibleTo(desk.window)
    desk.session.open_file(write_sparse(tmp_path / "mine.safetensors", listings.sdxl()))
    desk.wait(lambda: panel.isVisibleTo(desk.window) and panel.box.count() == 3)
    shown = [panel.box.itemText(row) for row in range(panel.box.count())]
    assert shown[:2] == ["None", "sd_xl_refiner_1.0"]
    assert shown[2:] == ["another"]
    assert not panel.switch.isVisibleTo(panel)
    panel.box.setCurrentIndex(1)
    panel.box.activated.emit(1)
    assert panel.switch.isVisibleTo(panel)
    retype(panel.switch.field, "0.6")
    chosen = RefinerChoice(checkpoint=str(refiner), switch_at=0.6)
    assert state.build_request().refiner == chosen
    assert unnamed(desk.window) == []
    panel.box.activated.emit(0)
    assert state.build_request().refiner is None


def test_a_mask_has_the_size_of_a_large_picture(desk: Desk, tmp_path: Path) -> None:
    """The mask is painted on a smaller picture, so that the brush does not lag."""
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (3000, 2000), "navy").save(path)
    start(desk, path)
    dialog = open_dialog(desk)
    assert dialog.canvas.painted.width() == 1280
    dialog.canvas.stroke(QPointF(0, 0), QPointF(640, 0))
    dialog.use.click()
    desk.wait(lambda: desk.session.generation.input_path(InputRole.MASK) is not None)
    mask = pixels(Path(desk.session.generation.input_path(InputRole.MASK) or ""))
    assert mask.shape == (2000, 3000, 3)
    assert mask[2, 1000].min() == 255
    assert mask[1000, 1000].max() == 0
