"""The pace of this computer: how long the pictures of each checkpoint took, for the next ones."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.file_writer import FileWriter
from engine.api.messages import ImageSaved, JobFinished
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.cached_state import recall

_FILE = "pace.json"
_MOST_BYTES = 1 << 20
# Of this many checkpoints, the latest ones, the pace is kept.
_MOST = 200
# In seconds: beyond it a file says no time that was measured.
_LONGEST_S = 1e6


class PaceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The times of a checkpoint's latest picture.

    `step_s` is for one step at `pixels` pixels, `rest_s` for all else but preparation: what is
    done once for a device or a checkpoint does not come again with each picture.
    """

    pixels: int
    step_s: float
    rest_s: float

    @property
    def is_possible(self) -> bool:
        """False for figures that nobody measured, as a damaged file may have."""
        times = (self.step_s, self.rest_s)
        return self.pixels > 0 and all(0 <= seconds < _LONGEST_S for seconds in times)

    def seconds(self, width: int, height: int, steps: int) -> float:
        """Return the expected seconds for a picture of another size or number of steps."""
        return (steps * self.step_s + self.rest_s) * (width * height / self.pixels)


_DECODER = msgspec.json.Decoder(dict[str, PaceFigures])


class Pace(QObject):
    """The latest times by the checkpoint's path; `changed` is emitted when one is measured."""

    changed = Signal()

    def __init__(self, client: EngineClient, state: Path, parent: QObject | None = None) -> None:
        """Read what earlier sessions measured from the folder `state`."""
        super().__init__(parent)
        path = state / _FILE
        read = recall(path, _DECODER, _MOST_BYTES) or {}
        self._figures = {key: one for key, one in read.items() if one.is_possible}
        unwritable = sentence("The times that pictures take cannot be kept.")
        self._writer = FileWriter(path, self._content, unwritable, self)
        self.failed = self._writer.failed
        self.changed.connect(self._writer.changed)
        self._saved: ImageSaved | None = None
        # The seconds of a step of the latest picture; None before the first one.
        self.seconds_per_step: float | None = None
        client.image_saved.connect(self._on_saved)
        client.job_finished.connect(self._on_finished)

    def seconds(self, checkpoint: str, width: int, height: int, steps: int) -> float | None:
        """Return the expected seconds for a picture; None before the checkpoint's first one."""
        figures = self._figures.get(checkpoint)
        return None if figures is None else figures.seconds(width, height, steps)

    def close(self) -> None:
        """Write the latest times unless they are written already. Blocks for the disk."""
        self._writer.close()

    def _content(self) -> Callable[[], bytes]:
        return partial(encode_json, dict(list(self._figures.items())[-_MOST:]))

    def _on_saved(self, event: ImageSaved) -> None:
        self._saved = event

    def _on_finished(self, event: JobFinished) -> None:
        saved, times = self._saved, event.timings
        if saved is None or saved.job != event.job or not times.denoise_s > 0:
            return
        request = saved.record.request
        steps = max(1, request.steps)
        rest = times.encode_s + times.decode_s + times.save_s
        figures = PaceFigures(
            pixels=saved.width * saved.height, step_s=times.denoise_s / steps, rest_s=rest
        )
        self._figures.pop(request.checkpoint, None)
        self._figures[request.checkpoint] = figures
        self.seconds_per_step = figures.step_s
        self.changed.emit()
