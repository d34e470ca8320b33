"""The seed: a new one for each picture (dice), or kept (lock); it can be copied."""

from PySide6.QtCore import QEvent, QSignalBlocker, Signal
from PySide6.QtGui import QIcon, QValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from engine.api.limits import MAX_SEED
from ui.copying import copy_text
from ui.theme.metrics import CONTROL_HEIGHT, XS
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import buddy_label
from ui.widgets.line_field import MOST_IN_NUMBER, LineField

# The digits of the seeds that are drawn, and what stands beside them in the field, in pixels.
_DIGITS, _BESIDE = 10, 54
# Those of the largest seed: ComfyUI's have up to 20.
_MOST_DIGITS = len(str(MAX_SEED))


class SeedField(QWidget):
    """A field for the seed: `edited` emits a typed seed or None, `locked` True to keep it."""

    edited = Signal(object)
    locked = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._has_room = True
        self.number = LineField(MOST_IN_NUMBER)
        self.number.setFixedHeight(CONTROL_HEIGHT)
        self.number.setValidator(_SeedValidator(self))
        self.number.setPlaceholderText(self.tr("Random"))
        self.label = buddy_label(self.tr("Seed"), self.number)
        self.dice = IconButton(
            theme, "dice", self.tr("A new seed for each picture"), checkable=True
        )
        self.lock = IconButton(theme, "lock", self.tr("Keep this seed"), checkable=True)
        self.copy = self.number.addAction(QIcon(), QLineEdit.ActionPosition.TrailingPosition)
        self._name_copy()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(XS)
        layout.addWidget(self.label)
        layout.addSpacing(XS)
        layout.addWidget(self.number)
        for button in (self.dice, self.lock):
            layout.addWidget(button)
        self.number.textChanged.connect(self._fit)
        self.number.textEdited.connect(self._on_typed)
        self.lock.clicked.connect(self._on_lock)
        self.dice.clicked.connect(lambda: self._on_lock(locked=False))
        self.copy.triggered.connect(self._copy)
        theme.changed.connect(self._draw)
        self._fit()
        self._draw()

    def show_seed(self, seed: int | None, *, locked: bool) -> None:
        """Show the seed and the state of its lock without emitting signals."""
        with QSignalBlocker(self.lock), QSignalBlocker(self.dice):
            text = "" if seed is None else str(seed)
            if self.number.text() != text and not (seed is None and self.number.hasFocus()):
                self.number.setText(text)
            self.lock.setChecked(locked)
            self.dice.setChecked(not locked)
        # Without a seed there is nothing to keep.
        self.lock.setEnabled(seed is not None)
        self.copy.setVisible(seed is not None)

    def keep_room(self, *, for_all: bool) -> None:
        """Have room for all digits of any seed, or only for those of seeds that are drawn."""
        self._has_room = for_all
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Show a whole seed in another font, too."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        shown = len(self.number.text())
        most = _MOST_DIGITS if self._has_room else _DIGITS
        digits = "0" * max(_DIGITS, min(shown, most))
        self.number.setFixedWidth(self.number.fontMetrics().horizontalAdvance(digits) + _BESIDE)
        self.number.setToolTip(self.number.text() if shown > most else "")

    def _name_copy(self) -> None:
        self.copy.setVisible(False)
        self.copy.setToolTip(self.tr("Copy the seed"))
        # Qt gives the button of an action in a field no name for screen readers.
        for button in self.number.findChildren(QToolButton):
            button.setAccessibleName(self.copy.toolTip())

    def _draw(self) -> None:
        self.copy.setIcon(self._theme.icon("copy", self._theme.colours.muted))

    def _copy(self) -> None:
        copy_text(self.number.text(), self.number)

    def _on_lock(self, locked: bool) -> None:
        """Lock or unlock the seed; both buttons show the same."""
        self.lock.setChecked(locked)
        self.dice.setChecked(not locked)
        self.locked.emit(locked)

    def _on_typed(self, text: str) -> None:
        self.edited.emit(int(text) if text else None)


class _SeedValidator(QValidator):
    """A validator of unsigned 64-bit whole numbers."""

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Accept an empty text or a number up to the largest seed; strip spaces around it."""
        stripped = text.strip()
        if not stripped:
            return QValidator.State.Acceptable, "", 0
        digits = stripped.isascii() and stripped.isdigit() and len(stripped) <= len(str(MAX_SEED))
        if digits and int(stripped) <= MAX_SEED:
            return QValidator.State.Acceptable, stripped, min(position, len(stripped))
        return QValidator.State.Invalid, text, position
