"""The menu bar: every action of the window by name, and what has no place in the window."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from ui.actions import PAINTING, REUSING, STEERING, ActionName, Actions

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
_TOOLS = (ActionName.RUNTIMES, ActionName.DEVICES, ActionName.DOWNLOADS)


class MenuBar(QMenuBar):
    """The window's menus; macOS shows them at the top of the screen."""

    def __init__(self, actions: Actions, paste: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self._actions = actions
        self.files = self._add(self.tr("&File"), _FILES)
        self.edits = self._add(self.tr("&Edit"), _EDITS)
        self.edits.insertAction(self.edits.actions()[1], paste)
        self.view = self._add(self.tr("&View"), _VIEW)
        self.pictures = self._add(self.tr("&Picture"), _PICTURES)
        self.masks = self._add(self.tr("&Mask"), _MASK)
        self.tools = self._add(self.tr("&Tools"), _TOOLS)
        self.help = self._add(self.tr("&Help"), (ActionName.SHORTCUTS, ActionName.UPDATES))
        actions.leave_to_menus([menu.title() for menu in self.findChildren(QMenu)])

    def _add(self, title: str, names: tuple[ActionName | None, ...]) -> QMenu:
        menu = self.addMenu(title)
        for name in names:
            if name is None:
                menu.addSeparator()
            else:
                menu.addAction(self._actions[name])
        return menu
