"""The cached data by model: a row for each, which rebuilds or clears it."""

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.engine.cache_state import CachedModel, CacheState
from app.session import Session
from ui.labels import file_size
from ui.outlook_labels import cached_words
from ui.theme.metrics import XS, S
from ui.widgets.folding_row import FoldingRow
from ui.widgets.labels import breakable, plain_label

# The least width in pixels of the words about a model beside their buttons.
_WORDS_WIDTH = 220


class CacheTable(QWidget):
    """The rows of the models, and a button that clears them all."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._cache, self._checkpoints = session.cache, session.checkpoints
        self.about = plain_label("", wrap=True)
        self.clear_all = QPushButton(self.tr("Clear all"))
        self.clear_all.setAutoDefault(False)
        # By the names of the checkpoints: a row keeps the focus while its model is rebuilt.
        self._rows: dict[str, CacheRow] = {}
        self._column = QVBoxLayout()
        self._column.setSpacing(XS)
        foot = QHBoxLayout()
        foot.addWidget(self.clear_all)
        foot.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(self.about)
        column.addLayout(self._column)
        column.addLayout(foot)
        self._cache.models_changed.connect(self._refresh)
        self._cache.rebuilding_changed.connect(self._show_rebuilding)
        self.clear_all.clicked.connect(lambda: self._cache.clear(self._cache.models or ()))
        self._refresh()

    @property
    def rows(self) -> "tuple[CacheRow, ...]":
        """The rows in the order in which they are shown."""
        return tuple(self._rows.values())

    def _refresh(self, *_: object) -> None:
        models = self._cache.models
        self._put_rows(models or ())
        self._show_rebuilding()
        self.clear_all.setVisible(len(models or ()) > 1)
        if models is None:
            self.about.setText(self.tr("Looking at what is kept…"))
        elif not models:
            self.about.setText(self.tr("Nothing is kept."))
        else:
            text = self.tr(
                "{size} in all: models prepared for this computer, and what they made of the last"
                " prompts. What is cleared is made again when it is needed."
            )
            self.about.setText(text.format(size=file_size(self._cache.bytes)))

    def _put_rows(self, models: tuple[CachedModel, ...]) -> None:
        # The largest comes first, so the order may be another.
        before, self._rows = self._rows, {}
        paths = {entry.path.name: entry.path for entry in self._checkpoints.entries}
        starter = self._checkpoints.starter.name
        for at, model in enumerate(models):
            row = before.pop(model.checkpoint, None) or CacheRow(self._cache)
            row.show_model(model, starter, paths.get(model.checkpoint))
            self._rows[model.checkpoint] = row
            self._column.insertWidget(at, row)
        for row in before.values():
            row.hide()
            row.deleteLater()

    def _show_rebuilding(self, *_: object) -> None:
        for row in self._rows.values():
            row.show_rebuilding()


class CacheRow(QWidget):
    """The name of a model, the facts about its cached data, and the buttons for it."""

    def __init__(self, cache: CacheState) -> None:
        super().__init__()
        self._cache = cache
        self._model: CachedModel | None = None
        self._path: Path | None = None
        self._name = plain_label("", wrap=True)
        self._facts = plain_label("", "caption", wrap=True)
        self.rebuild = QPushButton()
        self.rebuild.setToolTip(self.tr("Clears it, and prepares the model again now."))
        self.clear = QPushButton(self.tr("Clear"))
        words, buttons = QVBoxLayout(), QHBoxLayout()
        words.addWidget(self._name)
        words.addWidget(self._facts)
        for button, act in ((self.rebuild, self._rebuild), (self.clear, self._clear)):
            button.setAutoDefault(False)
            button.clicked.connect(act)
            buttons.addWidget(button)
        row = FoldingRow(words, buttons, _WORDS_WIDTH)
        row.setSpacing(S)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)

    def show_model(self, model: CachedModel, starter: str, path: Path | None) -> None:
        """Show a model with the file to rebuild from; `starter` is the starter's name there."""
        self._model, self._path = model, path
        name, facts = cached_words(model, starter)
        self._name.setText(breakable(name))
        self._facts.setText(facts)
        again = self.tr("Make what is kept for {name} anew")
        self.rebuild.setAccessibleName(again.format(name=name))
        self.rebuild.setVisible(path is not None)
        self.clear.setAccessibleName(self.tr("Clear what is kept for {name}").format(name=name))

    def show_rebuilding(self) -> None:
        """Show how far this model is, or that another has to be waited for."""
        rebuilt, percent = self._cache.rebuilding or (None, 0)
        is_own = self._model is not None and self._model.checkpoint == rebuilt
        preparing = self.tr("Preparing… {n} %").format(n=percent)
        self.rebuild.setText(preparing if is_own else self.tr("Rebuild"))
        # A button that is disabled loses the focus, and this one is to be read on.
        self.rebuild.setEnabled(rebuilt is None or is_own)

    def _rebuild(self) -> None:
        if self._model is not None and self._path is not None:
            self._cache.rebuild(self._model, self._path)

    def _clear(self) -> None:
        if self._model is not None:
            self._cache.clear([self._model])
