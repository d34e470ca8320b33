"""Files that take the place of parts of the checkpoint, such as another VAE."""

from pathlib import Path

import msgspec
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.paths import nearest_folder
from app.session import Session
from ui.checkpoint_labels import part_label
from ui.files.chooser import FileChooser
from ui.files.kinds import MODEL_PATTERNS
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel, plain_label, plain_tooltip

VAE = "vae"
_TEXTS = ("text_encoder", "text_encoder_2", "text_encoder_3")
OTHER_PARTS = (*_TEXTS, "denoiser")
# The folders below that of the models where tools keep VAEs.
_VAE_FOLDERS = ("VAE", "vae")


class PartsPanel(QWidget):
    """A row for each part: the file that is used, a button to choose one, and one to drop it."""

    def __init__(self, session: Session, theme: Theme, parts: tuple[str, ...]) -> None:
        super().__init__()
        self._session = session
        self.rows = {part: PartRow(part, theme) for part in parts}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        for part, row in self.rows.items():
            column.addWidget(row)
            row.choose.clicked.connect(lambda _checked=False, part=part: self.browse(part))
            row.drop.clicked.connect(lambda _checked=False, part=part: self.use(part, None))
        session.generation.components_changed.connect(self._refresh)
        session.generation.suggestions_changed.connect(self._refresh)
        self._refresh()

    @property
    def labels(self) -> list[QLabel]:
        """The labels of the rows, to be aligned with those of others."""
        return [row.label for row in self.rows.values()]

    def use(self, part: str, file: str | None) -> None:
        """Use a file for a part; None is the checkpoint's own part."""
        form = self._session.generation
        form.components = msgspec.structs.replace(form.components, **{part: file})

    def browse(self, part: str) -> None:
        """Ask for the file of a part."""
        models = self._session.checkpoints.models
        folders = [models / name for name in _VAE_FOLDERS] if part == VAE else []
        folder = next((folder for folder in folders if folder.is_dir()), models)
        title = self.tr("A file with this part: {part}").format(part=part_label(part))
        name = FileChooser.open_file(self, title, nearest_folder(folder), MODEL_PATTERNS)
        if name:
            self.use(part, str(Path(name)))

    def _refresh(self, *_: object) -> None:
        form = self._session.generation
        # The first encoder's row stays where the model is not known yet.
        absent = _TEXTS[max(1, len(form.suggestions.features.texts)) :]
        for part, row in self.rows.items():
            file = getattr(form.components, part)
            row.show_file(file)
            row.setVisible(file is not None or part not in absent)


class PartRow(QWidget):
    """A part's name and file, and the buttons to choose and to drop a file."""

    def __init__(self, part: str, theme: Theme) -> None:
        super().__init__()
        name = part_label(part)
        self.label = plain_label(name, "label")
        self.file = ElidedLabel()
        self.choose = IconButton(theme, "folder", self.tr("Choose a file…"), outlined=True)
        self.choose.set_name(self.tr("{part}: choose a file…").format(part=name))
        self.drop = IconButton(theme, "close", self.tr("The model's own"))
        self.drop.set_name(self.tr("{part}: the model's own").format(part=name))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.label)
        row.addWidget(self.file, 1)
        row.addWidget(self.drop)
        row.addWidget(self.choose)

    def show_file(self, path: str | None) -> None:
        """Show the name of a file; None is the checkpoint's own part."""
        self.file.setText(self.tr("The model's own") if path is None else Path(path).name)
        self.file.setToolTip(plain_tooltip(path or ""))
        self.drop.setVisible(path is not None)
