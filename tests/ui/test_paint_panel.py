"""A mask painted on the canvas and a canvas that grows: by mouse and keys, in force at once."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from app.form.options import set_option
from app.queue.jobs import JobState
from engine.api.features import Features
from engine.api.masks import MaskOptions
from engine.api.values import ErrorCode, ErrorInfo, InputRole
from engine.metadata.readers import read_request
from engine.pipeline.canvas.masks import blurred, surroundings
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_accessibility import unnamed
from tests.ui.test_form import retype
from ui.actions import ActionName
from ui.panels.paint_panel import PaintPanel
from ui.theme.metrics import CONTROL_HEIGHT
from ui.widgets.mask_veil import MaskVeil
from ui.widgets.paint_view import Tool

DISK_FULL = ErrorInfo(ErrorCode.DISK_FULL, "The disk is full.", "Make room.", "ENOSPC")
LEFT = Qt.MouseButton.LeftButton
RIGHT = Qt.MouseButton.RightButton
NONE = Qt.KeyboardModifier.NoModifier
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def desk(kept_desk: Desk) -> Desk:
    """The window of all tests here, with the brush in hand."""
    panel = kept_desk.window.canvas.paint
    if panel is not None:
        panel.choose(Tool.BRUSH)
        panel.view.fit()
    return kept_desk


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture that nothing says how it was made."""
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).resize((256, 192), Image.Resampling.BICUBIC).save(path)
    return path


def paint_on(desk: Desk, path: Path) -> PaintPanel:
    """Start from a picture, and show it to paint on."""
    with Image.open(path) as image:
        desk.session.generation.start_from(str(path), *image.size)
    desk.window.actions_by_name[ActionName.PAINT].trigger()
    panel = desk.window.canvas.paint
    assert panel is not None
    desk.wait(lambda: not panel.layer.mask.isNull())
    return panel


def pixels(path: str | Path | None) -> NDArray[np.uint8]:
    assert path is not None
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def mask(desk: Desk) -> str | None:
    return desk.session.generation.input_path(InputRole.MASK)


def painted(panel: PaintPanel) -> float:
    return float(np.asarray(panel.layer.mask.constBits()).mean()) / 255


def drag(panel: PaintPanel, start: QPoint, *stops: QPoint, button: Qt.MouseButton = LEFT) -> None:
    QTest.mousePress(panel.view, button, pos=start)
    for stop in stops:
        QTest.mouseMove(panel.view, stop)
    QTest.mouseRelease(panel.view, button, pos=stops[-1] if stops else start)


def place(panel: PaintPanel, x: float, y: float) -> QPoint:
    """The place in the view of a point of the canvas, in fractions."""
    target = panel.view.target
    return QPointF(target.x() + x * target.width(), target.y() + y * target.height()).toPoint()


