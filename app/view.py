"""The picture on the canvas: the one being made, or one that was chosen."""

from PySide6.QtCore import QObject, Signal

from app.field import Field


class ViewState(QObject):
    """`live` follows what is being made; a chosen picture stays until the next Generate."""

    path_changed = Signal(object)
    live_changed = Signal(bool)

    # The picture that is shown where nothing is being made.
    path = Field[str | None](None)
    live = Field(default=False)

    def follow(self) -> None:
        """Generate was pressed: show what comes of it."""
        self.live = True

    def choose(self, path: str) -> None:
        """Look at one picture, whatever is being made."""
        self.live = False
        self.path = path

    def on_saved(self, path: str) -> None:
        """A picture is done; it is shown unless another was chosen meanwhile."""
        if self.live or self.path is None:
            self.path = path
