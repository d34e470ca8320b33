"""Descriptions of presets in the user's language."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.form.presets import PresetPart

translate = QCoreApplication.translate


def part_name(part: PresetPart) -> str:
    """Return the name of a part of the form."""
    return {
        PresetPart.PROMPTS: translate("presets", "Prompts"),
        PresetPart.MODEL: translate("presets", "Model"),
        PresetPart.LORAS: translate("presets", "LoRAs"),
        PresetPart.LAYERS: translate("presets", "Control layers and image prompts"),
        PresetPart.SETTINGS: translate("presets", "Size, steps, sampler and other settings"),
    }[part]


def parts_words(parts: Sequence[PresetPart]) -> str:
    """Return in one line the parts that a preset holds."""
    short = {part: part_name(part) for part in PresetPart}
    short[PresetPart.LAYERS] = translate("presets", "Control layers")
    short[PresetPart.SETTINGS] = translate("presets", "Settings")
    return " · ".join(short[part] for part in parts)
