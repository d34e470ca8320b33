"""The list of presets: use, rename, reorder and remove them."""

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.form.presets import Preset
from app.session import Session
from ui.action_names import ActionName
from ui.dialogs.preset_dialog import PresetDialog
from ui.key_tips import follow_keys, show_key
from ui.keys import bind_key, keys
from ui.preset_labels import parts_words
from ui.theme.metrics import L, M, S
from ui.widgets.labels import buddy_label, plain_label
from ui.window_place import room_for

_SIZE = QSize(460, 420)


class PresetsDialog(QDialog):
    """A dialog with the presets in their order; every change applies at once."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._presets = session, session.presets
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Presets"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.list = QListWidget()
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.about = plain_label("", "caption", wrap=True)
        self.how = buddy_label("", self.list, "caption")
        follow_keys(self, PresetsDialog._show_how)
        self.save = QPushButton(self.tr("Save as a preset…"))
        self.nothing = self._make_nothing()
        self.use = QPushButton(self.tr("Use"))
        self.rename = QPushButton(self.tr("Rename"))
        self.remove = QPushButton(self.tr("Remove"))
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        self._connect()
        self._refresh()

    def current(self) -> Preset | None:
        """Return the chosen preset; None if the list is empty."""
        row, presets = self.list.currentRow(), self._presets.store.presets
        # A drag may add a row for a moment.
        return presets[row] if 0 <= row < len(presets) else None

    def _show_how(self) -> None:
        up, down = map(keys().shown, (ActionName.PRESET_EARLIER, ActionName.PRESET_LATER))
        words = self.tr("Drag a preset to its place, or move it with {up} and {down}.")
        self.how.setText(words.format(up=up, down=down))

    def _make_nothing(self) -> QWidget:
        """Make what is there without presets: a sentence, and the button for the first one."""
        words = self.tr(
            "There are no presets yet. One keeps settings of the form under a name of your own."
        )
        text = plain_label(words, "label", wrap=True)
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.save.setAutoDefault(False)
        nothing = QWidget()
        column = QVBoxLayout(nothing)
        column.setSpacing(M)
        column.addStretch()
        column.addWidget(text)
        column.addWidget(self.save, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch()
        return nothing

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        self.use.setToolTip("Enter")
        show_key(self.rename, ActionName.RENAME_PRESET)
        show_key(self.remove, ActionName.REMOVE_PRESET)
        for button in (self.use, self.rename, self.remove):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(L, L, L, M)
        column.setSpacing(S)
        self.how.setWordWrap(True)
        column.addWidget(self.how)
        self.list.setAccessibleName(self.tr("Presets"))
        column.addWidget(self.list, 1)
        column.addWidget(self.nothing, 1)
        column.addWidget(self.about)
        column.addLayout(buttons)
        self.about.setMinimumHeight(self.about.fontMetrics().lineSpacing())
        self.close_button.setAutoDefault(False)

    def _connect(self) -> None:
        self._presets.store.presets_changed.connect(self._refresh)
        self.list.currentRowChanged.connect(self._show_current)
        self.list.itemChanged.connect(self._on_renamed)
        # By Enter or a double click, but not by the Enter that ends a renaming.
        self.list.itemActivated.connect(self._use)
        self.list.model().rowsMoved.connect(self._on_moved)
        self.use.clicked.connect(self._use)
        self.rename.clicked.connect(self._rename)
        self.remove.clicked.connect(self._remove)
        self.save.clicked.connect(self._save)
        self.close_button.clicked.connect(self.accept)
        for name, act in (
            (ActionName.RENAME_PRESET, self._rename),
            (ActionName.REMOVE_PRESET, self._remove),
            (ActionName.PRESET_EARLIER, lambda: self._move(-1)),
            (ActionName.PRESET_LATER, lambda: self._move(1)),
        ):
            bind_key(self.list, name, act)

    def _use(self, *_: object) -> None:
        preset = self.current()
        if preset is not None:
            self._presets.use(preset)
            self.accept()

    def _save(self) -> None:
        PresetDialog(self._session, self).open()

    def _rename(self) -> None:
        item = self.list.currentItem()
        if item is not None:  # pyright: ignore[reportUnnecessaryComparison] (Qt may have none)
            self.list.editItem(item)

    def _remove(self) -> None:
        preset = self.current()
        if preset is not None:
            self._presets.remove(preset)

    def _move(self, by: int) -> None:
        row = self.list.currentRow()
        preset = self.current()
        if preset is not None and 0 <= row + by < self.list.count():
            self._presets.move(preset, row + by)
            self.list.setCurrentRow(row + by)

    def _on_moved(
        self, _from: QModelIndex, first: int, _last: int, _to: QModelIndex, place: int
    ) -> None:
        preset = self._presets.store.presets[first]
        self._presets.move(preset, place if place < first else place - 1)

    def _on_renamed(self, item: QListWidgetItem) -> None:
        preset = self._presets.store.presets[self.list.row(item)]
        if not self._presets.rename(preset, item.text()):
            self.about.setText(self.tr("This name is empty, or another preset has it."))
            item.setText(preset.name)

    def _refresh(self, *_: object) -> None:
        names = [preset.name for preset in self._presets.store.presets]
        shown = [self.list.item(row).text() for row in range(self.list.count())]
        if names != shown:
            row = self.list.currentRow()
            self.list.clear()
            for name in names:
                item = QListWidgetItem(name)
                item.setFlags(
                    (item.flags() | Qt.ItemFlag.ItemIsEditable) & ~Qt.ItemFlag.ItemIsDropEnabled
                )
                self.list.addItem(item)
            self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
        self._show_current()

    def _show_current(self, *_: object) -> None:
        preset = self.current()
        for button in (self.use, self.rename, self.remove):
            button.setEnabled(preset is not None)
        self.about.setText(parts_words(preset.parts) if preset is not None else "")
        has_any = self.list.count() > 0
        if has_any is not self.list.isHidden():
            return
        for widget in (self.how, self.list, self.about, self.use, self.rename, self.remove):
            widget.setVisible(has_any)
        self.nothing.setVisible(not has_any)
        # Else the keys would go to Close, which comes next.
        (self.list if has_any else self.save).setFocus()
