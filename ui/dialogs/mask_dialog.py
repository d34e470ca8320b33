"""The dialog for painting a mask on the start picture."""

from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.form.changes import MaskEnd
from app.paths import nearest_folder
from app.session import Session
from engine.api.values import InputRole
from ui.masks import as_png, empty_mask, inverted, is_empty, read_mask
from ui.pictures import ReadPicture
from ui.theme.metrics import L, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import plain_label, rule
from ui.widgets.mask_canvas import MaskCanvas
from ui.widgets.number_field import WholeField
from ui.widgets.slider_field import SliderField
from ui.window_place import room_for

_SIZE = QSize(760, 760)
_LEAST_BRUSH = 2
# The factor by which a key enlarges the brush.
_GROWTH = 1.25


class MaskDialog(QDialog):
    """A dialog that shows the present mask; "Use" replaces it by the painted one.

    Closing the window, by Esc or by its frame, also keeps the painted mask, because it is work.
    Only "Cancel" drops the mask, and that can be undone.
    """

    def __init__(
        self, session: Session, theme: Theme, picture: ReadPicture, parent: QWidget
    ) -> None:
        """Create the dialog; `picture` may be scaled down, the mask has the file's full size."""
        super().__init__(parent)
        self._size = QSize(picture.width, picture.height)
        self._session, self._state = session, session.generation
        # The mask on the canvas when the canvas last agreed with the form.
        self._in_force: QImage | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Redraw a part (mask)"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.canvas = MaskCanvas(theme, picture.image)
        self.erase = IconButton(theme, "eraser", self.tr("Erase (E)"), checkable=True)
        self.undo = IconButton(theme, "undo", self.tr("Undo"))
        self.invert = IconButton(theme, "invert", self.tr("Invert"))
        self.clear = IconButton(theme, "trash", self.tr("Clear"))
        most = max(picture.image.width(), picture.image.height())
        usual = (_LEAST_BRUSH, most // 2)
        self.brush = SliderField(self.tr("Brush"), WholeField(_LEAST_BRUSH, most), usual)
        self.open_file = QPushButton(self.tr("Open a mask…"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.use = QPushButton(self.tr("Use"))
        self.use.setDefault(True)
        self._lay_out()
        self._connect()
        self._show_own()

    def _lay_out(self) -> None:
        tools = QHBoxLayout()
        tools.setContentsMargins(L, 0, L, 0)
        tools.setSpacing(S)
        tools.addWidget(self.brush, 1)
        for button in (self.erase, self.undo, self.invert, self.clear):
            tools.addWidget(button)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(L, M, L, M)
        buttons.setSpacing(S)
        buttons.addWidget(self.open_file)
        buttons.addStretch()
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.use)
        about = self.tr("Paint over what should change. Leave it empty to redraw everything.")
        words = plain_label(about, "caption", wrap=True)
        words.setContentsMargins(L, 0, L, 0)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(0, M, 0, 0)
        column.setSpacing(S)
        column.addWidget(words)
        column.addLayout(tools)
        column.addWidget(self.canvas, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addLayout(buttons)

    def _connect(self) -> None:
        self.brush.show_value(self.canvas.brush)
        self.brush.edited.connect(self._on_brush)
        self.erase.toggled.connect(self._on_erase)
        self.undo.clicked.connect(self.canvas.undo)
        self.invert.clicked.connect(self.canvas.invert)
        self.clear.clicked.connect(self.canvas.clear)
        self.canvas.changed.connect(self._refresh)
        self.open_file.clicked.connect(self._choose)
        self.cancel.clicked.connect(self._drop)
        self.use.clicked.connect(self._use)
        keys = {
            "Ctrl+Z": self.canvas.undo,
            "E": self.erase.toggle,
            "]": partial(self._grow, _GROWTH),
            "[": partial(self._grow, 1 / _GROWTH),
        }
        for key, act in keys.items():
            QShortcut(QKeySequence(key), self).activated.connect(act)

    def _show_own(self) -> None:
        path = self._state.input_path(InputRole.MASK)
        if path is not None:
            is_inverted = self._state.extras.mask_options.inverted
            self._read(path, is_inverted=is_inverted, is_own=True)
        self._refresh()

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self,
            self.tr("Open a mask"),
            nearest_folder(self._session.gallery.folder),
            self.tr("Pictures (*.png *.jpg *.jpeg *.webp)"),
        )
        if name:
            self._read(name, is_inverted=False, is_own=False)

    def _read(self, path: str, *, is_inverted: bool, is_own: bool) -> None:
        size: QSize = self.canvas.painted.size()

        def show(mask: QImage | None) -> None:
            if mask is not None:
                self.canvas.show_mask(inverted(mask) if is_inverted else mask)
                if is_own:
                    self._in_force = self.canvas.painted.copy()

        self._session.background.run(lambda: read_mask(path, size), show)

    def _refresh(self) -> None:
        self.undo.setEnabled(self.canvas.can_undo)
        self.clear.setEnabled(not is_empty(self.canvas.painted))

    def _on_brush(self, size: int) -> None:
        self.canvas.brush = size

    def _on_erase(self, erases: bool) -> None:
        self.canvas.erases = erases

    def _grow(self, factor: float) -> None:
        field = self.brush.field
        field.setValue(round(max(self.canvas.brush * factor, _LEAST_BRUSH)))

    def reject(self) -> None:
        """Close on Esc or by the frame's button: keep the painted mask and show a notice."""
        self._take(MaskEnd.CLOSED)
        super().reject()

    def _use(self) -> None:
        self._take(MaskEnd.USED)
        self.accept()

    def _drop(self) -> None:
        self._take(MaskEnd.DROPPED)
        super().reject()

    def _take(self, end: MaskEnd) -> None:
        """Pass the mask to the session, unless it is unchanged and "Use" was not pressed."""
        mask = self.canvas.painted
        before = empty_mask(mask.size()) if self._in_force is None else self._in_force
        if mask == before and end is not MaskEnd.USED:
            return
        if is_empty(mask):
            self._session.changes.keep_all(end)
        else:
            self._session.changes.paint_within(partial(as_png, mask.copy(), self._size), end)
