"""The maps of the form's control layers, made anew a moment after something changed."""

from collections.abc import Iterator

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.form.edited_pictures import EditedPictures
from app.form.generation import GenerationState
from app.form.map_previews import MapPreviews
from engine.api.control import ControlLayer
from engine.api.map_messages import MapMade
from engine.api.preprocessors import MapTarget
from engine.api.values import ErrorInfo, InputRole

# Maps are made after this pause in the changes.
_PAUSE_MS = 250
# The latest maps whose files are remembered.
_MOST = 64
_SIZED = frozenset(
    {"controls", "width", "height", "checkpoint", "suggestions", "inputs", "mask_options"}
)


class LayerMap(msgspec.Struct, frozen=True):
    """The map of a layer: its file, or the reason why there is none; neither while it is made."""

    path: str = ""
    error: ErrorInfo | None = None


NOT_MADE = LayerMap()


class LayerMaps(QObject):
    """Asks for the map of each control layer; without a preprocessor the picture is the map."""

    # The map of some layer is another one.
    changed = Signal()

    def __init__(
        self,
        form: GenerationState,
        previews: MapPreviews,
        edited: EditedPictures,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._form, self._previews, self._edited = form, previews, edited
        # By what they are made of, as text: the place by which `previews` knows them.
        self._maps: dict[str, LayerMap] = {}
        self._asked: set[str] = set()
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        form.changed.connect(self._on_form)
        edited.changed.connect(self._on_edited)
        previews.made.connect(self._on_made)
        previews.failed.connect(self._on_failed)
        if form.controls:
            self._pause.start()

    def of(self, layer: ControlLayer) -> LayerMap:
        """Return the map of a layer as far as it is made."""
        if layer.preprocessor is None:
            return LayerMap(layer.image)
        return self._maps.get(self._place(layer), NOT_MADE)

    def look_again(self) -> None:
        """Ask again for maps that could not be made."""
        failed = [place for place, map_ in self._maps.items() if map_.error is not None]
        for place in failed:
            del self._maps[place]
        if failed:
            self._pause.start()

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _SIZED and (self._form.controls or self._asked):
            self._pause.start()
            self.changed.emit()

    def _on_edited(self, _paths: frozenset[str]) -> None:
        self._on_form(_SIZED)

    def _ask(self) -> None:
        wanted = {self._place(layer): layer for layer in self._made_ones()}
        for place in self._asked - wanted.keys():
            self._previews.forget(place)
        self._asked &= wanted.keys()
        for place, layer in wanted.items():
            if place in self._maps or place in self._asked or layer.preprocessor is None:
                continue
            self._asked.add(place)
            weights, target = layer.preprocessor_weights, self._target(layer)
            self._previews.request(place, layer.image, layer.preprocessor, weights, target)

    def _made_ones(self) -> Iterator[ControlLayer]:
        return (
            layer for layer in self._form.controls if layer.preprocessor is not None and layer.image
        )

    def _place(self, layer: ControlLayer) -> str:
        picture = layer.image, self._edited.edition(layer.image)
        made_of = picture, layer.preprocessor, layer.preprocessor_weights, self._target(layer)
        return msgspec.json.encode(made_of).decode()

    def _target(self, layer: ControlLayer) -> MapTarget | None:
        """Return the size of the picture for maps that have none of their own."""
        if getattr(layer.preprocessor, "resolution", 0) is not None:
            return None
        form, effective = self._form, self._form.effective
        target = layer.target(effective.width, effective.height)
        if layer.image != form.input_path(InputRole.INIT):
            return target
        return msgspec.structs.replace(target, margins=form.mask_options.expand)

    def _on_made(self, place: str, event: MapMade) -> None:
        self._take(place, LayerMap(event.path))

    def _on_failed(self, place: str, error: ErrorInfo) -> None:
        self._take(place, LayerMap(error=error))

    def _take(self, place: str, made: LayerMap) -> None:
        if place not in self._asked:
            return
        self._asked.discard(place)
        self._maps[place] = made
        for earlier in tuple(self._maps)[:-_MOST]:
            del self._maps[earlier]
        self.changed.emit()
