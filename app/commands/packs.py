"""Commands for packs: install, pause, repair, remove them, and go back."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.commands.pack_rows import PackAction, PackRow


class PackCommands(QObject):
    """The packs of this machine, and the one that is offered."""

    # `rows` or `offer` have changed.
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[PackRow, ...] = ()
        self.offer: PackRow | None = None

    def act(self, pack: str, action: PackAction) -> None:
        """Run the action of a pack's button."""

    def install_file(self, path: Path) -> None:
        """Install a pack from a file."""

    def decline_offer(self) -> None:
        """Never offer a pack again."""
        self.offer = None
        self.changed.emit()
