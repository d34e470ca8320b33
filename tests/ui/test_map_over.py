"""The map of a control layer over the canvas: drawn, taken off, and drawn on each view."""

from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest

from engine.api.control import ControlResize
from engine.api.preprocessors import InvertOptions
from tests.app.fake_engine import Plan
from tests.app.layers import MODELS
from tests.ui.conftest import Desk, MakeDesk
from ui.create.map_switch import MapSwitch
from ui.panels.control_card import ControlCard
from ui.widgets.map_veil import MapVeil
from ui.widgets.zoom_view import ZoomView

LEFT = Qt.MouseButton.LeftButton
SIDE = 64


@pytest.fixture
def desk(make_desk: MakeDesk, tmp_path: Path) -> Desk:
    """A window with a control layer whose map is white at the left and black at the right."""
    halves = Image.new("RGB", (SIDE, SIDE))
    halves.paste("white", (0, 0, SIDE // 2, SIDE))
    halves.save(tmp_path / "map.png")
    Image.new("RGB", (SIDE, SIDE), (0, 0, 255)).save(tmp_path / "picture.png")
    made = make_desk(Plan(models=MODELS, map=str(tmp_path / "map.png")))
    made.start()
    made.session.control.add(str(tmp_path / "picture.png"))
    made.session.control.change(0, preprocessor=InvertOptions())
    made.wait(lambda: card(made).map.isEnabled())
    return made


def card(desk: Desk) -> ControlCard:
    found = desk.window.form.controls.cards[0]
    assert isinstance(found, ControlCard)
    return found


def left_and_right(view: ZoomView) -> tuple[int, int]:
    """The red of the left and the right half of the picture as it is drawn."""
    image, place = view.grab().toImage(), view.target
    ratio = image.devicePixelRatio()
    points = (
        place.topLeft() + QPointF(place.width() * share, place.height() / 2)
        for share in (0.25, 0.75)
    )
    left, right = (image.pixelColor((point * ratio).toPoint()).red() for point in points)
    return left, right


def test_the_map_lies_over_the_picture_until_it_is_taken_off(desk: Desk, tmp_path: Path) -> None:
    view, corner = desk.window.canvas.view, desk.window.canvas.corner
    desk.session.view.choose(str(tmp_path / "picture.png"))
    desk.wait(lambda: view.image is not None)
    assert left_and_right(view) == (0, 0)
    assert not corner.map.isVisibleTo(view)
    card(desk).map.click()
    desk.wait(lambda: left_and_right(view) == (255, 0))
    assert card(desk).map.isChecked()
    QTest.mouseClick(corner.map, LEFT)
    assert left_and_right(view) == (0, 0)
    assert not card(desk).map.isChecked()


def test_the_map_that_is_shown_is_named_and_another_is_a_click_away(
    desk: Desk, tmp_path: Path
) -> None:
    desk.session.control.add(str(tmp_path / "map.png"))
    card(desk).map.click()
    (switch,) = desk.window.canvas.corner.findChildren(MapSwitch)
    assert switch.isVisible()
    assert switch.text() == "Map 1 of 2: picture.png ▾"
    menu = switch.make_menu()
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert texts == ["1  picture.png", "2  map.png", "No map"]
    assert menu.actions()[0].isChecked()
    menu.actions()[1].trigger()
    assert desk.session.view.map_over == 1
    assert switch.text() == "Map 2 of 2: map.png ▾"
    cards = desk.window.form.controls.cards
    assert [
        isinstance(control_card, ControlCard) and control_card.map.isChecked()
        for control_card in cards
    ] == [False, True]
    menu.actions()[-1].trigger()
    assert desk.session.view.map_over is None
    assert not switch.isVisible()


def test_the_map_lies_over_an_empty_sheet_where_there_is_no_picture(desk: Desk) -> None:
    canvas = desk.window.canvas
    assert canvas.empty.isVisible()
    card(desk).map.click()
    desk.wait(lambda: canvas.view.isVisible() and left_and_right(canvas.view)[0] == 255)
    card(desk).map.click()
    assert canvas.empty.isVisible()


def test_the_map_lies_over_the_start_picture_that_is_painted_on(desk: Desk, tmp_path: Path) -> None:
    card(desk).map.click()
    desk.session.generation.start_from(str(tmp_path / "picture.png"), SIDE, SIDE)
    desk.session.view.painting = True
    paint = desk.window.canvas.paint
    assert paint is not None
    desk.wait(lambda: paint.view.image is not None and left_and_right(paint.view)[0] == 255)


def test_the_map_is_taken_off_with_its_layer(desk: Desk) -> None:
    card(desk).map.click()
    desk.session.control.remove(0)
    assert desk.session.view.map_over is None
    assert desk.window.canvas.empty.isVisible()


@pytest.mark.parametrize(
    ("resize", "covered"),
    [
        # Of a map twice as wide as high, on a square: the middle, all of it, with bars above.
        (ControlResize.CROP, (True, True)),
        (ControlResize.STRETCH, (True, True)),
        (ControlResize.FILL, (False, True)),
    ],
)
def test_a_map_of_another_shape_takes_the_pictures_as_it_is_followed(
    resize: ControlResize, covered: tuple[bool, bool]
) -> None:
    white = QImage(80, 40, QImage.Format.Format_RGB32)
    white.fill(Qt.GlobalColor.white)
    canvas = QImage(40, 40, QImage.Format.Format_RGB32)
    canvas.fill(Qt.GlobalColor.black)
    with QPainter(canvas) as painter:
        MapVeil(white, resize).draw(painter, QRectF(0, 0, 40, 40))
    assert tuple(canvas.pixelColor(20, y).red() > 0 for y in (2, 20)) == covered


def test_colours_of_a_pose_stay_and_a_plain_picture_is_translucent() -> None:
    pose = QImage(64, 64, QImage.Format.Format_RGB32)
    pose.fill(Qt.GlobalColor.black)
    with QPainter(pose) as painter:
        painter.fillRect(0, 0, 16, 16, Qt.GlobalColor.green)
    plain = QImage(64, 64, QImage.Format.Format_RGB32)
    plain.fill(Qt.GlobalColor.yellow)
    shown: list[QImage] = []
    for image in (pose, plain):
        canvas = QImage(64, 64, QImage.Format.Format_RGB32)
        canvas.fill(Qt.GlobalColor.white)
        with QPainter(canvas) as painter:
            MapVeil(image, ControlResize.STRETCH).draw(painter, QRectF(0, 0, 64, 64))
        shown.append(canvas)
    limb, beside = shown[0].pixelColor(8, 8), shown[0].pixelColor(40, 40)
    assert limb.green() > limb.red()
    assert beside.lightness() == 255
    assert 0 < shown[1].pixelColor(8, 8).blue() < 255


def test_a_picture_that_is_its_own_map_is_drawn_as_it_was_changed(
    desk: Desk, tmp_path: Path
) -> None:
    view, picture = desk.window.canvas.view, str(tmp_path / "picture.png")
    desk.session.view.choose(picture)
    desk.session.control.change(0, preprocessor=None)
    desk.session.view.show_map(0)
    desk.wait(lambda: left_and_right(view)[0] == left_and_right(view)[1] == 0)
    desk.wait(lambda: desk.session.edited.is_known(picture))
    Image.open(tmp_path / "map.png").save(picture)
    desk.session.look_again()
    desk.wait(lambda: left_and_right(view)[0] > left_and_right(view)[1])
