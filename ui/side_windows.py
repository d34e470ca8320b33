"""The windows beside the main one; their code is loaded when they are first opened."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QWidget

from app.session import Session
from ui.theme.theme import Theme

if TYPE_CHECKING:
    from ui.dialogs.device_dialog import DeviceDialog
    from ui.dialogs.downloads_dialog import DownloadsDialog
    from ui.dialogs.messages_dialog import MessagesDialog
    from ui.dialogs.runtimes_dialog import RuntimesDialog
    from ui.dialogs.updates_dialog import UpdatesDialog


class SideWindows:
    """Opens the devices, the runtimes, the downloads, earlier messages and the updates."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        self._session, self._theme, self._parent = session, theme, parent

    def show_devices(self) -> "DeviceDialog":
        """Open the list of devices."""
        from ui.dialogs.device_dialog import DeviceDialog

        dialog = DeviceDialog(self._session, self._parent, self.show_runtimes)
        dialog.open()
        return dialog

    def show_runtimes(self, pack: str = "") -> "RuntimesDialog":
        """Open the list of runtimes, or bring it forward; at a pack if one is named."""
        from ui.dialogs.runtimes_dialog import RuntimesDialog

        found = self._parent.findChild(RuntimesDialog)
        dialog = found or RuntimesDialog(
            self._session, self._theme, self._parent, self.show_devices
        )
        _bring_forward(dialog)
        dialog.reveal(pack)
        return dialog

    def show_downloads(self) -> "DownloadsDialog":
        """Open the list of downloads, or bring it forward."""
        from ui.dialogs.downloads_dialog import DownloadsDialog

        found = self._parent.findChild(DownloadsDialog)
        dialog = found or DownloadsDialog(self._session.downloads, self._theme, self._parent)
        _bring_forward(dialog)
        return dialog

    def show_messages(self) -> "MessagesDialog":
        """Open the list of earlier messages, or bring it forward."""
        from ui.dialogs.messages_dialog import MessagesDialog

        found = self._parent.findChild(MessagesDialog)
        dialog = found or MessagesDialog(self._session.notices, self._parent)
        _bring_forward(dialog)
        return dialog

    def show_updates(self) -> "UpdatesDialog":
        """Open the list of versions, or bring it forward."""
        from ui.dialogs.updates_dialog import UpdatesDialog

        found = self._parent.findChild(UpdatesDialog)
        dialog = found or UpdatesDialog(self._session.updates, self._parent)
        _bring_forward(dialog)
        return dialog


def _bring_forward(dialog: QDialog) -> None:
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
