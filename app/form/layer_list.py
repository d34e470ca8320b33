"""The control layers or the image prompts of the form, with what is known of the files behind."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec
from PySide6.QtCore import QObject, Signal

from app.field import Field
from app.form.generation import GenerationState
from app.form.layer_kinds import (
    CONTROL_LAYERS,
    MODEL_ITSELF,
    Layer,
    LayerKind,
    bare_name,
    is_whole_path,
)
from app.form.lora_list import LoraList
from app.library.checkpoint_store import CheckpointStore
from app.library.model_store import ModelStore
from app.library.moved_files import MovedFiles
from engine.api.checkpoints import CheckpointInfo
from engine.api.control import ControlLayer
from engine.api.features import ConcatChannels, Features
from engine.api.model_files import ModelInfo


class LayerFate(StrEnum):
    """The use that the next picture makes of a layer."""

    APPLIED = "applied"
    OFF = "off"  # by the user
    UNTAKEN = "untaken"  # the checkpoint's architecture takes none
    BARE = "bare"  # it has no picture yet
    UNCHOSEN = "unchosen"  # no file is chosen yet
    UNSUITED = "unsuited"  # for another family than the checkpoint's
    BROKEN = "broken"  # the file cannot be used, as its description says
    MISSING = "missing"
    UNREAD = "unread"  # not known yet; it is applied if it can be


# Of these the file is not used, whichever layer states it.
_USELESS = (LayerFate.UNTAKEN, LayerFate.UNSUITED, LayerFate.BROKEN, LayerFate.MISSING)


class LayerRow(msgspec.Struct, frozen=True):
    """A layer of the form; `info` is None while nothing is known about its file."""

    layer: Layer
    info: ModelInfo | None
    fate: LayerFate


class LayerList(QObject):
    """The layers of a kind, which follow the form, the user's files and the checkpoint.

    Layers whose files cannot be used stay in the form and are left out of requests.
    """

    rows_changed = Signal(object)
    # The files that can be chosen, or the order of them, are others.
    offered_changed = Signal()
    # True while the user's files are listed or opened.
    listing_changed = Signal(bool)

    rows = Field[tuple[LayerRow, ...]](())

    def __init__(
        self,
        kind: LayerKind,
        form: GenerationState,
        store: ModelStore,
        checkpoints: CheckpointStore,
        moved: MovedFiles,
        loras: LoraList,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.kind, self._loras = kind, loras
        self._form, self._store, self._checkpoints = form, store, checkpoints
        self._moved = moved
        self._is_started = False
        self._offered: tuple[ModelInfo, ...] = ()
        for signal in (
            getattr(form, f"{kind.field}_changed"),
            form.checkpoint_changed,
            checkpoints.looked,
            loras.rows_changed,
            moved.changed,
        ):
            signal.connect(self._refresh)
        store.changed.connect(self._on_files)
        store.listing_changed.connect(self._on_listing)
        self._on_files()

    @property
    def family(self) -> str | None:
        """The family of the chosen checkpoint; None while it is not known."""
        answer = self._checkpoints.answer(self._form.checkpoint)
        return answer.family if isinstance(answer, CheckpointInfo) else None

    @property
    def is_taken(self) -> bool:
        """False for a checkpoint that takes no layers of the kind; True while it is not known."""
        answer = self._checkpoints.answer(self._form.checkpoint)
        return not isinstance(answer, CheckpointInfo) or self.kind.is_offered(answer.features)

    @property
    def own_features(self) -> Features | None:
        """The features of a checkpoint that itself follows a layer without a file; None else.

        It may do so with a control-LoRA in the form.
        """
        answer = self._checkpoints.answer(self._form.checkpoint)
        if self.kind is not CONTROL_LAYERS or not isinstance(answer, CheckpointInfo):
            return None
        features = answer.features
        if not features.follows_map and self._loras.takes_map:
            features = msgspec.structs.replace(features, concat_channels=ConcatChannels.MAP)
        return features if features.follows_map else None

    @property
    def offered(self) -> tuple[ModelInfo, ...]:
        """The listed files of the kind, those that suit the checkpoint first, by name."""
        return tuple(sorted(self._offered, key=lambda info: (not self.suits(info), info.name)))

    @property
    def is_listed(self) -> bool:
        """False until the list of the user's files is complete."""
        return self._store.is_listed

    @property
    def is_known(self) -> bool:
        """True while the list of the user's files is complete and all of them are read."""
        return self._store.is_listed and not self._store.is_listing

    def suits(self, info: ModelInfo) -> bool:
        """Return False for a file that cannot be used, or is for another family."""
        family = self.family
        is_for_another = family is not None and info.families and family not in info.families
        return not (info.problem or is_for_another)

    def start(self) -> None:
        """List the user's files if the form has layers; call it once the window is shown."""
        self._is_started = True
        self._refresh()

    def list_files(self) -> None:
        """List the user's files, unless that was asked for before."""
        self._store.list_once()

    def find(self, stated: str, layer: Layer) -> ModelInfo | None:
        """Return the listed file of a path, else of a content, a hash or a name, which it states.

        None without one.
        """
        place = self._place(stated, layer)
        known = self._store.info(place if place is not None else stated)
        if known is not None:
            return known
        digits = layer.hash
        if digits:
            for info in self._offered:
                if info.sha256.startswith(digits.lower()):
                    return info
        if is_whole_path(stated) and place is not None:
            # It is what it says, unless it is known not to be there.
            return None
        wanted = bare_name(stated)
        named = (file for file in self._offered if bare_name(file.path) == wanted)
        return next(named, None)

    def _on_listing(self, is_listing: bool) -> None:
        # The last files may not have been shown yet.
        self._on_files()
        self.listing_changed.emit(is_listing)

    def _on_files(self) -> None:
        offered = tuple(model for model in self._store.models if model.kind is self.kind.files)
        if offered != self._offered:
            self._offered = offered
            self.offered_changed.emit()
        self._refresh()

    def _refresh(self, *_: object) -> None:
        layers: tuple[Layer, ...] = getattr(self._form, self.kind.field)
        if layers and self._is_started:
            self.list_files()
        rows = tuple(map(self._row, layers))
        # First, so that a request made by whoever hears of the rows is right.
        self._tell_form(rows)
        self.rows = rows

    def _tell_form(self, rows: Iterable[LayerRow]) -> None:
        """Have requests name the files that are found, and leave out the useless ones."""
        files: dict[str, str | None] = {}
        if self.own_features is not None:
            files[MODEL_ITSELF] = MODEL_ITSELF
        for row in rows:
            stated = self.kind.file_of(row.layer)
            if stated is not None:
                found = row.info.path if row.info is not None else stated
                files[stated] = None if row.fate in _USELESS else found
        self._form.layer_files[self.kind.field] = files

    def _row(self, layer: Layer) -> LayerRow:
        stated = self.kind.file_of(layer)
        info = self.find(stated, layer) if stated is not None else None
        fate = self._fate(layer, stated, info)
        is_used = fate in (LayerFate.APPLIED, LayerFate.UNREAD)
        return LayerRow(layer, info, fate if layer.image or not is_used else LayerFate.BARE)

    def _fate(self, layer: Layer, stated: str | None, info: ModelInfo | None) -> LayerFate:
        if not self.is_taken:
            return LayerFate.UNTAKEN
        has_none = stated is None and self.own_features is not None
        if has_none or (isinstance(layer, ControlLayer) and layer.is_reference):
            return LayerFate.APPLIED if layer.enabled else LayerFate.OFF
        if stated is None:
            return LayerFate.UNCHOSEN
        if info is None:
            return self._fate_of_unknown(layer, stated)
        if info.problem:
            return LayerFate.BROKEN
        if not self.suits(info):
            return LayerFate.UNSUITED
        if not layer.enabled:
            return LayerFate.OFF
        return LayerFate.APPLIED if info.is_read else LayerFate.UNREAD

    def _fate_of_unknown(self, layer: Layer, stated: str) -> LayerFate:
        """Return the fate of a file in no listed folder."""
        is_missing = self._place(stated, layer) is None or not is_whole_path(stated)
        if is_missing and self._store.is_listed:
            return LayerFate.MISSING
        return LayerFate.UNREAD if layer.enabled else LayerFate.OFF

    def _place(self, stated: str, layer: Layer) -> str | None:
        """Return the path of a layer's file as it is now; None if it is nowhere."""
        is_asked = self._is_started and is_whole_path(stated)
        if not is_asked or self._store.info(stated) is not None:
            return stated
        return self._moved.place(stated, layer.digest)
