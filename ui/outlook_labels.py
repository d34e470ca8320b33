"""Descriptions of what the engine keeps in memory and on the disk, in the user's language."""

from PySide6.QtCore import QCoreApplication

from app.engine.cache_state import CachedModel
from app.notices.remedies import advice
from app.notices.wording import worded
from engine.api.machine import MemoryOutlook
from engine.api.values import ErrorInfo
from ui.labels import file_size, when

translate = QCoreApplication.translate
# The bits of weights that are not rounded.
_ALL = 16


def outlook_words(outlook: MemoryOutlook | None, problem: ErrorInfo | None) -> str:
    """Return the memory plan of the next picture in a few sentences, or why there is none."""
    if problem is not None:
        return f"{worded(problem.text)} {advice(problem)}".strip()
    if outlook is None:
        return translate("outlook", "It is being planned…")
    parts = [
        translate("outlook", "It needs about {peak} of the {budget} that may be used.").format(
            peak=file_size(outlook.peak_bytes), budget=file_size(outlook.budget_bytes)
        )
    ]
    if outlook.peak_bytes > outlook.budget_bytes:
        parts.append(translate("outlook", "That is more than is free: close other programs."))
    if outlook.stays_loaded:
        parts.append(translate("outlook", "The model stays loaded for the next pictures."))
    elif outlook.takes_turns:
        parts.append(translate("outlook", "The parts of the model take turns, to save memory."))
    if outlook.streams:
        parts.append(
            translate(
                "outlook",
                "The device has no room for all of the model: parts of it are copied there at each"
                " step, which takes longer.",
            )
        )
    if outlook.tiles:
        parts.append(translate("outlook", "The picture is decoded in tiles, to save memory."))
    if rounded := _rounded(outlook.text_encoder_bits, outlook.denoiser_bits):
        parts.append(rounded)
    return " ".join(parts)


def _rounded(text_encoder: int, denoiser: int) -> str:
    """Return that weights are rounded to so many bits; empty where they are exact."""
    bits = {"bits": denoiser, "text": text_encoder}
    if denoiser == text_encoder == _ALL:
        return ""
    if denoiser == _ALL:
        words = translate(
            "outlook", "The text encoders are rounded to {text} bits, to save memory."
        )
    elif text_encoder == _ALL:
        words = translate("outlook", "The denoiser is rounded to {bits} bits, to save memory.")
    elif denoiser == text_encoder:
        words = translate("outlook", "The model is rounded to {bits} bits, to save memory.")
    else:
        words = translate(
            "outlook",
            "The denoiser is rounded to {bits} bits, to save memory, the text encoders to {text}.",
        )
    return words.format(**bits)


def cached_words(model: CachedModel, starter: str) -> tuple[str, str]:
    """Return the name of a model with cached data, and the facts about that data.

    `starter` is the name that the starter has in the cache.
    """
    name = model.checkpoint or translate("outlook", "For all models")
    if model.checkpoint == starter:
        name = translate("outlook", "Safelight starter")
    used = translate("outlook", "last used {time}").format(time=when(round(model.last_used * 1e9)))
    return name, f"{file_size(model.bytes)} · {used}"
