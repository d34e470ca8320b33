"""The pace of this computer: how long the pictures of each checkpoint took, for the next ones."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.file_writer import FileWriter
from engine.api.messages import ImageSaved, JobFinished, JobPhase, JobProgress
from engine.api.record import ResolvedRequest
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.api.values import Phase
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
    done once for a device or a checkpoint does not come again with each picture. `gain` is the part
    of the time of all steps that a picture saved which was guided in its first steps only, measured
    by its own steps; None before the first such picture.
    """

    pixels: int
    step_s: float
    rest_s: float
    gain: float | None = None

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

    def __init__(
        self,
        client: EngineClient,
        state: Path,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read what earlier sessions measured from the folder `state`."""
        super().__init__(parent)
        path = state / _FILE
        read = recall(path, _DECODER, _MOST_BYTES) or {}
        self._figures = {key: pace for key, pace in read.items() if pace.is_possible}
        unwritable = sentence("The times that pictures take cannot be kept.")
        self._writer = FileWriter(path, self._content, unwritable, self)
        self.failed = self._writer.failed
        self.changed.connect(self._writer.changed)
        self._saved: ImageSaved | None = None
        self._clock = clock
        # The seconds at which each number of steps of the present picture was done.
        self._marks: dict[int, float] = {}
        client.job_phase.connect(self._on_phase)
        client.job_progress.connect(self._on_progress)
        # The seconds of a step of the latest picture; None before the first one.
        self.seconds_per_step: float | None = None
        client.image_saved.connect(self._on_saved)
        client.job_finished.connect(self._on_finished)

    def seconds(self, checkpoint: str, width: int, height: int, steps: int) -> float | None:
        """Return the expected seconds for a picture; None before the checkpoint's first one."""
        figures = self._figures.get(checkpoint)
        return None if figures is None else figures.seconds(width, height, steps)

    def gain(self, checkpoint: str) -> float | None:
        """Return the part of the time that guidance in the first steps only saves, as measured."""
        figures = self._figures.get(checkpoint)
        return None if figures is None else figures.gain

    def close(self) -> None:
        """Write the latest times unless they are written already. Blocks for the disk."""
        self._writer.close()

    def _content(self) -> Callable[[], bytes]:
        return partial(encode_json, dict(list(self._figures.items())[-_MOST:]))

    def _on_phase(self, event: JobPhase) -> None:
        if event.phase is Phase.DENOISE:
            self._marks = {}

    def _on_progress(self, event: JobProgress) -> None:
        self._marks.setdefault(event.done, self._clock())

    def _on_saved(self, event: ImageSaved) -> None:
        self._saved = event

    def _on_finished(self, event: JobFinished) -> None:
        saved, times = self._saved, event.timings
        if saved is None or saved.job != event.job or not times.denoise_s > 0:
            return
        request = saved.record.request
        steps = max(1, request.steps)
        rest = times.encode_s + times.decode_s + times.save_s
        gain = measured_gain(self._marks, request)
        before = self._figures.pop(request.checkpoint, None)
        figures = PaceFigures(
            pixels=saved.width * saved.height,
            step_s=times.denoise_s / steps,
            rest_s=rest,
            gain=before.gain if gain is None and before is not None else gain,
        )
        self._figures[request.checkpoint] = figures
        self.seconds_per_step = figures.step_s
        self.changed.emit()


def measured_gain(marks: Mapping[int, float], request: ResolvedRequest) -> float | None:
    """Return the part of the time that a picture saved as its last steps had no guidance.

    `marks` are the seconds at which so many of its steps were done. None for a picture that was
    guided otherwise, or whose steps were too few to compare.
    """
    start, end = request.guidance_options.range
    steps = max(marks, default=0)
    last_guided = int(steps * end)
    # The first step also warms the device up, and the one at the border may be of either kind.
    guided = _step_seconds(marks, 1, last_guided - 1)
    plain = _step_seconds(marks, last_guided + 1, steps)
    if start != 0 or end >= 1 or request.guidance == 1 or not guided or plain is None:
        return None
    return (1 - end) * (1 - plain / guided)


def _step_seconds(marks: Mapping[int, float], first: int, last: int) -> float | None:
    """Return the seconds of a step between two of them; None without at least two steps."""
    known = sorted(done for done in marks if first <= done <= last)
    if len(known) < 2 or known[-1] - known[0] < 2:
        return None
    return (marks[known[-1]] - marks[known[0]]) / (known[-1] - known[0])
