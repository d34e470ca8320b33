"""The picture on the canvas: the one being made, or one that was chosen."""

from PySide6.QtCore import QObject, Signal

from app.field import Field


class ViewState(QObject):
    """The picture being made while `live`, else the chosen one, until the next Generate."""

    path_changed = Signal(object)
    live_changed = Signal(bool)
    alone_changed = Signal(bool)
    painting_changed = Signal(bool)
    details_changed = Signal(bool)
    map_over_changed = Signal(object)

    # The path of the picture that is shown while none is being made.
    path = Field[str | None](None)
    live = Field(default=False)
    # True while of a batch only the picture that is being made is shown.
    alone = Field(default=False)
    # True while the start picture is shown instead, to paint on it.
    painting = Field(default=False)
    # True while a pane beside the picture shows how it was made.
    details = Field(default=False)
    # The index of the control layer whose map lies over the picture; None for none.
    map_over = Field[int | None](None)

    def show_map(self, layer: int | None) -> None:
        """Show the map of a control layer over the picture, by its index; None for none."""
        self.map_over = layer

    def follow(self) -> None:
        """Show the pictures that are being made from now on, those of a batch side by side."""
        self.painting = self.alone = False
        self.live = True

    def choose(self, path: str) -> None:
        """Show one picture, whatever is being made."""
        self.painting = self.live = False
        self.path = path

    def on_saved(self, path: str) -> None:
        """Show a picture that was saved, unless another was chosen meanwhile."""
        if self.live or self.path is None:
            self.path = path
