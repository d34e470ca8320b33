"""Commands for the control layers or the image prompts of the form."""

from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal

from app.commands.state import AppState
from app.form.layer_kinds import CONTROL_LAYERS, Layer, LayerKind
from app.form.layer_list import LayerList
from app.form.stated_digests import without_old_digests
from engine.api.control import ControlLayer
from engine.api.image_prompts import MAX_FURTHER_PICTURES, ImagePrompt
from engine.api.model_files import ModelInfo


class LayerCommands(QObject):
    """Changes the layers of a kind; what removes or replaces something can be undone."""

    # The index of a layer that is new, or that was given a file elsewhere: it should be seen.
    shown = Signal(int)

    def __init__(self, state: AppState, layers: LayerList, parent: QObject) -> None:
        super().__init__(parent)
        self._form, self._notices, self._view = state.form, state.notices, state.view
        self.list, self._changes = layers, state.changes
        self.kind: LayerKind = layers.kind
        # Layers that were added while the user's files were not known yet.
        self._begun: list[Layer] = []
        layers.listing_changed.connect(self._on_listing)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers in their order."""
        return getattr(self._form, self.kind.field)

    @property
    def is_offered(self) -> bool:
        """True if networks of the kind were made for the architecture of the checkpoint."""
        return self.kind.is_offered(self._form.suggestions.features)

    def open(self, picture: Path) -> None:
        """Add a picture that was dropped or chosen; a notice offers to undo it."""
        name = picture.name[:80]
        if self.kind is CONTROL_LAYERS:
            message = self.tr("The next picture follows {name}.")
        else:
            message = self.tr("{name} is a prompt of the next picture.")
        self._changes.apply(message.format(name=name), lambda: self.add(str(picture)))

    def add(self, picture: str) -> None:
        """Add a picture; the only file that suits the checkpoint is chosen for it."""
        self.list.list_files()
        layer = self.kind.make(image=picture)
        if self.list.own_features is not None:
            layer = self._by_model(layer)
        elif self.list.is_known:
            layer = self._with_only_file(layer)
        else:
            self._begun.append(layer)
        self._append(layer)

    def use_model(self, info: ModelInfo) -> None:
        """Use a listed file: for the first layer without one, else for a new one without a picture.

        The picture is chosen in the layer's card.
        """
        files = map(self.kind.file_of, self.layers)
        at = next((at for at, file in enumerate(files) if file is None), None)
        if at is not None:
            message = self.tr("{name} is used now.")
        elif self.kind is CONTROL_LAYERS:
            message = self.tr("{name} follows a picture: choose it in the form.")
        else:
            message = self.tr("{name} makes a prompt of a picture: choose it in the form.")

        def use() -> None:
            if at is None:
                self._append(self._with_info(self.kind.make(image=""), info))
            else:
                self.choose_file(at, info)
                self.shown.emit(at)

        self._changes.apply(message.format(name=Path(info.path).name[:80]), use)

    def use_encoder(self, info: ModelInfo) -> None:
        """Read the pictures of all image prompts by an encoder; without any, begin one."""
        name = Path(info.path).name[:80]
        layers = self.layers or (self.kind.make(image=""),)
        changed = tuple(msgspec.structs.replace(layer, encoder=info.path) for layer in layers)
        message = self.tr("{name} reads the pictures of image prompts.").format(name=name)
        self._changes.apply(message, lambda: self._put(changed))
        self.shown.emit(0)

    def change(self, at: int, **changes: Any) -> None:
        """Change fields of a layer, by their names in its struct."""
        self.replace(at, msgspec.structs.replace(self.layers[at], **changes))

    def choose_file(self, at: int, info: ModelInfo) -> None:
        """Use a listed file for a layer, with the preprocessor that the file is made for."""
        self.replace(at, self._with_info(self.layers[at], info))

    def choose_model(self, at: int) -> None:
        """Have the model itself follow a layer's picture."""
        self.replace(at, self._by_model(self.layers[at]))

    def use_file(self, at: int, path: Path) -> None:
        """Use a file for a layer, where it lies; its other settings stay."""
        message = self.tr("{name} is used now.").format(name=path.name[:80])
        found = msgspec.structs.replace(self.kind.with_file(self.layers[at], str(path)), hash=None)
        self._changes.apply(message, lambda: self.replace(at, found))

    def use_picture(self, at: int, path: Path) -> None:
        """Use another picture for a layer; its settings stay."""
        message = self.tr("{name} is used now.").format(name=path.name[:80])
        self._changes.apply(message, lambda: self.change(at, image=str(path)))

    def add_further(self, at: int, path: Path) -> None:
        """Let an image prompt see a further picture, up to the most that it may have."""
        layer = self.layers[at]
        assert isinstance(layer, ImagePrompt), "control layers follow one picture"
        self.change(at, further=(*layer.further, str(path))[:MAX_FURTHER_PICTURES])

    def remove(self, at: int) -> None:
        """Remove a layer."""
        layers = self.layers
        name = Path(layers[at].image).name[:80]
        rest = (*layers[:at], *layers[at + 1 :])
        message = self.tr("{name} is removed.").format(name=name)
        self._hide_map()
        self._changes.apply(message, lambda: self._put(rest))

    def move(self, at: int, to: int) -> None:
        """Move a layer to another place in the order."""
        layers = list(self.layers)
        if 0 <= to < len(layers) and to != at:
            layers.insert(to, layers.pop(at))
            self._hide_map()
            self._put(tuple(layers))

    def _on_listing(self, _is_listing: bool) -> None:
        """Choose the only file that suits for layers that waited for the list as they are."""
        if not (self._begun and self.list.is_known):
            return
        begun, self._begun = self._begun, []
        for at, layer in enumerate(self.layers):
            if any(layer is old for old in begun):
                self.replace(at, self._with_only_file(layer))

    def _with_only_file(self, layer: Layer) -> Layer:
        suited = [info for info in self.list.offered if self.list.suits(info)]
        return self._with_info(layer, suited[0]) if len(suited) == 1 else layer

    def _by_model(self, layer: Layer) -> Layer:
        """Return a layer without a file, with a preprocessor for the model itself."""
        features = self.list.own_features
        if features is None or not isinstance(layer, ControlLayer):
            return layer
        # Here, as the window starts sooner without the words of networks' names.
        from app.form.control_defaults import serving

        bare = msgspec.structs.replace(layer, network=None, hash=None, digest=None)
        return serving(bare, features.own_map)

    def _hide_map(self) -> None:
        """Take the map off the canvas: it is known by its layer's place, which changes."""
        if self.kind is CONTROL_LAYERS:
            self._view.map_over = None

    def _with_info(self, layer: Layer, info: ModelInfo) -> Layer:
        changed = msgspec.structs.replace(self.kind.with_file(layer, info.path), hash=None)
        if isinstance(changed, ControlLayer):
            # Here, as the window starts sooner without the words of networks' names.
            from app.form.control_defaults import preprocessor_for

            return preprocessor_for(changed, info)
        return changed

    def replace(self, at: int, layer: Layer) -> None:
        """Put another layer in the place of one."""
        layers = self.layers
        changed = without_old_digests(layers[at], layer)
        self._put((*layers[:at], changed, *layers[at + 1 :]))

    def _append(self, layer: Layer) -> None:
        if len(self.layers) >= self.kind.most:
            self._notices.tell(self.tr("There is room for {n} of them.").format(n=self.kind.most))
            return
        self._put((*self.layers, layer))
        self.shown.emit(len(self.layers) - 1)

    def _put(self, layers: tuple[Layer, ...]) -> None:
        setattr(self._form, self.kind.field, layers)
