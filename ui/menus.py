"""The menu bar: every action of the window by name, and what has no place in the window."""

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from ui.actions import PAINTING, REUSING, STEERING, ActionName, Actions
from ui.keys import keys
from ui.mac_menus import WindowMenu, edit_entries

_PICTURES = (
    ActionName.GENERATE,
    ActionName.GENERATE_FIRST,
    ActionName.CANCEL,
    ActionName.CANCEL_ALL,
    None,
    *REUSING,
    *STEERING,
    None,
    ActionName.UPSCALE,
    ActionName.SHOW_ORIGINAL,
    None,
    ActionName.COPY_PICTURE,
    ActionName.COPY_PATH,
    ActionName.REVEAL,
    ActionName.TRASH,
)
_EDITS = (
    ActionName.UNDO_LATEST,
    ActionName.UNDO_IN_FORM,
    ActionName.REDO_IN_FORM,
    None,
    ActionName.EDIT_PROMPT,
    ActionName.OLDER_PROMPT,
    ActionName.NEWER_PROMPT,
    ActionName.EARLIER_PROMPTS,
    None,
    ActionName.SAVE_PRESET,
    ActionName.PRESETS,
)
_FILES = (ActionName.OPEN, ActionName.OPEN_START, None, ActionName.QUIT)
_VIEW = (
    ActionName.CREATE,
    ActionName.GALLERY,
    ActionName.MODELS,
    ActionName.SETTINGS,
    None,
    ActionName.ZOOM_IN,
    ActionName.ZOOM_OUT,
    ActionName.ZOOM_FIT,
    ActionName.ZOOM_ACTUAL,
    None,
    ActionName.QUEUE,
    ActionName.FOLD_SIDE,
    ActionName.COMPARE_START,
    ActionName.DETAILS,
)
_MASK = (ActionName.PAINT, None, *PAINTING)
_TOOLS = (
    ActionName.RUNTIMES,
    ActionName.DEVICES,
    ActionName.DOWNLOADS,
    ActionName.MESSAGES,
)
# The contexts of actions whose keys work in one part of the window.
_OF_A_PART = (
    Qt.ShortcutContext.WidgetShortcut,
    Qt.ShortcutContext.WidgetWithChildrenShortcut,
)


class MenuBar(QMenuBar):
    """The window's menus; macOS shows them at the top of the screen."""

    def __init__(
        self, actions: Actions, paste: QAction, parent: QWidget, system: str = sys.platform
    ) -> None:
        """`system` is Python's name of the system; its other ones have `paste` among the edits."""
        super().__init__(parent)
        self._actions, self._system = actions, system
        self.files = self._add(self.tr("&File"), _FILES)
        self.edits = self._add(self.tr("&Edit"), _EDITS)
        is_mac = system == "darwin"
        pastes = edit_entries(self) if is_mac else [paste]
        self.edits.insertActions(self.edits.actions()[3], pastes)
        self.view = self._add(self.tr("&View"), _VIEW)
        self.pictures = self._add(self.tr("&Picture"), _PICTURES)
        self.masks = self._add(self.tr("&Mask"), _MASK)
        self.tools = self._add(self.tr("&Tools"), _TOOLS)
        if is_mac:
            self.windows = WindowMenu(self)
            self.files.insertAction(self.files.actions()[-1], self.windows.close_window)
            self.addMenu(self.windows)
        self.help = self._add(self.tr("&Help"), (ActionName.SHORTCUTS, ActionName.UPDATES))
        keys().leave_to_menus([menu.title() for menu in self.findChildren(QMenu)])

    def _add(self, title: str, names: tuple[ActionName | None, ...]) -> QMenu:
        menu = self.addMenu(title)
        for name in names:
            if name is None:
                menu.addSeparator()
            else:
                menu.addAction(self._item(self._actions[name]))
        return menu

    def _item(self, action: QAction) -> QAction:
        """Return what a menu shows for an action: itself, or one without its keys.

        macOS takes the keys in its menus before any window sees them, whatever has the focus: ⌘⌫ in
        a prompt would clear the mask, or move the picture to the trash.
        """
        if self._system != "darwin" or action.shortcutContext() not in _OF_A_PART:
            return action
        item = QAction(action.text(), self)
        item.setMenuRole(QAction.MenuRole.NoRole)
        item.triggered.connect(action.trigger)

        def follow() -> None:
            item.setEnabled(action.isEnabled())
            item.setVisible(action.isVisible())
            item.setCheckable(action.isCheckable())
            item.setChecked(action.isChecked())

        action.changed.connect(follow)
        follow()
        return item
