"""The entries that all of a Mac's programs have in their menus: Cut to Select All, and Window.

macOS acts on the keys of the menu bar alone, in its own questions for files, too.
"""

from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu, QWidget

# Qt's words for its entries of menus. It knows these entries by them, and hands them to whatever
# has the focus, where that is macOS's: `detectMenuRole` in qcocoamenuitem.mm.
_QT_CONTEXT = "QCocoaMenuItem"
_EDITS = (
    ("Cut", Qt.Key.Key_X),
    ("Copy", Qt.Key.Key_C),
    ("Paste", Qt.Key.Key_V),
    ("Select All", Qt.Key.Key_A),
)
# The kinds of windows that a person sees as such.
_WINDOWS = (Qt.WindowType.Window, Qt.WindowType.Dialog)


def edit_entries(parent: QWidget) -> list[QAction]:
    """Return Cut, Copy, Paste and Select All; in our windows each does what its key does."""
    entries: list[QAction] = []
    for words, letter in _EDITS:
        # Ctrl is ⌘.
        key = QKeyCombination(Qt.KeyboardModifier.ControlModifier, letter)
        entry = QAction(QCoreApplication.translate(_QT_CONTEXT, words), parent)
        entry.setShortcut(QKeySequence(key))
        entry.setMenuRole(QAction.MenuRole.TextHeuristicRole)
        # macOS knows no contexts; a key that is pressed below does not press the entry again.
        entry.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        entry.triggered.connect(partial(press, key))
        entries.append(entry)
    return entries


def press(key: QKeyCombination, *_: object) -> None:
    """Do what a key does where the focus is.

    As on the keyboard, a widget that wants the key for itself comes first, then the action that has
    it there, then the widget as for any other key.
    """
    focus = QApplication.focusWidget() or QApplication.activeWindow()
    if focus is None:
        return
    wanting = _stroke(QEvent.Type.ShortcutOverride, key)
    wanting.ignore()
    QApplication.sendEvent(focus, wanting)
    action = None if wanting.isAccepted() else _action_at(focus, QKeySequence(key))
    if action is None:
        QApplication.sendEvent(focus, _stroke(QEvent.Type.KeyPress, key))
    else:
        action.trigger()


def _stroke(kind: QEvent.Type, key: QKeyCombination) -> QKeyEvent:
    return QKeyEvent(kind, key.key(), key.keyboardModifiers())


def _action_at(focus: QWidget, key: QKeySequence) -> QAction | None:
    """Return the action that a key triggers in a widget, of those of the widgets it is in."""
    widget: QWidget | None = focus
    while widget is not None:
        for action in widget.actions():
            is_elsewhere = (
                widget is not focus
                and action.shortcutContext() is Qt.ShortcutContext.WidgetShortcut
            )
            can_act = action.isEnabled() and action.isVisible() and not is_elsewhere
            if can_act and key in action.shortcuts():
                return action
        widget = None if widget.isWindow() else widget.parentWidget()
    return None


class WindowMenu(QMenu):
    """The menu of windows: it acts on the one in front, or on all."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTitle(self.tr("Window"))
        self.minimise = self._add(self.tr("Minimise"), "Ctrl+M")
        self.minimise.triggered.connect(self._minimise)
        self.zoom = self._add(self.tr("Zoom"))
        self.zoom.triggered.connect(self._zoom)
        self.addSeparator()
        self.bring_all = self._add(self.tr("Bring all to front"))
        self.bring_all.triggered.connect(_bring_all)
        # In the menu of files, as everywhere.
        self.close_window = QAction(self.tr("Close window"), self)
        self.close_window.setShortcut(QKeySequence("Ctrl+W"))
        self.close_window.setMenuRole(QAction.MenuRole.NoRole)
        self.close_window.triggered.connect(self._close)

    def _add(self, words: str, key: str = "") -> QAction:
        entry = self.addAction(words)
        entry.setShortcut(QKeySequence(key))
        entry.setMenuRole(QAction.MenuRole.NoRole)
        return entry

    def _minimise(self) -> None:
        window = _front()
        if window and window.windowFlags() & Qt.WindowType.WindowMinimizeButtonHint:
            window.showMinimized()

    def _zoom(self) -> None:
        window = _front()
        can_grow = window and window.windowFlags() & Qt.WindowType.WindowMaximizeButtonHint
        if window is None or not can_grow or window.isFullScreen():
            return
        if window.isMaximized():
            window.showNormal()
        else:
            window.showMaximized()

    def _close(self) -> None:
        if window := _front():
            window.close()


def _front() -> QWidget | None:
    """Return the window in front; None where none of ours is, or a question waits before it.

    A question for files is macOS's own window, which Qt has as a hidden one of ours.
    """
    front, question = QApplication.activeWindow(), QApplication.activeModalWidget()
    return front if question is None or question is front else None


def _bring_all() -> None:
    """Bring the windows that are open before those of other programs, in their order."""
    front = QApplication.activeWindow()
    for window in QApplication.topLevelWidgets():
        is_open = window.isVisible() and not window.isMinimized()
        if is_open and window.windowType() in _WINDOWS and window is not front:
            window.raise_()
    if front is not None:
        front.raise_()
