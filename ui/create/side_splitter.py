"""The form's side beside the canvas: dragged to a width, and folded away."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QSplitter,
    QSplitterHandle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.form.session_memory import SessionMemory
from ui.actions import ActionName, Actions
from ui.key_tips import show_key
from ui.theme.metrics import SIDE_HANDLE, SIDE_PANEL_WIDTH
from ui.theme.theme import Theme

# The largest part of the page's width that the side may take: the picture stays the largest.
_MOST = 0.3
_FOLD_HEIGHT = 56


class SideSplitter(QSplitter):
    """The side and the canvas. The side's width, and whether it is folded, are kept.

    `folded` is emitted when a person has folded or unfolded it.
    """

    folded = Signal()

    def __init__(self, memory: SessionMemory, theme: Theme, actions: Actions) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._memory, self._theme, self._actions = memory, theme, actions
        # A hidden side would hide the handle as well, so only what is in it is hidden.
        self.side = QWidget()
        self.side.setProperty("role", "panel")
        self._column = QVBoxLayout(self.side)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._width = memory.layout.side_width or SIDE_PANEL_WIDTH
        # The most that the side may take, in pixels, for something that stands beside the picture.
        self._limit: int | None = None
        # What stands in the place of the form.
        self._instead: QWidget | None = None
        # The room at the bottom of the side for what lies over it.
        self._lent = QWidget()
        self._column.addWidget(self._lent)
        self._lent.hide()
        self.setHandleWidth(SIDE_HANDLE)
        self.setChildrenCollapsible(False)
        self.addWidget(self.side)
        self._form: QWidget = self.side
        self._entry: QWidget = self.side
        self._least: Callable[[], int] = lambda: 0

    def hold(
        self, form: QWidget, entry: QWidget, least: Callable[[], int], canvas: QWidget
    ) -> None:
        """Take the form into the side, and the canvas beside it.

        `entry` is the form's field to begin at; `least` returns the least width of the form in
        pixels, as the look of the window is.
        """
        self._form, self._entry, self._least = form, entry, least
        self._column.insertWidget(0, form)
        self.addWidget(canvas)
        self._show()
        self.splitterMoved.connect(self._on_moved)
        self._actions[ActionName.FOLD_SIDE].triggered.connect(self.fold)

    @property
    def is_folded(self) -> bool:
        """True if the side is folded away."""
        return self._memory.layout.side_folded

    @property
    def least_width(self) -> int:
        """The least width of the form, in pixels."""
        return self._least()

    def fold(self) -> None:
        """Fold the side away, or unfold it."""
        had_focus = self._has_focus
        self._memory.keep_layout(side_folded=not self.is_folded)
        self._show()
        if self.is_folded and had_focus:
            # The keys must go to something that is visible.
            self.fold_button.setFocus()
        self.folded.emit()

    def show_instead(self, widget: QWidget | None, entry: QWidget | None = None) -> None:
        """Show a widget in place of the form, to begin at `entry`; None shows the form again."""
        if widget is self._instead:
            return
        had_focus = self._has_focus
        self._instead = widget
        if widget is not None:
            self._column.insertWidget(0, widget)
        self._show()
        if had_focus and not self.is_folded:
            # The form's field that was left has the focus again.
            (entry or self._form.focusWidget() or self._entry).setFocus()

    def lend(self, height: int) -> None:
        """Leave the bottom of the side free, by a height in pixels."""
        self._lent.setFixedHeight(height)
        self._lent.setVisible(height > 0)

    def limit(self, width: int | None) -> None:
        """Give the side no more than a width in pixels; None for as much as is usual."""
        if width != self._limit:
            self._limit = width
            self.fit()

    @property
    def fold_button(self) -> QToolButton:
        """The button on the handle."""
        return self._fold_handle.button

    def createHandle(self) -> QSplitterHandle:  # noqa: N802 (Qt's name)
        """Return a handle with the button that folds the side."""
        return _Handle(self, self._theme, self._actions)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Keep the side as wide as the user made it, where that leaves the picture its room."""
        super().resizeEvent(event)
        self.fit()

    @property
    def _fold_handle(self) -> "_Handle":
        handle = self.handle(1)
        assert isinstance(handle, _Handle)
        return handle

    @property
    def _has_focus(self) -> bool:
        return self.side.isAncestorOf(self.window().focusWidget() or self)

    def _show(self) -> None:
        folded = self.is_folded
        if self._instead is not None:
            self._instead.setVisible(not folded)
        self._form.setVisible(not folded and self._instead is None)
        self._fold_handle.show_folded(folded=folded)
        self.fit()

    def fit(self) -> None:
        """Give the side its width, between the least of the form and the most of the window."""
        if self.is_folded:
            self.side.setFixedWidth(0)
            return
        least = self._least()
        most = round(self.width() * _MOST)
        most = max(least, most if self._limit is None else min(most, self._limit))
        self.side.setMinimumWidth(least)
        self.side.setMaximumWidth(most)
        width = min(max(self._width, least), most)
        self.setSizes([width, max(1, self.width() - width - self.handleWidth())])

    def _on_moved(self, *_: object) -> None:
        if self.is_folded:
            return
        self._width = self.side.width()
        self._memory.keep_layout(side_width=self._width)


class _Handle(QSplitterHandle):
    """The handle, with a button in its middle."""

    def __init__(self, splitter: SideSplitter, theme: Theme, actions: Actions) -> None:
        super().__init__(Qt.Orientation.Horizontal, splitter)
        self._theme = theme
        self._folded = False
        action = actions[ActionName.FOLD_SIDE]
        self.button = QToolButton()
        self.button.setProperty("role", "fold")
        self.button.setFixedSize(SIDE_HANDLE, _FOLD_HEIGHT)
        self.button.setIconSize(QSize(SIDE_HANDLE, SIDE_HANDLE))
        self.button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.button.setAccessibleName(action.text())
        show_key(self.button, ActionName.FOLD_SIDE)
        self.button.clicked.connect(action.trigger)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        theme.changed.connect(self._draw)
        self._draw()

    def show_folded(self, *, folded: bool) -> None:
        """Point the button to where the side goes."""
        self._folded = folded
        self._draw()

    def _draw(self) -> None:
        to_right = self._folded is not self.isRightToLeft()
        self.button.setIcon(self._theme.icon("unfold" if to_right else "fold"))
