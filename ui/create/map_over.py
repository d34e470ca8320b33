"""The map of a control layer over the canvas, while its card asks for it."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QImage

from app.decoding import decode
from app.session import Session
from engine.api.control import ControlLayer
from ui.widgets.map_veil import MapVeil
from ui.widgets.zoom_view import ZoomView

# The longest side of the map that is drawn, in pixels.
_SIDE = 2048


class MapOver(QObject):
    """Reads the map of the layer that the view state names, and gives it to the views."""

    def __init__(
        self,
        session: Session,
        views: Callable[[], Iterable[ZoomView]],
        parent: QObject,
    ) -> None:
        """`views` returns those that show the next picture."""
        super().__init__(parent)
        self._session, self._views = session, views
        # The map that is drawn, by its path and edition, and the picture in it.
        self._read: tuple[tuple[str, int], QImage] | None = None
        self._wanted = "", 0
        for signal in (
            session.view.map_over_changed,
            session.view.painting_changed,
            session.control_maps.changed,
            session.generation.controls_changed,
        ):
            signal.connect(self._refresh)
        self._refresh()

    def _layer(self) -> ControlLayer | None:
        at, layers = self._session.view.map_over, self._session.generation.controls
        return layers[at] if at is not None and at < len(layers) else None

    def _refresh(self, *_: object) -> None:
        layer = self._layer()
        path = self._session.control_maps.of(layer).path if layer is not None else ""
        self._wanted = path, self._session.edited.edition(path)
        if layer is None or not path:
            self._read = None
            self._show(None)
        elif self._read is not None and self._read[0] == self._wanted:
            image = self._read[1]
            self._show(None if image.isNull() else MapVeil(image, layer.resize))
        else:
            self._begin(self._wanted)

    def _begin(self, wanted: tuple[str, int]) -> None:
        path, _ = wanted

        def read() -> QImage:
            return decode(path, QSize(_SIDE, _SIDE)).image

        def take(image: QImage) -> None:
            if wanted == self._wanted:
                self._read = wanted, image
                self._refresh()

        self._session.background.run(read, take)

    def _show(self, veil: MapVeil | None) -> None:
        for view in self._views():
            view.lay_over(veil)
