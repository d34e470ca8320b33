"""The real window on a screen of some size and scale, and all that is wrong with it there.

`python -m tests.ui.scaled_window WORK [PICTURES]` prints the faults as JSON. The environment says
the rest: QT_SCALE_FACTOR, the screen (`screen_variables`), SAFELIGHT_LANGUAGE, SAFELIGHT_THEME.
PICTURES is a folder for a picture of each page.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QRect, QSize
from PySide6.QtGui import QHelpEvent, QImage, QPixmap
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QSplitter,
    QToolTip,
    QWidget,
)

from app.settings.values import Language
from tests.app.folders import folders_in
from tests.app.known_hardware import write_verdicts
from tests.ui.screenshots import Photographer
from ui.actions import ActionName
from ui.application import Application
from ui.gallery.page import GalleryPage
from ui.languages.use import use_language
from ui.models.page import ModelsPage
from ui.places import Place
from ui.theme.metrics import THUMBNAIL
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import ElidedLabel

PICTURE_SIZE = QSize(250, 180)
# Layouts, and pages whose rows come a few at a time, are at rest once nothing moves so often.
_LOOK_S, _CALM_LOOKS = 0.02, 3


def screen_variables(folder: Path, width: int, height: int, scale: float) -> dict[str, str]:
    """The environment of a screen of this many pixels, drawn at a scale, off the screen."""
    screen = {"name": "one", "x": 0, "y": 0, "width": width, "height": height, "dpr": 1}
    file = folder / "screens.json"
    file.write_text(json.dumps({"screens": [{**screen, "logicalDpi": 96, "logicalBaseDpi": 96}]}))
    return {"QT_QPA_PLATFORM": f"offscreen:configfile={file}", "QT_SCALE_FACTOR": str(scale)}


def write_picture(path: Path, seed: int) -> None:
    """A picture in which each pixel differs from those beside it."""
    image = QImage(PICTURE_SIZE, QImage.Format.Format_RGB32)
    for y in range(image.height()):
        for x in range(image.width()):
            image.setPixel(x, y, 0xFF000000 | (x * 7919 + y * 104729 + seed) * 2654435 & 0xFFFFFF)
    path.parent.mkdir(parents=True, exist_ok=True)
    assert image.save(str(path))


def _name(widget: QWidget) -> str:
    text = widget.accessibleName() or _text(widget)
    above = widget.parentWidget()
    return f"{type(widget).__name__} {text[:40]!r} in {type(above).__name__}"


def shown_widgets(window: QWidget) -> Iterator[tuple[QWidget, QWidget]]:
    """The widgets in a window that can be seen, but for those in lists, with those around them."""
    for widget in window.findChildren(QWidget):
        above = widget.parentWidget()
        if above is None or isinstance(above.parentWidget(), QAbstractItemView):
            continue
        if widget.isVisible() and not widget.size().isEmpty() and not widget.isWindow():
            yield widget, above


def cut_widgets(window: QWidget) -> Iterator[str]:
    """Widgets that reach beyond the one around them; what scrolls may do so downwards."""
    for widget, above in shown_widgets(window):
        area, place = above.parentWidget(), widget.geometry()
        if isinstance(area, QAbstractScrollArea) and area.viewport() is above:
            place = QRect(place.x(), 0, place.width(), 1)
        if isinstance(above, QSplitter) and widget.isRightToLeft():
            # Qt puts them a pixel too far to the right there.
            place.translate(-1, 0)
        if not above.rect().contains(place):
            yield f"cut: {_name(widget)}, {place.getRect()} in {above.size().toTuple()}"


def hidden_texts(window: QWidget) -> Iterator[str]:
    """Texts that have less room than they need, and are not told where the mouse rests either."""
    for widget, _ in shown_widgets(window):
        has_text = isinstance(widget, ChoiceBox | QLabel | QAbstractButton)
        if has_text and _is_cut(widget) and not (widget.toolTip() or _is_told(widget)):
            yield f"text: {_name(widget)}"


def _is_cut(widget: ChoiceBox | QLabel | QAbstractButton) -> bool:
    if isinstance(widget, ChoiceBox):
        wanted = widget.fontMetrics().horizontalAdvance(widget.currentText())
        return wanted > widget.text_room
    if isinstance(widget, ElidedLabel):
        return widget.fontMetrics().horizontalAdvance(widget.text()) > widget.width()
    if isinstance(widget, QLabel) and widget.wordWrap():
        return widget.heightForWidth(widget.width()) > widget.height()
    return bool(widget.text()) and widget.minimumSizeHint().width() > widget.width()


def _is_told(widget: QWidget) -> bool:
    place = widget.rect().center()
    event = QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place))
    QApplication.sendEvent(widget, event)
    text = widget.currentText() if isinstance(widget, ChoiceBox) else _text(widget)
    told = " ".join(text.split())[:20] in QToolTip.text()
    QToolTip.hideText()
    return told


def _text(widget: QWidget) -> str:
    return widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""


class Inspection:
    """A walk through the pages of a window that fills its screen."""

    def __init__(self, application: Application, work: Path, pictures: Path | None) -> None:
        self.faults: list[str] = []
        self._photographer = Photographer(application, work, work / "private")
        self._pictures = pictures
        self._window = self._photographer.window
        self._session = self._photographer.session

    def walk(self) -> None:
        """Look at each page, and at what opens on that of Create."""
        self._session.start()
        self._photographer.wait_for("engine", self._photographer.is_ready)
        self._photographer.wait_for("picture", lambda: len(self._session.output_pictures) > 0)
        self._fill_screen()
        self._look("first")
        self._session.view.choose(self._session.output_pictures[0].path)
        view = self._window.canvas.view
        self._photographer.wait_for("view", lambda: view.isVisible() and view.image is not None)
        self._look("create")
        self._sharpness()
        for action in (ActionName.DETAILS, ActionName.QUEUE):
            self._press(action)
            self._look(action.value)
            self._press(action)
        self._window.form.advanced.section.open()
        self._look("advanced")
        self._pages()

    def _pages(self) -> None:
        for place in (Place.GALLERY, Place.MODELS, Place.SETTINGS):
            self._window.places.open(place)
            page = self._window.places.page
            if isinstance(page, GalleryPage):
                self._photographer.wait_for("gallery", lambda p=page: p.browser.count > 0)
            if isinstance(page, ModelsPage):
                store = self._session.models.store
                self._photographer.wait_for("models", lambda s=store: s.is_listed)
            for number in range(3 if isinstance(page, ModelsPage) else 1):
                if isinstance(page, ModelsPage):
                    page.show_view(number)
                self._look(f"{place.value}-{number}")

    def _fill_screen(self) -> None:
        window, room = self._window, self._window.screen().availableGeometry()
        for size in (window.minimumSize(), window.minimumSizeHint()):
            if not QRect(QPoint(), room.size()).contains(QRect(QPoint(), size)):
                self.faults.append(f"least size: {size.toTuple()} on {room.size().toTuple()}")
        # A new window is put into its screen a moment after it is shown.
        framed = window._framed  # pyright: ignore[reportPrivateUsage]
        self._photographer.wait_for("frame", lambda: not framed.isActive())
        window.setGeometry(room)
        self._rest()
        if window.size() != room.size():
            self.faults.append(f"size: {window.size().toTuple()} on {room.size().toTuple()}")

    def _press(self, action: ActionName) -> None:
        self._window.actions_by_name[action].trigger()

    def _rest(self) -> None:
        """Let events happen until several looks in a row find everything where it was."""
        before, calm = list[tuple[int, int, int, int]](), 0
        while calm < _CALM_LOOKS:
            self._photographer.settle(_LOOK_S)
            now = [widget.geometry().getRect() for widget, _ in shown_widgets(self._window)]
            calm = calm + 1 if now == before else 0
            before = now

    def _look(self, state: str) -> None:
        self._rest()
        found = {*cut_widgets(self._window), *hidden_texts(self._window)}
        self.faults += [f"{state}: {fault}" for fault in sorted(found)]
        if self._pictures is not None:
            self._window.grab().save(str(self._pictures / f"{state}.png"))

    def _sharpness(self) -> None:
        """Compare the picture at 100 % with its file, and look for thumbnails of other sizes."""
        view, ratio = self._window.canvas.view, self._window.devicePixelRatioF()
        view.show_actual_size()
        self._rest()
        drawn = view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        place = QRect((view.target.topLeft() * ratio).toPoint(), PICTURE_SIZE)
        file = QImage(self._session.view.path or "").convertToFormat(QImage.Format.Format_RGB32)
        part = drawn.copy(place)
        part.setDevicePixelRatio(1)
        if part != file:
            self.faults.append(f"the picture at 100 % is not its file at {place.getRect()}")
        view.fit()
        thumbnails, newest = self._window.create_page.thumbnails, self._session.output_pictures[0]
        self._photographer.wait_for("thumbnail", lambda: thumbnails.get(newest) is not None)
        thumbnail = thumbnails.get(newest)
        pixmap = thumbnail.pixmap if thumbnail is not None else None
        side = round(THUMBNAIL * ratio)
        if pixmap is None or pixmap.devicePixelRatio() != ratio or _least_side(pixmap) != side:
            self.faults.append(f"thumbnail: {pixmap}, not {side} pixels high")

    def end(self) -> None:
        """Close the window."""
        self._window.close()
        self._session.close()
        self._window.close_background()


def _least_side(pixmap: QPixmap) -> int:
    return min(pixmap.size().toTuple())


def main(work: Path, pictures: Path | None) -> None:
    """Print the faults."""
    application = Application()
    use_language(application, Language.SYSTEM)
    paths = folders_in(work / "private")
    write_verdicts(paths.cache)
    for number in range(3):
        write_picture(work / "private" / "pictures" / f"{number}.png", number)
    inspection = Inspection(application, work, pictures)
    try:
        inspection.walk()
    finally:
        inspection.end()
    print(json.dumps(inspection.faults))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2:] else None)
