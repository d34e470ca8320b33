"""The names of jobs for people: the prompt of a picture, or the picture that is made larger."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.queue.jobs import Job
from engine.api.upscaling import Resampling
from engine.api.weight_suffixes import weights_name

translate = QCoreApplication.translate


def job_title(job: Job) -> str:
    """Return the prompt of a job, or the name of the picture that it makes larger."""
    if job.upscale is not None:
        name = Path(job.upscale.source).name
        return translate("labels", "{name}, made larger").format(name=name)
    return job.generation.prompt.strip() if job.generation is not None else ""


def upscaler_name(upscaler: str) -> str:
    """Return the name of an upscaler's file without its suffix, or of a method without a file."""
    names = {
        Resampling.LANCZOS.value: translate("labels", "Lanczos"),
        Resampling.BICUBIC.value: translate("labels", "Bicubic"),
        Resampling.BILINEAR.value: translate("labels", "Bilinear"),
        Resampling.AREA.value: translate("labels", "Area"),
        Resampling.NEAREST.value: translate("labels", "Nearest"),
    }
    return names.get(upscaler) or weights_name(upscaler)


def resampling_about(method: Resampling) -> str:
    """Return a sentence about a method that needs no file."""
    return {
        Resampling.LANCZOS: translate("labels", "Quick and sharp; adds no detail."),
        Resampling.BICUBIC: translate("labels", "A little softer than Lanczos."),
        Resampling.BILINEAR: translate("labels", "Soft; adds no detail."),
        Resampling.AREA: translate("labels", "Means of whole pixels: for smaller pictures."),
        Resampling.NEAREST: translate("labels", "Repeats pixels: for pixel art."),
    }[method]
