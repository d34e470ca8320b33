"""Runs one job and sends its progress as events."""

import logging
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.api.messages import (
    CheckpointHashed,
    ImageSaved,
    JobCancelled,
    JobFailed,
    JobFinished,
    JobPhase,
    JobPreview,
    JobProgress,
    JobWarned,
    PictureUnsaved,
    RunJob,
)
from engine.api.saving import PictureFile
from engine.api.upscale_messages import ImageUpscaled, RunUpscale
from engine.api.values import STEPPED, ErrorInfo, Phase
from engine.api.wire import WireError
from engine.cancel import CancelToken
from engine.checkpoints.index import FileState
from engine.errors import Cancelled
from engine.families.latents import LatentFormat
from engine.jobs.preview import PreviewPace, preview_pixels
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.upscale_run import UpscaleRunner, UpscaleTarget
from engine.jobs.upscaling import UpscaledImage
from engine.output import Destination
from engine.output.writer import UnwrittenPicture
from engine.pipeline.forecast import PhaseEstimate
from engine.sampling.types import Latent
from engine.server.failures import error_info
from engine.server.job_line import Ending, JobCommand
from engine.server.outbox import Put

_log = logging.getLogger(__name__)


class EventReporter:
    """A `JobReporter` that sends events to the app."""

    def __init__(self, job: str, put: Put, *, previews: bool = True) -> None:
        self._job, self._put = job, put
        self.shows_previews = previews
        self._pace = PreviewPace()
        self._phase = Phase.LOAD
        self._percent = -1
        self._estimate = PhaseEstimate(None, None)

    def expect(self, estimate: PhaseEstimate) -> None:
        """Keep the estimate for the phase that begins next."""
        self._estimate = estimate

    def phase(self, phase: Phase) -> None:
        """Send the beginning of a phase, with the estimate kept for it."""
        self._phase, self._percent = phase, -1
        estimate, self._estimate = self._estimate, PhaseEstimate(None, None)
        self._put(
            JobPhase(
                job=self._job,
                phase=phase,
                expected_s=estimate.phase_s,
                after_s=estimate.after_s,
                once=estimate.once,
            )
        )

    def progress(self, done: int, total: int) -> None:
        """Send how much of the phase is done: every step or tile, else every percent."""
        percent = 100 * done // max(total, 1)
        if self._phase in STEPPED or percent > self._percent:
            self._percent = percent
            self._put(JobProgress(job=self._job, done=done, total=total))

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Send a preview of the latent, if its format allows one and the last is old enough."""
        if not self.shows_previews or form.preview is None or not self._pace.is_due():
            return
        self.show(step, preview_pixels(latent, form.preview))

    def show(self, step: int, pixels: NDArray[np.uint8]) -> None:
        """Send a preview; `pixels` are uint8 [height, width, 3]."""
        height, width = pixels.shape[:2]
        event = JobPreview(job=self._job, step=step, width=width, height=height)
        self._put(event, pixels.tobytes())

    def image_saved(self, image: SavedImage) -> None:
        """Send the path, seed, size and record of a saved picture."""
        self._put(
            ImageSaved(
                job=self._job,
                path=str(image.path),
                seed=image.seed,
                width=image.width,
                height=image.height,
                record=image.record,
            )
        )

    def image_upscaled(self, image: UpscaledImage) -> None:
        """Send the path and the size of a picture that was made larger."""
        self._put(
            ImageUpscaled(
                job=self._job,
                path=str(image.path),
                source=str(image.source),
                width=image.report.width,
                height=image.report.height,
            )
        )

    def warning(self, warning: ErrorInfo) -> None:
        """Send a warning and log it; the job's ending repeats it."""
        self._put(JobWarned(job=self._job, warning=warning))
        _log.warning("%s: %s", warning.code.value, warning.message)


def tell_hash(put: Put, state: FileState, done: int, sha256: str | None) -> None:
    """Send how much of a file is hashed, without ever waiting, because no job depends on it."""
    event = CheckpointHashed(
        path=str(state.path), done_bytes=done, total_bytes=state.size, sha256=sha256
    )
    put(event, wait=False)


def run_job(runner: JobRunner, command: JobCommand, cancel: CancelToken, put: Put) -> Ending:
    """Run a job and send its events; return its ending, also after an exception."""
    try:
        ending = (
            _made(runner, command, cancel, put)
            if isinstance(command, RunJob)
            else _upscaled(runner, command, cancel, put)
        )
    except Cancelled:
        return JobCancelled(job=command.job)
    except UnwrittenPicture as error:
        _hand_over(error.file, command.job, put)
        return JobFailed(job=command.job, error=error.info)
    except Exception as error:  # noqa: BLE001 (the boundary that reports: the engine goes on)
        failure = error_info(error)
        _log.error("a job failed: %s", failure.code.value)
        return JobFailed(job=command.job, error=failure)
    return ending


def _hand_over(file: PictureFile, job: str, put: Put) -> None:
    """Send the file of a picture that no disk took, unless it is larger than a frame."""
    _log.error("no disk takes %s, of %d bytes", file.name, len(file.content))
    with suppress(WireError):
        put(PictureUnsaved(job=job, name=file.name), file.content)


def _made(runner: JobRunner, command: RunJob, cancel: CancelToken, put: Put) -> JobFinished:
    saver = PictureSaver(Destination(Path(command.folder)), command.saving)
    reporter = EventReporter(command.job, put, previews=command.previews)
    result = runner.run(command.request, saver, reporter, cancel)
    _log.info("a job finished on %s in %.1f s", result.device.backend, result.timings.total_s)
    return JobFinished(
        job=command.job,
        device=result.device.name,
        timings=result.timings,
        warnings=result.warnings,
    )


def _upscaled(runner: JobRunner, command: RunUpscale, cancel: CancelToken, put: Put) -> JobFinished:
    target = UpscaleTarget(Path(command.folder), command.saving)
    reporter = EventReporter(command.job, put, previews=False)
    result = UpscaleRunner(runner).run(command.request, target, reporter, cancel)
    _log.info("a picture was made larger in %.1f s", result.timings.total_s)
    return JobFinished(
        job=command.job,
        device=result.device,
        timings=result.timings,
        warnings=result.warnings,
    )
