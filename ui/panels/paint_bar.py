"""The tools for painting on the start picture, in lines above it."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.form.sizes import CELL
from engine.api.fields import bounds_of
from engine.api.limits import MAX_SIDE
from engine.api.masks import Margins, MaskOptions
from ui.actions import ActionName, Actions
from ui.key_tips import show_key
from ui.theme.metrics import CONTROL_HEIGHT, XS, M, S
from ui.theme.theme import Theme
from ui.widgets.flow_layout import FlowLayout
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import buddy_label
from ui.widgets.number_field import WholeField
from ui.widgets.paint_view import Tool
from ui.widgets.slider_field import SliderField
from ui.widgets.stack import Stack

# All tools are one line beside the form in a window of 1280 pixels.
_SLIDER_WIDTH = 140
_FIELD_WIDTH = 56
_LARGEST_BRUSH = 4096
_USUAL_BRUSH = (2, 256)
_USUAL_FEATHER = (0, 32)
_TOOLS = {
    Tool.BRUSH: (ActionName.BRUSH, "brush"),
    Tool.ERASER: (ActionName.ERASER, "eraser"),
    Tool.LASSO: (ActionName.LASSO, "lasso"),
    Tool.GROW: (ActionName.GROW, "grow"),
}


class PaintBar(QWidget):
    """Tools, their sizes, and what is done to the whole mask."""

    # The margins that were typed: left, top, right, bottom.
    margins_edited = Signal(object)

    def __init__(self, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._theme, self._actions = theme, actions
        self.setProperty("role", "panel")
        self.tools = {
            tool: self._button(name, icon, checkable=True) for tool, (name, icon) in _TOOLS.items()
        }
        self._group = QButtonGroup(self)
        for button in self.tools.values():
            self._group.addButton(button)
        field = WholeField(1, _LARGEST_BRUSH)
        self.brush = SliderField(self.tr("Brush"), field, _USUAL_BRUSH)
        low, high = bounds_of(MaskOptions, "blur")
        field = WholeField(round(low), round(high))
        self.feather = SliderField(self.tr("Soft edge"), field, _USUAL_FEATHER)
        self.feather.setToolTip(
            self.tr(
                "How soft the edge of the mask is, in pixels of the picture. "
                "It is the same as the soft edge below the start picture."
            )
        )
        self.margins = self._make_margins()
        self.undo = self._button(ActionName.UNDO_STROKE, "undo")
        self.redo = self._button(ActionName.REDO_STROKE, "redo")
        self.invert = self._button(ActionName.INVERT_MASK, "invert")
        self.clear = self._button(ActionName.CLEAR_MASK, "trash")
        self.colour = ColourButton(theme)
        self.colour.setAccessibleName(self.tr("Colour of the mask"))
        show_key(self.colour, ActionName.VEIL_COLOUR)
        self.colour.clicked.connect(actions[ActionName.VEIL_COLOUR].trigger)
        self.open_file = IconButton(theme, "folder", self.tr("Open a mask…"))
        self.done = QPushButton(self.tr("Done"))
        self.done.setToolTip(self.tr("Back to the picture; the mask stays in force (Esc)"))
        self._lay_out()

    def show_tool(self, tool: Tool) -> None:
        """Show the tool in use, and only the sizes that it has."""
        self.tools[tool].setChecked(True)
        self.brush.setVisible(tool in (Tool.BRUSH, Tool.ERASER))
        self._sizes.setCurrentWidget(self.growth if tool is Tool.GROW else self._painting)

    def show_margins(self, margins: Margins) -> None:
        """Show the growth of the canvas without emitting `margins_edited`."""
        for field, margin in zip(self.margins, margins, strict=True):
            field.blockSignals(True)
            field.setValue(margin)
            field.blockSignals(False)

    def use_multiple(self, pixels: int) -> None:
        """Grow the canvas by steps of so many pixels."""
        for field in self.margins:
            field.setSingleStep(pixels)

    def _make_margins(self) -> tuple[WholeField, ...]:
        fields = tuple(WholeField(0, MAX_SIDE, step=CELL) for _ in range(4))
        for field in fields:
            field.setFixedWidth(_FIELD_WIDTH)
            field.valueChanged.connect(self._on_margin)
        return fields

    def _on_margin(self) -> None:
        self.margins_edited.emit(tuple(field.value() for field in self.margins))

    def _button(self, name: ActionName, icon: str, *, checkable: bool = False) -> IconButton:
        action = self._actions[name]
        button = IconButton(self._theme, icon, action.text(), checkable=checkable)
        show_key(button, name)
        button.clicked.connect(action.trigger)
        return button

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(M, S, M, S)
        flow = FlowLayout(S)
        column.addLayout(flow)
        flow.addWidget(_row(*self.tools.values()))
        for slider in (self.brush, self.feather):
            slider.setFixedWidth(_SLIDER_WIDTH + slider.label.sizeHint().width())
        self._painting = _row(self.brush, self.feather, spacing=S)
        names = self.tr("Left"), self.tr("Top"), self.tr("Right"), self.tr("Bottom")
        self.growth = _row(
            *(
                _row(buddy_label(name, field), field)
                for name, field in zip(names, self.margins, strict=True)
            ),
            spacing=S,
        )
        # As wide for each tool: the lines, and the picture below them, stay where they are.
        self._sizes = Stack()
        for sizes in (self._painting, self.growth):
            self._sizes.addWidget(sizes)
        flow.addWidget(self._sizes)
        edits = (self.undo, self.redo, self.invert, self.clear, self.colour, self.open_file)
        flow.addWidget(_row(*edits))
        flow.addWidget(self.done)


class ColourButton(QToolButton):
    """A button with a patch of a colour."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._colour = theme, theme.colours.accent
        self.setFixedSize(CONTROL_HEIGHT, CONTROL_HEIGHT)

    def show_colour(self, colour: str) -> None:
        """Show another colour."""
        self._colour = colour
        self.update()

    def paintEvent(self, arg__1: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the patch over the button."""
        super().paintEvent(arg__1)
        patch = QRectF(0, 0, CONTROL_HEIGHT / 2, CONTROL_HEIGHT / 2)
        patch.moveCenter(QRectF(self.rect()).center())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._theme.colours.outline), 1))
            painter.setBrush(QColor(self._colour))
            painter.drawRoundedRect(patch, XS, XS)


def _row(*widgets: QWidget, spacing: int = XS) -> QWidget:
    group = QWidget()
    row = QHBoxLayout(group)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(spacing)
    for widget in widgets:
        row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
    row.addStretch()
    return group
