"""The time that pictures take here: as earlier ones took, else by the device's trial."""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.engine.device_state import DeviceState
from app.engine.speed import PictureKind, seconds_per_picture
from app.form.generation import EFFECTIVE_FIELDS, GenerationState
from app.library.checkpoint_store import CheckpointStore
from app.queue.pace import Pace
from engine.api.checkpoints import CheckpointInfo
from engine.api.second_passes import SecondPass

_DENOISER = "denoiser"
# The fields of the form that a picture's time follows from.
_TIMED = EFFECTIVE_FIELDS | {"checkpoint"}


class PictureTime(QObject):
    """Estimates of seconds per picture; `changed` is emitted when they may have changed."""

    changed = Signal()

    def __init__(
        self,
        form: GenerationState,
        checkpoints: CheckpointStore,
        devices: DeviceState,
        pace: Pace,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._form, self._checkpoints = form, checkpoints
        self._devices, self._pace = devices, pace
        for signal in (
            checkpoints.looked,
            devices.devices_changed,
            pace.changed,
        ):
            signal.connect(self._on_changed)
        form.changed.connect(self._on_form)

    @property
    def of_form(self) -> float | None:
        """The seconds of the form's next picture; None if nothing was timed yet."""
        measured = self._measured()
        if measured is not None:
            return measured
        kind = self._kind()
        return self.of(kind) if kind is not None else None

    def of(self, kind: PictureKind) -> float | None:
        """Return the seconds of a kind of picture by the device's trial; None before it."""
        device = self._devices.chosen
        return seconds_per_picture(device, kind) if device is not None else None

    def of_pass(self, second: SecondPass, width: int, height: int) -> float | None:
        """Return the seconds that a second pass of this size adds; None if nothing was timed yet.

        Only the last part of its steps is run, by its strength.
        """
        steps = self._form.effective.steps if second.steps is None else second.steps
        run = max(1, round(steps * second.strength))
        checkpoint = second.checkpoint or str(self._form.checkpoint)
        measured = self._pace.seconds(checkpoint, width, height, run)
        if measured is not None:
            return measured
        kind = self._kind()
        return self.of(replace(kind, width=width, height=height, steps=run)) if kind else None

    def _measured(self) -> float | None:
        form = self._form.effective
        name = str(self._form.checkpoint)
        return self._pace.seconds(name, form.width, form.height, form.steps)

    def _kind(self) -> PictureKind | None:
        answer = self._checkpoints.answer(self._form.checkpoint)
        if not isinstance(answer, CheckpointInfo):
            return None
        parameters = sum(part.parameters for part in answer.components if part.name == _DENOISER)
        form = self._form.effective
        is_guided = form.guidance != 1.0
        return PictureKind(parameters, form.width, form.height, form.steps, is_guided)

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _TIMED:
            self.changed.emit()

    def _on_changed(self, *_: object) -> None:
        self.changed.emit()
