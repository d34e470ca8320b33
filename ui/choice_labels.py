"""Names and explanations of the values of a request's options in the window."""

from collections.abc import Mapping
from enum import Enum

from PySide6.QtCore import QCoreApplication

from engine.api.denoiser_options import FreeUVersion, Tiling
from engine.api.lora import LoraMode
from engine.api.map_choices import NormalLayout, OnnxPixels, OnnxValues
from engine.api.masks import MaskedContent
from engine.api.values import PrecisionName, TextWeightBits, WeightBits
from ui.method_labels import QT_TRANSLATE_NOOP

translate = QCoreApplication.translate

_CHOICES: Mapping[Enum, str] = {
    MaskedContent.ORIGINAL: QT_TRANSLATE_NOOP("options", "The picture itself"),
    MaskedContent.FILL: QT_TRANSLATE_NOOP("options", "The colours around it"),
    MaskedContent.LATENT_NOISE: QT_TRANSLATE_NOOP("options", "Noise"),
    MaskedContent.LATENT_NOTHING: QT_TRANSLATE_NOOP("options", "Nothing"),
    Tiling.NONE: QT_TRANSLATE_NOOP("options", "None"),
    Tiling.BOTH: QT_TRANSLATE_NOOP("options", "All four"),
    Tiling.X: QT_TRANSLATE_NOOP("options", "Left and right"),
    Tiling.Y: QT_TRANSLATE_NOOP("options", "Top and bottom"),
    FreeUVersion.OFF: QT_TRANSLATE_NOOP("options", "Off"),
    FreeUVersion.V1: QT_TRANSLATE_NOOP("options", "Version 1"),
    FreeUVersion.V2: QT_TRANSLATE_NOOP("options", "Version 2"),
    PrecisionName.F32: QT_TRANSLATE_NOOP("options", "Full (f32)"),
    PrecisionName.F16: QT_TRANSLATE_NOOP("options", "Half (f16)"),
    PrecisionName.BF16: QT_TRANSLATE_NOOP("options", "Half, wide range (bf16)"),
    PrecisionName.INT8: QT_TRANSLATE_NOOP("options", "8 bits (int8)"),
    WeightBits.ALL: QT_TRANSLATE_NOOP("options", "As they are"),
    WeightBits.EIGHT: QT_TRANSLATE_NOOP("options", "8 bits"),
    WeightBits.FOUR: QT_TRANSLATE_NOOP("options", "4 bits"),
    TextWeightBits.SAME: QT_TRANSLATE_NOOP("options", "As the other weights"),
    LoraMode.MERGE: QT_TRANSLATE_NOOP("options", "Merge into the weights"),
    LoraMode.SIDE: QT_TRANSLATE_NOOP("options", "Compute beside the weights"),
    LoraMode.TEXT_SIDE: QT_TRANSLATE_NOOP("options", "Beside the text encoders only"),
    NormalLayout.BAE: QT_TRANSLATE_NOOP("options", "As NormalBae"),
    NormalLayout.MIDAS: QT_TRANSLATE_NOOP("options", "As MiDaS"),
    OnnxPixels.IMAGENET: QT_TRANSLATE_NOOP("options", "As for ImageNet"),
    OnnxPixels.UNIT: QT_TRANSLATE_NOOP("options", "From 0 to 1"),
    OnnxPixels.SIGNED: QT_TRANSLATE_NOOP("options", "From -1 to 1"),
    OnnxPixels.LEVELS: QT_TRANSLATE_NOOP("options", "From 0 to 255"),
    OnnxValues.STRETCHED: QT_TRANSLATE_NOOP("options", "From least to greatest"),
    OnnxValues.CLASSES: QT_TRANSLATE_NOOP("options", "Classes"),
}


