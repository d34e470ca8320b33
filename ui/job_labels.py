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
    if upscaler == Resampling.LANCZOS:
        return translate("labels", "Lanczos")
    if upscaler == Resampling.AREA:
        return translate("labels", "Area")
    return weights_name(upscaler)
