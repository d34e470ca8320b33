"""The picture on the canvas: the one being made, or one that was chosen."""

from PySide6.QtCore import QObject, Signal

from app.field import Field


class ViewState(QObject):
    """The picture being made while `live`, else the chosen one, until the next Generate."""

    path_changed = Signal(object)
    live_changed = Signal(bool)

    # The path of the picture that is shown while none is being made.
    path = Field[str | None](None)
    live = Field(default=False)

    def follow(self) -> None:
        """Show the pictures that are being made from now on."""
        self.live = True

    def choose(self, path: str) -> None:
        """Show one picture, whatever is being made."""
        self.live = False
        self.path = path

    def on_saved(self, path: str) -> None:
        """Show a picture that was saved, unless another was chosen meanwhile."""
        if self.live or self.path is None:
            self.path = path
