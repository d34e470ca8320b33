"""A result is compared with its start picture: by a divider, and while a key is held."""

from pathlib import Path

import msgspec
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from engine.api.masks import Margins, MaskOptions
from engine.api.request import InputImage
from engine.api.values import InputRole
from engine.metadata.png import insert_text_chunks
from engine.metadata.record import record_chunks
from tests.metadata.records import PLAIN
from tests.ui.conftest import Desk
from ui.actions import ActionName
from ui.widgets.compare_view import CompareView

LEFT = Qt.MouseButton.LeftButton
RED, BLUE = QColor("red"), QColor("blue")


def result(
    folder: Path, start: Path | None, size: tuple[int, int], expand: Margins = (0, 0, 0, 0)
) -> str:
    """A red picture; made from the start picture, which is blue."""
    inputs = () if start is None else (InputImage(role=InputRole.INIT, path=str(start)),)
    request = msgspec.structs.replace(
        PLAIN.request, inputs=inputs, mask_options=MaskOptions(expand=expand)
    )
    path = folder / f"result{start is None}.png"
    Image.new("RGB", size, "red").save(path)
    record = msgspec.structs.replace(PLAIN, request=request)
    path.write_bytes(insert_text_chunks(path.read_bytes(), record_chunks(record)))
    return str(path)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    path = tmp_path / "start.png"
    Image.new("RGB", (400, 300), "blue").save(path)
    return path


def show(desk: Desk, path: str) -> CompareView:
    # In the narrowest window the buttons in the corner lie over the picture.
    desk.window.resize(1280, 720)
    view = desk.window.canvas.view
    desk.session.view.choose(path)
    desk.wait(lambda: view.has_other)
    view.setFocus()
    return view


def colour(view: CompareView, x: float, y: float) -> QColor:
    target = view.target
    place = QPoint(round(target.x() + x * target.width()), round(target.y() + y * target.height()))
    return view.grab().toImage().pixelColor(place)


def test_a_divider_between_both_is_dragged_and_moved_by_keys(
    desk: Desk, tmp_path: Path, start: Path
) -> None:
    view = show(desk, result(tmp_path, start, (400, 300)))
    assert colour(view, 0.3, 0.3) == RED
    desk.window.actions_by_name[ActionName.COMPARE_START].trigger()
    assert desk.window.canvas.corner.compare.isChecked()
    assert (colour(view, 0.3, 0.3), colour(view, 0.7, 0.3)) == (BLUE, RED)
    target = view.target
    grip = QPoint(round(target.center().x()), round(target.top() + 40))
    QTest.mousePress(view, LEFT, pos=grip)
    QTest.mouseMove(view, QPoint(round(target.left() + 0.8 * target.width()), grip.y()))
    QTest.mouseRelease(view, LEFT, pos=grip)
    assert colour(view, 0.7, 0.3) == BLUE
    for _ in range(4):
        QTest.keyClick(view, Qt.Key.Key_Left)
    assert (colour(view, 0.5, 0.3), colour(view, 0.7, 0.3)) == (BLUE, RED)
    desk.window.canvas.corner.compare.click()
    assert colour(view, 0.3, 0.3) == RED


def test_the_start_picture_is_shown_while_a_key_or_the_button_is_held(
    desk: Desk, tmp_path: Path, start: Path
) -> None:
    view = show(desk, result(tmp_path, start, (400, 300)))
    hold = desk.window.canvas.corner.hold
    QTest.keyPress(view, Qt.Key.Key_B)
    assert colour(view, 0.9, 0.9) == BLUE
    QTest.keyRelease(view, Qt.Key.Key_B)
    assert colour(view, 0.9, 0.9) == RED
    QTest.mousePress(hold, LEFT)
    assert colour(view, 0.9, 0.9) == BLUE
    QTest.mouseRelease(hold, LEFT)
    assert colour(view, 0.9, 0.9) == RED


def test_a_start_picture_lies_in_its_place_in_a_canvas_that_grew(
    desk: Desk, tmp_path: Path, start: Path
) -> None:
    view = show(desk, result(tmp_path, start, (800, 300), expand=(400, 0, 0, 0)))
    view.hold_other(holds=True)
    assert colour(view, 0.75, 0.5) == BLUE
    assert colour(view, 0.25, 0.5) not in (BLUE, RED)


def test_a_picture_from_noise_has_nothing_to_compare(
    desk: Desk, tmp_path: Path, start: Path
) -> None:
    view, corner = show(desk, result(tmp_path, start, (400, 300))), desk.window.canvas.corner
    assert corner.compare.isVisible()
    desk.session.view.choose(result(tmp_path, None, (400, 300)))
    desk.wait(lambda: not view.has_other)
    assert not corner.compare.isVisible()
    assert not desk.window.actions_by_name[ActionName.COMPARE_START].isEnabled()
