"""Maps of control layers, made by the engine to be looked at before a picture is made."""

from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from engine.api.map_messages import MapMade
from engine.api.messages import QueryFailed
from engine.api.preprocessors import MapOptions, MapTarget


class MapPreviews(QObject):
    """Asks for maps, each for a place that shows it; the latest map of a place is the one wanted.

    Places are any names, such as the layers' own.
    """

    # The place, then MapMade or ErrorInfo.
    made = Signal(str, object)
    failed = Signal(str, object)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._places: dict[int, str] = {}
        client.map_made.connect(self._on_made)
        client.query_failed.connect(self._on_failed)

    def request(
        self,
        place: str,
        image: str,
        options: MapOptions,
        weights: str | None = None,
        target: MapTarget | None = None,
    ) -> None:
        """Ask for a picture's map; `made` or `failed` tells, unless the place asks again.

        Without `weights` a preprocessor's file is looked for by its usual names. The `target`
        decides the size of maps without a resolution of their own.
        """
        self.forget(place)
        self._places[self._client.make_map(image, options, weights, target)] = place

    def forget(self, place: str) -> None:
        """Stop what is made for a place; neither `made` nor `failed` follows."""
        for query in [query for query, its in self._places.items() if its == place]:
            del self._places[query]
            self._client.cancel_map(query)

    def _on_made(self, event: MapMade) -> None:
        place = self._places.pop(event.query, None)
        if place is not None:
            self.made.emit(place, event)

    def _on_failed(self, event: QueryFailed) -> None:
        place = self._places.pop(event.query, None)
        if place is not None:
            self.failed.emit(place, event.error)
