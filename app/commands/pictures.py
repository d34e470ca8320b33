"""Commands for pictures: use their settings, start from them, move them to the trash."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from app.commands.picture_trash import PictureTrash
from app.commands.state import AppState
from app.form.changes import Reuse
from app.form.other_formats import begins_as_png, keep_as_png
from app.queue.jobs import Job, JobState
from engine.api.messages import ImageSaved
from engine.api.values import ErrorInfo


class PictureCommands(QObject):
    """Acts on pictures, and shows those that are found or saved."""

    def __init__(self, state: AppState, kept: Path, parent: QObject) -> None:
        """`kept` is the folder of pictures that are kept for the form."""
        super().__init__(parent)
        self._background, self._notices, self._kept = state.background, state.notices, kept
        self._pictures, self._view = state.output_pictures, state.view
        self._progress = state.progress
        self._changes, self._form = state.changes, state.form
        # That of the picture on the canvas; None where it has none.
        self._shown_seed: int | None = None
        self.to_trash = PictureTrash(state, self)
        self._pictures.inserted.connect(self._on_found)
        self._pictures.was_reset.connect(self._on_found)
        state.client.image_saved.connect(self._on_saved)
        state.queue.job_changed.connect(self._on_job)

    @property
    def is_live(self) -> bool:
        """True while the canvas follows a running job."""
        return self._view.live and self._progress.job is not None

    def use_settings(self, path: Path, reuse: Reuse = Reuse.ALL_BUT_SEED) -> None:
        """Fill the form from a picture's metadata."""
        self._changes.use_settings(path, reuse)

    def use_text(self, text: str) -> None:
        """Fill the form from a text with settings."""
        self._changes.use_text(text)

    def start_from(self, path: str, width: int, height: int) -> None:
        """Have the next picture start from this one; its size is in pixels."""

        def start(kept: Path) -> None:
            # The path as it is known elsewhere, unless it had to be kept as another file.
            own = path if kept == Path(path) else str(kept)
            self._changes.start_from(own, width, height)

        self.in_our_format(Path(path), start)

    def in_our_format(self, path: Path, take: Callable[[Path], object]) -> None:
        """Call `take` with a picture; with a PNG file of one whose format only begins something."""
        if not begins_as_png(path):
            take(path)
            return

        def end(kept: Path | ErrorInfo) -> None:
            if isinstance(kept, ErrorInfo):
                self._notices.tell_error(kept)
            else:
                take(kept)

        self._background.run(lambda: keep_as_png(path, self._kept), end)

    def take_seed(self, seed: int | None) -> None:
        """Offer the seed of the picture that is shown to be kept."""
        self._shown_seed = seed
        if seed is not None and not self._form.seed_locked:
            self._form.seed = seed

    def trash(self, path: str) -> None:
        """Move a picture to the system's trash; a notice offers to put it back."""
        self.to_trash.move([path])

    def _on_found(self) -> None:
        """Show the newest picture if none is shown."""
        if self._view.path is None and not self._view.live and len(self._pictures) > 0:
            self._view.path = self._pictures[0].path

    def _on_job(self, job: Job) -> None:
        """Offer the shown picture's seed again where the form has that of a cancelled one."""
        given_up = job.state is JobState.CANCELLED and not job.images
        if given_up and job.generation is not None and job.generation.seed == self._form.seed:
            self.take_seed(self._shown_seed)

    def _on_saved(self, event: ImageSaved) -> None:
        self._pictures.refresh_soon()
        self._view.on_saved(event.path)
