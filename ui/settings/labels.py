"""Words of the settings: choices, placeholders of file names, times."""

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from app.settings.values import Language, Look
from engine.api.saving import PictureFormat
from ui.settings.rows import Choice

translate = QCoreApplication.translate


def look_choices() -> tuple[Choice, ...]:
    """Return the looks with their words."""
    return (
        Choice(
            Look.SYSTEM,
            translate("Settings", "Like the system"),
            translate("Settings", "Light, dark or high contrast, as the system is set."),
        ),
        Choice(Look.LIGHT, translate("Settings", "Light"), translate("Settings", "Paper by day.")),
        Choice(
            Look.DARK,
            translate("Settings", "Dark"),
            translate("Settings", "A darkroom by its safelight."),
        ),
        Choice(
            Look.CONTRAST,
            translate("Settings", "High contrast"),
            translate("Settings", "White on black, with clear outlines."),
        ),
    )


def language_choices() -> tuple[Choice, ...]:
    """Return the languages, each called by its own name."""
    return (
        Choice(
            Language.SYSTEM,
            translate("Settings", "Like the system"),
            translate("Settings", "The language of this computer, or else English."),
        ),
        Choice(Language.ENGLISH, "English", ""),
        Choice(Language.GERMAN, "Deutsch", ""),
    )


def format_choices() -> tuple[Choice, ...]:
    """Return the formats of pictures with their words."""
    return (
        Choice(
            PictureFormat.PNG,
            "PNG",
            translate("Settings", "Every pixel as it was made; the largest files."),
        ),
        Choice(
            PictureFormat.WEBP,
            "WebP",
            translate("Settings", "A tenth of the size; at a quality of 100 every pixel is kept."),
        ),
        Choice(
            PictureFormat.JPEG,
            "JPEG",
            translate("Settings", "Small, and opened by every program."),
        ),
    )


def placeholder_words(name: str) -> str:
    """Return what a placeholder of file names stands for."""
    return {
        "counter": translate("Settings", "A number that goes on in each folder"),
        "seed": translate("Settings", "The seed"),
        "prompt": translate("Settings", "The first words of the prompt"),
        "model": translate("Settings", "The name of the model"),
        "sampler": translate("Settings", "The sampler"),
        "steps": translate("Settings", "The number of steps"),
        "guidance": translate("Settings", "The guidance"),
        "width": translate("Settings", "The width in pixels"),
        "height": translate("Settings", "The height in pixels"),
        "date": translate("Settings", "The day it was made"),
        "time": translate("Settings", "The time it was made"),
    }[name]


def moment(seconds: float) -> str:
    """Return a time, in seconds since 1970, as a date and a time of the user's place."""
    at = QDateTime.fromSecsSinceEpoch(int(seconds))
    return QLocale().toString(at, QLocale.FormatType.ShortFormat)
