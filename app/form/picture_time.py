"""The time that pictures take here: as earlier ones took, else by the device's trial."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.engine.device_state import DeviceState
from app.engine.speed import PictureKind, seconds_per_picture
from app.form.generation import EFFECTIVE_FIELDS, GenerationState
from app.library.checkpoint_store import CheckpointStore
from app.queue.drawing import Drawing, drawings, second_drawing
from app.queue.pace import Pace
from app.queue.pace_figures import ParametersOf, PictureCosts
from engine.api.second_passes import SecondPass

# The fields of the form that a picture's time follows from.
TIMED = EFFECTIVE_FIELDS | {
    "checkpoint",
    "controls",
    "convention",
    "guidance_options",
    "image_prompts",
    "refiner",
    "second_passes",
}


class PictureTime(QObject):
    """Estimates of seconds per picture; `changed` is emitted when they may have changed."""

    changed = Signal()

    def __init__(
        self,
        form: GenerationState,
        checkpoints: CheckpointStore,
        devices: DeviceState,
        pace: Pace,
        parameters_of: ParametersOf,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._parameters_of = parameters_of
        self._form, self._checkpoints = form, checkpoints
        self._devices, self._pace = devices, pace
        for signal in (
            checkpoints.looked,
            devices.devices_changed,
            pace.changed,
        ):
            signal.connect(self.look_again)
        form.changed.connect(self._on_form)

    @property
    def of_form(self) -> float | None:
        """The seconds of the form's next picture; None if nothing was timed yet."""
        if self.measured is not None:
            return self.measured
        return self._by_trial(self._drawings())

    @property
    def measured(self) -> float | None:
        """The seconds of the form's next picture as earlier ones took; None before the first."""
        return self._pace.seconds(str(self._form.checkpoint), self._drawings())

    def of(self, kind: PictureKind) -> float | None:
        """Return the seconds of a kind of picture by the device's trial.

        None before it, and where the computer was busy meanwhile: it may be far from the truth.
        """
        device = self._devices.chosen
        if device is None or device.disturbed:
            return None
        return seconds_per_picture(device, kind)

    def of_pass(self, second: SecondPass, width: int, height: int) -> float | None:
        """Return the seconds that a second pass of this size adds; None if nothing was timed."""
        request, settled = self._form.build_request(), self._form.effective
        features_of = self._checkpoints.features
        drawing = second_drawing(second, (width, height), request, settled, features_of)
        measured = self._pace.seconds(str(self._form.checkpoint), (drawing,))
        return self._by_trial((drawing,)) if measured is None else measured

    def _drawings(self) -> tuple[Drawing, ...]:
        form = self._form
        return drawings(form.build_request(), form.effective, self._checkpoints.features)

    def _by_trial(self, passes: Sequence[Drawing]) -> float | None:
        """Return the seconds of passes by the device's trial; None before it.

        A checkpoint of which nothing is known is taken to be as large as the form's.
        """
        form = str(self._form.checkpoint)
        parameters = self._parameters_of(form)
        if parameters is None:
            return None
        total, untimed = 0.0, PictureCosts({}, self._parameters_of)
        for drawing in passes:
            own = drawing.checkpoint or form
            predictions = untimed.work(own, drawing) / drawing.area
            size = drawing.width, drawing.height
            weights = self._parameters_of(own) or parameters
            seconds = self.of(PictureKind(weights, *size, predictions))
            if seconds is None:
                return None
            total += seconds
        return total

    def _on_form(self, names: frozenset[str]) -> None:
        if names & TIMED:
            self.changed.emit()

    def look_again(self, *_: object) -> None:
        """Tell that more may be known of the files in the form."""
        self.changed.emit()
