"""The painting on the start picture: the mask, kept in a file, and the growth of the canvas."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.form.generation import GenerationState
from app.form.masks import keep_mask
from app.notices.notices import NoticeState
from engine.api.masks import Margins
from engine.api.values import ErrorInfo, InputRole


class Painting(QObject):
    """Puts each stroke into the form, as soon as its mask is written by another thread.

    Of masks that come while one is written only the last is.
    """

    # The path of a mask that is put into the form next.
    kept = Signal(str)

    def __init__(
        self,
        form: GenerationState,
        notices: NoticeState,
        background: Background,
        masks: Path,
        parent: QObject | None = None,
    ) -> None:
        """`masks` is the folder where painted masks are kept."""
        super().__init__(parent)
        self._form, self._notices, self._background = form, notices, background
        self._masks = masks
        self._is_writing = False
        # The newest mask that is not being written yet.
        self._waiting: Callable[[], bytes] | None = None
        # The start picture that the latest mask was painted on; None if that was cleared.
        self._start: str | None = None
        # Called when the form has the latest stroke.
        self._acts: list[Callable[[], None]] = []

    def keep(self, make_png: Callable[[], bytes] | None) -> None:
        """Redraw only what a mask has painted; all of the picture without one.

        `make_png` is called on another thread.
        """
        self._waiting = make_png
        if make_png is None:
            self._start = None
            self._form.paint_within(None)
            return
        self._start = self._form.input_path(InputRole.INIT)
        if not self._is_writing:
            self._write()

    def grow(self, margins: Margins, width: int, height: int) -> None:
        """Grow the canvas around a start picture of this size, by pixels of that picture."""
        self._form.grow(margins, width, height)

    def when_kept(self, act: Callable[[], None]) -> None:
        """Call `act` once the form has the latest stroke; never if that cannot be kept."""
        if self._is_writing:
            self._acts.append(act)
        else:
            act()

    def _write(self) -> None:
        make_png, self._waiting = self._waiting, None
        if make_png is not None:
            self._is_writing = True
            self._background.run(
                lambda: keep_mask(self._masks, make_png()),
                self._on_written,
                must=True,
                otherwise=self._give_up,
            )

    def _give_up(self) -> None:
        self._is_writing, self._waiting = False, None
        self._acts.clear()

    def _on_written(self, kept: Path | ErrorInfo) -> None:
        self._is_writing = False
        if isinstance(kept, ErrorInfo):
            self._give_up()
            self._notices.tell_error(kept)
            return
        if self._waiting is not None:
            self._write()
            return
        self._put(str(kept))
        acts, self._acts = self._acts, []
        for act in acts:
            act()

    def _put(self, mask: str) -> None:
        # The picture may have been replaced meanwhile.
        if self._start is not None and self._start == self._form.input_path(InputRole.INIT):
            self.kept.emit(mask)
            self._form.paint_within(mask)