_ABOUT_CHOICES: Mapping[Enum, str] = {
    NormalLayout.BAE: QT_TRANSLATE_NOOP("options", "Red to the left, green up, blue to you."),
    NormalLayout.MIDAS: QT_TRANSLATE_NOOP("options", "Red and blue are swapped."),
    OnnxPixels.IMAGENET: QT_TRANSLATE_NOOP("options", "What most networks take."),
    OnnxPixels.UNIT: QT_TRANSLATE_NOOP("options", "Black is 0, white is 1."),
    OnnxPixels.SIGNED: QT_TRANSLATE_NOOP("options", "Black is -1, white is 1."),
    OnnxPixels.LEVELS: QT_TRANSLATE_NOOP("options", "Black is 0, white is 255."),
    OnnxValues.STRETCHED: QT_TRANSLATE_NOOP(
        "options", "The least becomes black, the greatest white."
    ),
    OnnxValues.CLASSES: QT_TRANSLATE_NOOP("options", "The colours of ADE20K, for segmentation."),
    MaskedContent.ORIGINAL: QT_TRANSLATE_NOOP("options", "What is painted over shows through."),
    MaskedContent.FILL: QT_TRANSLATE_NOOP("options", "For taking something out of a picture."),
    MaskedContent.LATENT_NOISE: QT_TRANSLATE_NOOP(
        "options", "For something new; it needs a high strength."
    ),
    MaskedContent.LATENT_NOTHING: QT_TRANSLATE_NOOP(
        "options", "For something new and calm; it needs a high strength."
    ),
    Tiling.NONE: QT_TRANSLATE_NOOP("options", "Edges are edges."),
    Tiling.BOTH: QT_TRANSLATE_NOOP("options", "Tiles that repeat in every direction."),
    Tiling.X: QT_TRANSLATE_NOOP("options", "Panoramas and borders that go around."),
    Tiling.Y: QT_TRANSLATE_NOOP("options", "Columns that repeat up and down."),
    FreeUVersion.OFF: QT_TRANSLATE_NOOP("options", "The model as it is."),
    FreeUVersion.V1: QT_TRANSLATE_NOOP("options", "The same factor everywhere."),
    FreeUVersion.V2: QT_TRANSLATE_NOOP("options", "Stronger where there is more to see."),
    PrecisionName.F32: QT_TRANSLATE_NOOP("options", "Exact; twice the memory, often slower."),
    PrecisionName.F16: QT_TRANSLATE_NOOP("options", "Half the memory; quick on graphics cards."),
    PrecisionName.BF16: QT_TRANSLATE_NOOP("options", "As f16, where numbers would get too large."),
    PrecisionName.INT8: QT_TRANSLATE_NOOP(
        "options", "Quick on processors, for models whose weights have 8 or 4 bits."
    ),
    WeightBits.ALL: QT_TRANSLATE_NOOP("options", "Exact; takes the most memory."),
    WeightBits.EIGHT: QT_TRANSLATE_NOOP("options", "About half the memory; hardly seen."),
    WeightBits.FOUR: QT_TRANSLATE_NOOP("options", "About a third of the memory; details change."),
    TextWeightBits.SAME: QT_TRANSLATE_NOOP(
        "options", "Rounded where the others are, and first where memory is short."
    ),
    LoraMode.MERGE: QT_TRANSLATE_NOOP("options", "Quick steps, after a while of preparing."),
    LoraMode.SIDE: QT_TRANSLATE_NOOP("options", "Begins at once; each step takes longer."),
    LoraMode.TEXT_SIDE: QT_TRANSLATE_NOOP(
        "options", "The text encoders, which run once, begin at once."
    ),
}

# Names of one word are equal, whatever they are of.
_ABOUT_AUTOMATIC: Mapping[type[Enum], str] = {
    PrecisionName: QT_TRANSLATE_NOOP("options", "The quickest that is right on the device."),
    WeightBits: QT_TRANSLATE_NOOP(
        "options", "Exact where that fits; else 8 bits, and 4 where those do not fit either."
    ),
    LoraMode: QT_TRANSLATE_NOOP("options", "The quicker way for the picture."),
}


def choice_label(value: Enum | bool) -> str:
    """Return the name of one of an option's values."""
    if isinstance(value, bool):
        return translate("options", "On") if value else translate("options", "Off")
    if _is_automatic(value):
        return automatic()
    return translate("options", _CHOICES[value])


def choice_about(value: Enum | bool) -> str:
    """Return the sentence about one of an option's values; empty where its name says all."""
    if isinstance(value, bool):
        return ""
    if _is_automatic(value):
        return translate("options", _ABOUT_AUTOMATIC[type(value)])
    return translate("options", _ABOUT_CHOICES[value])


def _is_automatic(value: Enum) -> bool:
    return type(value) in _ABOUT_AUTOMATIC and value.name == "AUTO"


def automatic() -> str:
    """Return the word for a value that the checkpoint or the engine decides."""
    return translate("options", "Auto")