def test_each_stroke_is_in_the_form_and_survives_leaving(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    drag(panel, place(panel, 0.4, 0.5), place(panel, 0.6, 0.5))
    desk.wait(lambda: mask(desk) is not None)
    levels = pixels(mask(desk))
    assert levels.shape == (192, 256, 3)
    assert levels[96, 128].min() == 255
    assert levels[5, 5].max() == 0
    QTest.keyClick(panel.view, Qt.Key.Key_Escape)
    assert not desk.session.view.painting
    assert mask(desk) is not None
    desk.window.actions_by_name[ActionName.PAINT].trigger()
    assert panel.layer.can_undo


def test_the_eraser_the_right_button_and_alt_erase(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    middle = place(panel, 0.5, 0.5)
    drag(panel, place(panel, 0.2, 0.5), place(panel, 0.8, 0.5))
    stroke = painted(panel)
    assert 0.05 < stroke < 0.3
    QTest.keyClick(panel.view, Qt.Key.Key_E)
    assert panel.view.tool is Tool.ERASER
    assert panel.bar.tools[Tool.ERASER].isChecked()
    drag(panel, middle)
    assert 0 < painted(panel) < stroke
    drag(panel, middle, button=RIGHT)
    assert painted(panel) == pytest.approx(stroke, abs=0.002)
    QTest.keyClick(panel.view, Qt.Key.Key_B)
    QTest.mouseClick(panel.view, LEFT, Qt.KeyboardModifier.AltModifier, middle)
    assert painted(panel) < stroke


def test_a_stroke_beside_the_canvas_draws_nothing(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    start = place(panel, 0.5, 0) - QPoint(0, 30)
    drag(panel, start, start + QPoint(0, 2))
    assert painted(panel) == 0
    assert not panel.layer.can_undo


def test_strokes_are_undone_and_redone_in_order(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    seen = [painted(panel)]
    drag(panel, place(panel, 0.2, 0.2), place(panel, 0.4, 0.2))
    seen.append(painted(panel))
    panel.bar.invert.click()
    seen.append(painted(panel))
    assert seen[2] == pytest.approx(1 - seen[1], abs=1e-6)
    panel.bar.clear.click()
    seen.append(painted(panel))
    assert seen[3] == 0
    for wanted in reversed(seen[:-1]):
        QTest.keyClick(panel.view, Qt.Key.Key_Z, CONTROL)
        assert painted(panel) == wanted
    assert not panel.bar.undo.isEnabled()
    for wanted in seen[1:]:
        QTest.keyClick(panel.view, Qt.Key.Key_Z, CONTROL | SHIFT)
        assert painted(panel) == wanted
    assert not panel.bar.redo.isEnabled()
    desk.wait(lambda: mask(desk) is None)


def test_a_lasso_fills_what_it_surrounds(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    QTest.keyClick(panel.view, Qt.Key.Key_L)
    corners = [
        place(panel, x, y) for x, y in ((0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75))
    ]
    drag(panel, *corners)
    assert painted(panel) == pytest.approx(0.25, abs=0.02)


def test_escape_takes_back_only_the_stroke_that_is_being_made(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    drag(panel, place(panel, 0.2, 0.2), place(panel, 0.4, 0.2))
    before = painted(panel)
    QTest.mousePress(panel.view, LEFT, pos=place(panel, 0.6, 0.6))
    QTest.mouseMove(panel.view, place(panel, 0.8, 0.6))
    assert painted(panel) > before
    QTest.keyClick(panel.view, Qt.Key.Key_Escape)
    assert painted(panel) == before
    assert desk.session.view.painting


def test_the_prompt_is_edited_while_a_mask_is_painted(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    prompt = desk.window.form.prompt
    prompt.setFocus()
    QTest.keyClicks(prompt, " [bel]")
    assert desk.session.generation.prompt.endswith(" [bel]")
    assert panel.view.tool is Tool.BRUSH
    QTest.keyClick(prompt, Qt.Key.Key_Z, CONTROL)
    assert desk.session.view.painting


def test_another_tool_leaves_the_picture_where_it_is(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    for width in (960, 1280, 1440):
        desk.window.resize(width, 720)
        panel.choose(Tool.BRUSH)
        painted = height_at_rest(panel)
        for tool in (Tool.LASSO, Tool.GROW):
            panel.choose(tool)
            assert height_at_rest(panel) == painted, (width, tool)


def test_the_tools_are_one_line_in_the_smallest_window(desk: Desk, photo: Path) -> None:
    """A second one, for the last button alone, would be taken from the picture."""
    desk.resize(1280, 720)
    panel = paint_on(desk, photo)
    for tool in Tool:
        panel.choose(tool)
        height_at_rest(panel)
        assert panel.bar.height() < 2 * CONTROL_HEIGHT, tool
        assert panel.bar.done.geometry().right() <= panel.bar.width()


def height_at_rest(panel: PaintPanel) -> int:
    before = -1
    while (height := panel.view.height()) != before:
        before = height
        QTest.qWait(20)
    return before


def test_keys_size_the_brush(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    before = panel.view.brush
    QTest.keyClick(panel.view, Qt.Key.Key_BracketRight)
    assert panel.view.brush == pytest.approx(before * 1.25)
    assert panel.bar.brush.field.value() == round(panel.view.brush)
    QTest.keyClick(panel.view, Qt.Key.Key_BracketLeft)
    retype(panel.bar.brush.field, "40")
    assert panel.view.brush == 40


def test_feather_is_the_blur_of_the_mask(desk: Desk, photo: Path) -> None:
    panel, state = paint_on(desk, photo), desk.session.generation
    assert panel.bar.feather.field.value() == 4
    retype(panel.bar.feather.field, "12")
    assert state.build_request().mask_options.blur == 12


def test_a_frame_shows_the_part_that_is_drawn_alone(desk: Desk, photo: Path) -> None:
    panel, state = paint_on(desk, photo), desk.session.generation
    state.width, state.height = 512, 256
    panel.view.brush = 20
    drag(panel, place(panel, 0.3, 0.4), place(panel, 0.4, 0.5))
    desk.wait(lambda: mask(desk) is not None)
    assert panel.view.part.isEmpty()
    plain = panel.view.grab().toImage()
    state.change_mask_options(only_masked=True, padding=24)
    assert panel.view.grab().toImage() != plain
    for blur, padding, height in ((0, 24, 256), (12, 24, 256), (12, 3, 512), (4, 200, 512)):
        state.height = height
        state.change_mask_options(blur=blur, padding=padding)
        part = panel.view.part
        framed = (part.x(), part.y(), part.width(), part.height())
        with Image.open(mask(desk) or "") as image:
            widened = blurred(image.convert("L"), blur)
        expected = surroundings(widened, padding, 512, height)
        assert expected is not None
        left, top, right, bottom = expected
        wanted = (left, top, right - left, bottom - top)
        # The blur of a round stroke ends a little sooner than that of a straight edge.
        assert np.abs(np.subtract(framed, wanted)).max() <= 1 + blur / 2, (blur, padding)
    panel.layer.clear()
    assert panel.view.part.isEmpty()


def test_space_pans_instead_of_painting(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    panel.view.setFocus()
    for _ in range(6):
        panel.view.zoom_in()
    before = panel.view.target.topLeft()
    QTest.keyPress(panel.view, Qt.Key.Key_Space)
    drag(panel, QPoint(150, 150), QPoint(120, 140))
    QTest.keyRelease(panel.view, Qt.Key.Key_Space)
    assert panel.view.target.topLeft() - before == QPointF(-30, -10)
    assert painted(panel) == 0


def test_the_veil_shows_the_mask_in_other_colours(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    drag(panel, place(panel, 0.3, 0.5), place(panel, 0.7, 0.5))
    spot = place(panel, 0.5, 0.5)
    QTest.mouseMove(panel.view, QPoint(1, 1))
    seen = {panel.view.grab().toImage().pixelColor(spot).name()}
    for _ in range(2):
        QTest.keyClick(panel.view, Qt.Key.Key_V)
        seen.add(panel.view.grab().toImage().pixelColor(spot).name())
    assert len(seen) == 3


def test_the_veil_of_a_whole_mask_is_made_once_for_a_drawing_of_it(
    make_desk: MakeDesk, photo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk()
    made: list[QSize] = []

    class Counted(MaskVeil):
        def take(self, mask: QImage, colour: str, blur: float) -> None:
            made.append(mask.size())
            super().take(mask, colour, blur)

    monkeypatch.setattr("ui.widgets.paint_view.MaskVeil", Counted)
    panel = paint_on(desk, photo)
    panel.view.grab()
    assert made == [panel.layer.mask.size()]
    for _ in range(2):
        panel.layer.invert()
        panel.next_colour()
    panel.view.grab()
    assert len(made) == 2


def test_a_start_picture_that_is_removed_is_let_go_with_its_strokes(
    desk: Desk, photo: Path
) -> None:
    panel = paint_on(desk, photo)
    drag(panel, place(panel, 0.3, 0.5), place(panel, 0.7, 0.5))
    desk.session.view.painting = False
    assert panel.layer.can_undo
    desk.session.changes.start_anew()
    assert panel.view.image is None
    assert panel.layer.mask.isNull()
    assert not panel.layer.can_undo
    panel = paint_on(desk, photo)
    assert panel.view.image is not None


def test_a_mask_that_is_there_is_shown_as_it_acts(desk: Desk, photo: Path, tmp_path: Path) -> None:
    levels = np.zeros((192, 256), np.uint8)
    levels[:, :100] = 255
    Image.fromarray(levels).save(tmp_path / "mask.png")
    state = desk.session.generation
    panel = paint_on(desk, photo)
    state.paint_within(str(tmp_path / "mask.png"))
    desk.wait(lambda: panel.layer.mask.pixelColor(20, 5).red() == 255)
    desk.session.view.painting = False
    state.start_from(str(tmp_path / "photo.png"), 256, 192)
    state.paint_within(str(tmp_path / "mask.png"))
    state.mask_options = MaskOptions(inverted=True)
    desk.session.view.painting = True
    drag(panel, place(panel, 0.9, 0.9))
    # What is seen is what is painted.
    desk.wait(lambda: mask(desk) != str(tmp_path / "mask.png"))
    assert not state.build_request().mask_options.inverted


def test_a_mask_is_shown_as_it_acts_whatever_turns_it_around(
    desk: Desk, photo: Path, tmp_path: Path
) -> None:
    levels = np.zeros((192, 256), np.uint8)
    levels[:, :64] = 255
    Image.fromarray(levels).save(tmp_path / "mask.png")
    state, option = desk.session.generation, "mask_options.inverted"
    panel = paint_on(desk, photo)
    state.paint_within(str(tmp_path / "mask.png"))
    desk.wait(lambda: painted(panel) == pytest.approx(0.25, abs=0.01))
    thumbnail = desk.window.form.inputs.thumbnail
    desk.wait(lambda: "mask" in desk.window.form.inputs.detail.text())
    before, form = thumbnail.grab().toImage(), state.form
    # By its row in the form.
    set_option(state, option, True)
    desk.wait(lambda: painted(panel) == pytest.approx(0.75, abs=0.01))
    assert thumbnail.grab().toImage() != before
    # By undoing that, and by settings that come with all of a form.
    desk.session.changes.undo(form)
    desk.wait(lambda: painted(panel) == pytest.approx(0.25, abs=0.01))
    request = state.build_request()
    turned = msgspec.structs.replace(request.mask_options, inverted=True)
    state.load_request(msgspec.structs.replace(request, mask_options=turned))
    desk.wait(lambda: painted(panel) == pytest.approx(0.75, abs=0.01))
    # What is painted over it is in force as it is seen.
    drag(panel, place(panel, 0.1, 0.1))
    desk.wait(lambda: not state.mask_options.inverted)
    assert pixels(mask(desk))[150, 200].min() == 255
    assert panel.layer.can_undo


@pytest.mark.parametrize("shape", [(256, 192), (128, 192)])
def test_a_picture_that_another_program_changed_is_painted_on_as_it_is(
    desk: Desk, photo: Path, shape: tuple[int, int]
) -> None:
    panel = paint_on(desk, photo)
    drag(panel, place(panel, 0.3, 0.5), place(panel, 0.7, 0.5))
    desk.wait(lambda: mask(desk) is not None)
    before = painted(panel)
    desk.wait(lambda: desk.session.edited.is_known(str(photo)))
    Image.new("RGB", shape, (0, 0, 255)).save(photo)
    desk.session.look_again()

    def is_blue() -> bool:
        image = panel.view.image
        return image is not None and image.pixelColor(5, 5).blue() == 255

    desk.wait(is_blue)
    assert painted(panel) == pytest.approx(before, abs=0.01)
    assert panel.layer.mask.size().toTuple() == shape
    # The strokes are of a picture of this size.
    assert panel.layer.can_undo == (shape == (256, 192))


def test_a_mask_for_another_start_picture_is_not_painted_with(
    desk: Desk, photo: Path, tmp_path: Path
) -> None:
    panel = paint_on(desk, photo)
    other = tmp_path / "other.png"
    Image.new("RGB", (128, 128)).save(other)
    Image.new("L", (256, 192), 255).save(tmp_path / "mask.png")
    desk.session.generation.start_from(str(other), 128, 128)
    panel.open_mask(str(tmp_path / "mask.png"))
    desk.wait(lambda: panel.layer.mask.size().toTuple() == (128, 128))
    ended = list[bool]()
    desk.session.background.run(lambda: True, ended.append)
    desk.wait(lambda: bool(ended))
    assert painted(panel) == 0


def test_a_mask_that_cannot_be_read_is_told_and_clears_nothing(
    desk: Desk, photo: Path, tmp_path: Path
) -> None:
    panel = paint_on(desk, photo)
    drag(panel, place(panel, 0.3, 0.5), place(panel, 0.7, 0.5))
    before = painted(panel)
    (tmp_path / "page.png").write_bytes(b"<html>")
    panel.open_mask(str(tmp_path / "page.png"))
    desk.wait(lambda: bool(desk.session.notices.notices))
    (notice,) = desk.session.notices.notices
    assert "page.png" in notice.message
    assert painted(panel) == before > 0


def test_undoing_a_change_of_the_form_shows_the_earlier_mask(desk: Desk, photo: Path) -> None:
    panel, state = paint_on(desk, photo), desk.session.generation
    drag(panel, place(panel, 0.3, 0.5), place(panel, 0.7, 0.5))
    desk.wait(lambda: mask(desk) is not None)
    before, form = painted(panel), state.form
    panel.bar.clear.click()
    assert painted(panel) == 0
    desk.session.changes.undo(form)
    desk.wait(lambda: painted(panel) == pytest.approx(before, abs=0.01))
    assert mask(desk) is not None


def test_a_mask_has_the_size_of_a_large_picture(desk: Desk, tmp_path: Path) -> None:
    """The mask is painted smaller, so that the brush does not lag."""
    path = tmp_path / "photo.jpg"
    Image.new("RGB", (3000, 2000), "navy").save(path)
    panel = paint_on(desk, path)
    assert panel.layer.mask.width() == 2048
    drag(panel, place(panel, 0.1, 0.02), place(panel, 0.5, 0.02))
    desk.wait(lambda: mask(desk) is not None)
    levels = pixels(mask(desk))
    assert levels.shape == (2000, 3000, 3)
    assert levels[40, 1000].min() == 255
    assert levels[1000, 1000].max() == 0


def test_only_what_was_painted_is_drawn_anew(make_desk: MakeDesk, photo: Path) -> None:
    """In the window, with the real engine: the rest of the picture keeps its pixels."""
    desk = make_desk(real=True).start()
    panel = paint_on(desk, photo)
    drag(panel, place(panel, 0.2, 0.3), place(panel, 0.35, 0.6))
    desk.session.generation.steps = 3
    # At once: the mask is waited for.
    desk.session.jobs.generate()
    (job,) = desk.wait_for_jobs(1)
    assert job.state is JobState.DONE, job.error
    made = Path(job.images[0])
    request = read_request(made).request
    assert [image.role for image in request.inputs] == [InputRole.INIT, InputRole.MASK]
    before, after = pixels(photo), pixels(made)
    assert after.shape == before.shape
    np.testing.assert_array_equal(after[:, 200:], before[:, 200:])
    assert (after[60:110, 55:85] != before[60:110, 55:85]).mean() > 0.5


GROWTHS: dict[str, tuple[Callable[[PaintPanel], QPoint], QPoint, tuple[bool, ...]]] = {
    "right": (lambda panel: place(panel, 1, 0.5), QPoint(60, 0), (False, False, True, False)),
    "left": (lambda panel: place(panel, 0, 0.3), QPoint(-60, 5), (True, False, False, False)),
    "corner": (lambda panel: place(panel, 0, 0), QPoint(-30, -30), (True, True, False, False)),
}


@pytest.mark.parametrize("name", GROWTHS)
def test_an_edge_that_is_dragged_grows_the_canvas(desk: Desk, photo: Path, name: str) -> None:
    where, by, grown = GROWTHS[name]
    panel, state = paint_on(desk, photo), desk.session.generation
    QTest.keyClick(panel.view, Qt.Key.Key_G)
    start = where(panel)
    drag(panel, start, start + by)
    margins = state.build_request().mask_options.expand
    assert tuple(margin > 0 for margin in margins) == grown
    assert all(margin % 8 == 0 for margin in margins)
    assert (state.width, state.height) == (
        256 + margins[0] + margins[2],
        192 + margins[1] + margins[3],
    )
    assert tuple(field.value() for field in panel.bar.margins) == margins
    QTest.keyClick(panel.view, Qt.Key.Key_Z, CONTROL)
    assert not state.build_request().mask_options.expands
    assert (state.width, state.height) == (256, 192)
    QTest.keyClick(panel.view, Qt.Key.Key_Y, CONTROL)
    assert state.build_request().mask_options.expand == margins


def test_a_canvas_grows_to_sizes_that_the_model_takes(desk: Desk, photo: Path) -> None:
    panel, state = paint_on(desk, photo), desk.session.generation
    features = Features(size_multiple=64)
    state.suggestions = msgspec.structs.replace(state.suggestions, features=features)
    QTest.keyClick(panel.view, Qt.Key.Key_G)
    edge = place(panel, 1, 0.5)
    drag(panel, edge, edge + QPoint(60, 0))
    *_, right, _ = state.mask_options.expand
    assert right > 0
    assert right % 64 == 0
    retype(panel.bar.margins[1], "61")
    assert state.mask_options.expand == (0, 64, right, 0)
    # The buttons of a field go as far.
    panel.bar.margins[1].stepUp()
    assert state.mask_options.expand == (0, 128, right, 0)
    assert state.build_request().width == 256 + right


def test_margins_are_typed_and_make_whole_cells(desk: Desk, photo: Path) -> None:
    panel = paint_on(desk, photo)
    panel.act(ActionName.GROW)
    retype(panel.bar.margins[1], "61")
    assert desk.session.generation.build_request().mask_options.expand == (0, 64, 0, 0)
    assert panel.bar.margins[1].value() == 64
    assert unnamed(desk.window) == []


def test_a_canvas_that_grows_keeps_the_picture_in_place_while_zoomed(
    desk: Desk, photo: Path
) -> None:
    panel = paint_on(desk, photo)
    panel.act(ActionName.GROW)
    for _ in range(8):
        panel.view.zoom_in()
    before = panel.view.to_picture(QPointF(100, 100))
    panel.layer.grow((64, 0, 0, 0))
    after = panel.view.to_picture(QPointF(100, 100))
    assert (after.x() - before.x(), after.y() - before.y()) == pytest.approx((64, 0), abs=0.5)


def test_clearing_a_grown_canvas_is_undone_at_once(desk: Desk, photo: Path) -> None:
    """The mask and the margins came back one after the other."""
    panel, state = paint_on(desk, photo), desk.session.generation
    drag(panel, place(panel, 0.3, 0.5), place(panel, 0.7, 0.5))
    desk.wait(lambda: mask(desk) is not None)
    panel.layer.grow((64, 0, 0, 0))
    before = painted(panel)
    panel.bar.clear.click()
    assert (painted(panel), panel.layer.margins) == (0, (0, 0, 0, 0))
    assert not state.mask_options.expands
    assert mask(desk) is None
    panel.bar.undo.click()
    assert (painted(panel), panel.layer.margins) == (before, (64, 0, 0, 0))
    assert state.mask_options.expand == (64, 0, 0, 0)
    desk.wait(lambda: mask(desk) is not None)
    panel.bar.redo.click()
    assert (painted(panel), panel.layer.margins) == (0, (0, 0, 0, 0))


def test_a_grown_picture_holds_the_start_picture(make_desk: MakeDesk, photo: Path) -> None:
    """In the window, with the real engine."""
    desk = make_desk(real=True).start()
    panel = paint_on(desk, photo)
    panel.layer.grow((0, 0, 64, 0))
    desk.session.generation.steps = 3
    desk.session.jobs.generate()
    (job,) = desk.wait_for_jobs(1)
    assert job.state is JobState.DONE, job.error
    before, after = pixels(photo), pixels(job.images[0])
    assert after.shape == (192, 320, 3)
    np.testing.assert_array_equal(after[:, :200], before[:, :200])


def test_without_a_start_picture_the_shown_one_is_painted_on(desk: Desk, photo: Path) -> None:
    action = desk.window.actions_by_name[ActionName.PAINT]
    assert not action.isEnabled()
    desk.session.view.choose(str(photo))
    desk.wait(action.isEnabled)
    action.trigger()
    assert desk.session.view.painting
    assert desk.session.generation.input_path(InputRole.INIT) == str(photo)
    desk.window.form.inputs.drop.click()
    assert not desk.session.view.painting


def test_a_picture_that_cannot_be_shown_is_not_painted_on(
    desk: Desk, photo: Path, tmp_path: Path
) -> None:
    action = desk.window.actions_by_name[ActionName.PAINT]
    desk.session.view.choose(str(photo))
    desk.wait(action.isEnabled)
    damaged = tmp_path / "damaged.png"
    damaged.write_bytes(photo.read_bytes()[:20])
    desk.session.view.choose(str(damaged))
    desk.wait(lambda: not action.isEnabled())
    action.trigger()
    assert not desk.session.view.painting


def test_messages_make_room_once_somebody_paints_below_them(desk: Desk, photo: Path) -> None:
    window, overlay = desk.window, desk.window.messages
    desk.resize(1280, 720)
    # The second failure covers the first.
    desk.session.notices.tell_error(DISK_FULL)
    desk.session.notices.tell_error(msgspec.structs.replace(DISK_FULL, text="Another disk is."))
    desk.session.notices.tell("Settings replaced.")
    panel = paint_on(desk, photo)
    desk.wait(overlay.isVisible)
    high = overlay.height()
    QTest.mouseClick(panel.view, Qt.MouseButton.LeftButton, pos=place(panel, 0.5, 0.1))
    assert overlay.unfold.isVisible()
    assert not window.notices.isVisible()
    assert overlay.unfold.text() == "3 messages"
    assert overlay.height() < 50 < high
    # Beside the button the picture is free, too, and the handle at its lower edge.
    assert overlay.width() < 200
    bottom = panel.view.mapTo(window.places, place(panel, 0.5, 1.0))
    assert overlay.geometry().right() < bottom.x() - 50
    # They are all there again for whoever wants to read them, and stay meanwhile.
    overlay.unfold.click()
    assert window.notices.isVisible()
    assert not overlay.unfold.isVisible()
    assert overlay.height() == high
    assert not window.notices.cards[-1].is_leaving


def test_a_later_message_is_shown_beside_the_folded_ones(desk: Desk, photo: Path) -> None:
    window, overlay, notices = desk.window, desk.window.messages, desk.session.notices
    notices.tell_error(DISK_FULL)
    notices.tell("The first.")
    panel = paint_on(desk, photo)
    QTest.mouseClick(panel.view, Qt.MouseButton.LeftButton, pos=place(panel, 0.5, 0.1))
    assert overlay.unfold.text() == "2 messages"
    notices.dismiss(notices.notices[-1].number)
    assert overlay.unfold.text() == "1 message"
    assert not window.notices.isVisible()
    notices.tell("The second.")
    failure, note = window.notices.cards
    assert note.isVisible()
    # It was put aside, and does not come back with each note.
    assert not failure.isVisible()
    assert overlay.unfold.text() == "1 message"
    overlay.unfold.click()
    assert failure.isVisible()
    assert note.isVisible()
    assert not overlay.unfold.isVisible()
