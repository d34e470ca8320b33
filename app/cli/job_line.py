"""The line that the command line draws while a picture is made."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, RLock, Thread

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.cli.terminal import StatusLine, bar, print_error, print_note, write_path
from app.queue.time_left import TimeLeft
from app.standard_streams import OutputLost
from engine.api.values import ErrorInfo, Phase
from engine.awake_clock import awake_seconds
from engine.families.latents import LatentFormat
from engine.jobs.preview import PreviewPace, preview_pixels
from engine.jobs.reporting import SilentReporter
from engine.jobs.saving import SavedImage
from engine.pipeline.forecast import PhaseEstimate
from engine.sampling.types import Latent

_PHASE_LABELS = {
    Phase.LOAD: "Reading the model",
    Phase.COMPILE: "Preparing",
    Phase.ENCODE: "Reading the prompt",
    Phase.DENOISE: "Developing",
    Phase.ENLARGE: "Enlarging",
    Phase.DECODE: "Finishing",
    Phase.SAVE: "Saving",
}
# Seconds between redraws while no progress is reported.
_TICK_S = 0.5


class TerminalReporter(SilentReporter):
    """Shows a job's progress on a terminal; without a terminal, only warnings."""

    def __init__(
        self,
        *,
        announce: bool,
        preview: Path | None = None,
        clock: Callable[[], float] = awake_seconds,
    ) -> None:
        """`announce` prints each picture's path on stdout; `preview` is a file for previews."""
        self._announce, self._preview = announce, preview
        self._pace = PreviewPace(clock)
        self.shows_previews = preview is not None
        self._misses_previews = False
        # The error that kept a path from being printed; the job goes on all the same.
        self.lost: OutputLost | None = None
        self._line = StatusLine()
        self._time = TimeLeft(clock)
        self._estimate = PhaseEstimate(None, None)
        self._label, self._steps = "", ""
        self._stopping = False
        self._warned: list[ErrorInfo] = []
        # One thread draws at a time: a reporting one, or `_tick`. Reentrant, because Ctrl-C may
        # interrupt a thread that is drawing.
        self._lock = RLock()
        self._over = Event()
        if self._line.is_shown:
            Thread(target=self._tick, name="progress", daemon=True).start()

    def expect(self, estimate: PhaseEstimate) -> None:
        """Keep the estimate for the phase that begins next."""
        self._estimate = estimate

    def phase(self, phase: Phase) -> None:
        """Show the name of the phase that begins."""
        estimate, self._estimate = self._estimate, PhaseEstimate(None, None)
        with self._lock:
            self._label = _PHASE_LABELS[phase] + (", once" if estimate.once else "")
            self._steps = ""
            self._time.on_phase(phase, estimate.phase_s, estimate.after_s)
        self.draw()

    def progress(self, done: int, total: int) -> None:
        """Note how much of the phase is done."""
        with self._lock:
            self._time.on_progress(done, total)
            if self._label == _PHASE_LABELS[Phase.DENOISE]:
                self._steps = f" {done}/{total}"
        self.draw()

    def stop(self) -> None:
        """Show that the job is stopping: the running call may have to end first."""
        with self._lock:
            self._stopping = True
        self.draw()

    def draw(self) -> None:
        """Draw the phase, a bar of the whole job, the pace and the time left, as far as known."""
        with self._lock:
            if self._over.is_set() or not self._label:
                return
            if self._stopping:
                self._line.draw("Stopping")
                return
            fraction, pace, left = (
                self._time.fraction,
                self._time.seconds_per_step,
                self._time.seconds_left,
            )
            if fraction is None:
                fraction = self._time.phase_fraction
            phase_left = self._time.phase_seconds_left
            parts = [
                self._label if fraction is None else f"{self._label} {bar(fraction)}{self._steps}",
                "" if pace is None else f"{pace:.2f} s/step",
                "" if left is None else f"about {rounded(left)} left",
                f"about {rounded(phase_left)} for this" if left is None and phase_left else "",
                "longer than usual" if self._time.is_overdue else "",
            ]
            self._line.draw("  ".join(filter(None, parts)))

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Write a preview of the latent, if a file was given and the last preview is old enough."""
        if self._preview and form.preview and self._pace.is_due():
            self.show(step, preview_pixels(latent, form.preview))

    def show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        """Replace the preview file in one step; the first error of the file system is told."""
        if not self._preview:
            return
        part = self._preview.with_name(f"{self._preview.name}.part")
        try:
            Image.fromarray(pixels).save(part, "PNG")
            part.replace(self._preview)
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            if not self._misses_previews:
                self._misses_previews = True
                self.clear()
                reason = error.strerror or str(error)
                print_note(f"The preview cannot be written to {self._preview}: {reason}.")

    def image_saved(self, image: SavedImage) -> None:
        """Print the path of a saved picture."""
        self.clear()
        if self._announce:
            try:
                write_path(image.path)
            except OutputLost as lost:
                self.lost = lost
                print_note(f"The picture is saved as {image.path}.")

    def warning(self, warning: ErrorInfo) -> None:
        """Print a warning, unless the same one was printed before."""
        if warning in self._warned:
            return
        self._warned.append(warning)
        self.clear()
        print_error(warning)

    def clear(self) -> None:
        """Remove the bar, so that ordinary output can follow."""
        with self._lock:
            self._line.clear()

    def close(self) -> None:
        """Remove the bar and draw no more."""
        self._over.set()
        self.clear()

    def _tick(self) -> None:
        while not self._over.wait(_TICK_S):
            self.draw()


def rounded(seconds: float) -> str:
    """Return a time span rounded for reading, as "25 s" or "3 min"."""
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds < 90:
        return f"{5 * round(seconds / 5)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
