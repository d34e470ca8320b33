"""Words about second passes in the user's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.form.layer_kinds import file_name
from engine.api.second_passes import LATENT_UPSCALERS, SecondPass, resampling_named
from engine.api.weight_suffixes import weights_name
from ui.job_labels import resampling_about, upscaler_name
from ui.labels import duration, size_label

translate = QCoreApplication.translate


def upscaler_words(upscaler: str) -> tuple[str, str]:
    """Return the name of an upscaler, and a sentence about it; of a file, its name and path."""
    method = resampling_named(upscaler)
    if method is not None:
        return upscaler_name(upscaler), resampling_about(method)
    if upscaler in LATENT_UPSCALERS:
        return upscaler, _latent_about(upscaler)
    return weights_name(upscaler), upscaler


def _latent_about(upscaler: str) -> str:
    if "nearest" in upscaler:
        return translate("passes", "Hard cells: needs a strength of 0.5 or more.")
    if "bicubic" in upscaler:
        return translate("passes", "A little sharper: needs a strength of 0.5 or more.")
    return translate("passes", "Quick and soft: needs a strength of 0.5 or more.")


def lost_upscaler_words(stated: str) -> str:
    """Return that an upscaler that a picture names is not among the user's files."""
    text = translate("passes", "{name} is not among your upscalers: choose another one.")
    return text.format(name=file_name(stated))


def lost_model_words(stated: str) -> str:
    """Return that the model of a pass is not among the user's files."""
    text = translate("passes", "{name} is not among your models: choose another one below.")
    return text.format(name=file_name(stated))


def result_words(before: tuple[int, int], after: tuple[int, int], seconds: float | None) -> str:
    """Return the sizes before and after a pass, and the time that it adds where it is known."""
    sizes = translate("passes", "{before} becomes {after}.").format(
        before=size_label(*before), after=size_label(*after)
    )
    if seconds is None:
        return sizes
    more = translate("passes", "About {time} more.").format(time=duration(seconds))
    return f"{sizes} {more}"


def pass_title(shown: SecondPass, size: tuple[int, int]) -> str:
    """Return the heading of a pass: its factor, unless it has an exact size, and its size."""
    if shown.width is not None or shown.height is not None:
        return translate("passes", "To {size}").format(size=size_label(*size))
    return translate("passes", "{factor} times: {size}").format(
        factor=QLocale().toString(shown.scale, "g", 6), size=size_label(*size)
    )
