"""The choice among the user's files of a kind: those that suit the checkpoint come first."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal

from app.form.layer_kinds import LayerKind
from app.form.layer_list import LayerList, LayerRow
from app.session import Session
from engine.api.model_files import ModelInfo
from ui.layer_labels import file_title, layer_name, misfit_words
from ui.model_labels import families_label, model_line
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox


class FileChoice(ChoiceBox):
    """A list of files, searched by typing, and of a way to any other file."""

    # Emits the ModelInfo of a listed file.
    picked = Signal(object)
    wants_file = Signal()

    def __init__(self, session: Session, layers: LayerList, theme: Theme) -> None:
        super().__init__(theme, of_files=True)
        self._session, self._list = session, layers
        self._shown: tuple[object, ...] = ()
        # The entry of the file that the layer uses.
        self._used = 0
        self.activated.connect(self._on_activated)

    def show_row(self, row: LayerRow) -> None:
        """Show the files, and the one that a layer uses."""
        offered = self._list.offered
        shown = (offered, self._list.family, self._list.kind.file_of(row.layer), row.info)
        if shown == self._shown:
            return
        self._shown = shown
        with QSignalBlocker(self):
            self.clear()
            self._fill(self._list.kind, row, offered)

    def _fill(self, kind: LayerKind, row: LayerRow, offered: Sequence[ModelInfo]) -> None:
        """Add the entries; the value of an entry is a ModelInfo, or None."""
        stated = kind.file_of(row.layer)
        if stated is None:
            self.add_choice(self.tr("None yet"), None, "")
        elif row.info is None:
            self.add_choice(layer_name(kind, row), None, stated)
        suited = [info for info in offered if self._list.suits(info)]
        others = [info for info in offered if not self._list.suits(info)]
        for info in suited:
            self.add_choice(file_title(info), info, self._line(info))
        if others:
            self.add_heading(self.tr("Not for this model"))
        for info in others:
            self.add_choice(file_title(info), info, self.misfit(info))
        self.add_heading(self.tr("Elsewhere"))
        self.add_choice(self.tr("Choose a file…"), None, "")
        own = (at for at in range(self.count()) if row.info and self.itemData(at) == row.info)
        self._used = next(own, 0)
        self.setCurrentIndex(self._used)

    def misfit(self, info: ModelInfo) -> str:
        """Return why a file does not suit the checkpoint."""
        store = self._session.checkpoints
        own = store.family_title(self._list.family or "")
        return misfit_words(info, families_label(info, store.family_title), own)

    def _line(self, info: ModelInfo) -> str:
        return model_line(info, families_label(info, self._session.checkpoints.family_title))

    def _on_activated(self, row: int) -> None:
        info = self.itemData(row)
        if isinstance(info, ModelInfo):
            self.picked.emit(info)
            return
        # A dialog may end without a choice.
        self.setCurrentIndex(self._used)
        if row == self.count() - 1:
            self.wants_file.emit()
