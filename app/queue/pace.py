"""The pace of this computer: how long the pictures of each checkpoint took, for the next ones."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.engine.client import EngineClient
from app.file_writer import FileWriter
from app.queue.drawing import Drawing, FeaturesOf, drawings
from app.queue.pace_figures import PaceFigures, ParametersOf, PictureCosts
from engine.api.messages import ImageSaved, JobFinished, JobPhase, JobProgress
from engine.api.record import ResolvedRequest, Timings
from engine.api.sentences import sentence
from engine.api.texts import encode_json
from engine.api.values import Phase
from engine.awake_clock import awake_seconds
from engine.cached_state import recall

_FILE = "pace.json"
_MOST_BYTES = 1 << 20
# Of this many checkpoints, the latest ones, the pace is kept.
_MOST = 200

_DECODER = msgspec.json.Decoder(dict[str, PaceFigures])


class Pace(QObject):
    """The latest times by the checkpoint's path; `changed` is emitted when one is measured."""

    changed = Signal()

    def __init__(
        self,
        client: EngineClient,
        state: Path,
        features_of: FeaturesOf,
        parent: QObject | None = None,
        clock: Callable[[], float] = awake_seconds,
        parameters_of: ParametersOf = lambda _: None,
    ) -> None:
        """Read what earlier sessions measured from the folder `state`."""
        super().__init__(parent)
        self._features_of = features_of
        path = state / _FILE
        read = recall(path, _DECODER, _MOST_BYTES) or {}
        self._figures = {key: pace for key, pace in read.items() if pace.is_possible}
        self._costs = PictureCosts(self._figures, parameters_of)
        unwritable = sentence("The times that pictures take cannot be kept.")
        self._writer = FileWriter(path, self._content, unwritable, self)
        self.failed = self._writer.failed
        self.changed.connect(self._writer.changed)
        self._saved: ImageSaved | None = None
        self._clock = clock
        # The seconds at which each number of steps of the present picture was done.
        self._marks: dict[int, float] = {}
        self._draws = False
        # When the pass that is being drawn began, and the seconds of those before it.
        self._began = 0.0
        self._denoised: list[float] = []
        self._job = ""
        # Those of the picture that was saved last.
        self._of_saved: list[float] = []
        client.job_phase.connect(self._on_phase)
        client.job_progress.connect(self._on_progress)
        # The seconds of a step of the latest picture; None before the first one.
        self.seconds_per_step: float | None = None
        client.image_saved.connect(self._on_saved)
        client.job_finished.connect(self._on_finished)

    def seconds(self, checkpoint: str, passes: Sequence[Drawing]) -> float | None:
        """Return the expected seconds for a picture; None before the first one of a checkpoint."""
        return self._costs.seconds(checkpoint, passes)

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
        self._end_pass()
        if event.job != self._job:
            self._job, self._denoised = event.job, []
        self._draws = event.phase is Phase.DENOISE
        if self._draws:
            self._marks, self._began = {}, self._clock()

    def _end_pass(self) -> None:
        if self._draws:
            self._denoised.append(self._clock() - self._began)
        self._draws = False

    def _on_progress(self, event: JobProgress) -> None:
        # Other phases count tiles and percents.
        if self._draws:
            self._marks.setdefault(event.done, self._clock())

    def _on_saved(self, event: ImageSaved) -> None:
        self._saved, self._of_saved, self._denoised = event, self._denoised, []

    def _on_finished(self, event: JobFinished) -> None:
        saved, times = self._saved, event.timings
        if saved is None or saved.job != event.job or not times.denoise_s > 0:
            return
        request = saved.record.request
        passes = drawings(request, request, self._features_of)
        found = self._costs.measured(times, passes, self._of_saved, request.checkpoint)
        gain = measured_gain(self._marks, request)
        drew = request.checkpoint
        if gain is not None and (figures := found.get(drew) or self._figures.get(drew)):
            found[drew] = msgspec.structs.replace(figures, gain=gain)
        if not found:
            return
        for path, figures in found.items():
            # The latest ones are last.
            self._figures.pop(path, None)
            self._figures[path] = figures
        self.seconds_per_step = _step_seconds_of(times, passes)
        self.changed.emit()


def _step_seconds_of(times: Timings, passes: Sequence[Drawing]) -> float:
    """Return the seconds of a step of the first size, as all of a picture's passes took."""
    steps = sum(drawing.steps * drawing.seen for drawing in passes) / passes[0].area
    return times.denoise_s / max(1, steps)


def measured_gain(marks: Mapping[int, float], request: ResolvedRequest) -> float | None:
    """Return the part of the time that a picture saved as its last steps had no guidance.

    `marks` are the seconds at which so many of its steps were done. None for a picture that was
    guided otherwise, that was drawn again, or whose steps were too few to compare.
    """
    start, end = request.guidance_options.range
    steps = max(marks, default=0)
    last_guided = int(steps * end)
    # The first step also warms the device up, and the one at the border may be of either kind.
    guided = _step_seconds(marks, 1, last_guided - 1)
    plain = _step_seconds(marks, last_guided + 1, steps)
    if request.second_passes or start != 0 or end >= 1 or request.guidance == 1:
        return None
    if not guided or plain is None:
        return None
    return (1 - end) * (1 - plain / guided)


def _step_seconds(marks: Mapping[int, float], first: int, last: int) -> float | None:
    """Return the seconds of a step between two of them; None without at least two steps."""
    known = sorted(done for done in marks if first <= done <= last)
    if len(known) < 2 or known[-1] - known[0] < 2:
        return None
    return (marks[known[-1]] - marks[known[0]]) / (known[-1] - known[0])
