"""Names and explanations of a request's options in the window."""

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from engine.api.denoiser_options import FreeUVersion, Tiling
from engine.api.lora import LoraMode
from engine.api.map_choices import NormalLayout, OnnxPixels, OnnxValues
from engine.api.masks import MaskedContent
from engine.api.values import PrecisionName, WeightBits
from ui.method_labels import QT_TRANSLATE_NOOP

translate = QCoreApplication.translate


class _Words(NamedTuple):
    """An option's name, what it does, and the sign between two numbers or the unit of one."""

    name: str
    about: str
    sign: str = ""


_OPTIONS: Mapping[str, _Words] = {
    "clip_skip": _Words(
        QT_TRANSLATE_NOOP("options", "Clip skip"),
        QT_TRANSLATE_NOOP(
            "options", "The layer of the text encoder that is used, counted from its end."
        ),
    ),
    "zero_terminal_snr": _Words(
        QT_TRANSLATE_NOOP("options", "Zero-terminal SNR"),
        QT_TRANSLATE_NOOP("options", "The first step starts from pure noise: darker darks."),
    ),
    "expand_wildcards": _Words(
        QT_TRANSLATE_NOOP("options", "Wildcards"),
        QT_TRANSLATE_NOOP(
            "options",
            "Words are drawn for __animals__ and for choices in braces; else they are plain text.",
        ),
    ),
    "sampler_options.eta": _Words(
        QT_TRANSLATE_NOOP("options", "Eta"),
        QT_TRANSLATE_NOOP("options", "The share of the noise that each step replaces by new."),
    ),
    "sampler_options.noise_scale": _Words(
        QT_TRANSLATE_NOOP("options", "Noise scale"),
        QT_TRANSLATE_NOOP("options", "A factor on the noise that steps add (s_noise)."),
    ),
    "sampler_options.churn": _Words(
        QT_TRANSLATE_NOOP("options", "Churn"),
        QT_TRANSLATE_NOOP("options", "The noise that is added before each step (s_churn)."),
    ),
    "sampler_options.churn_from": _Words(
        QT_TRANSLATE_NOOP("options", "Churn from"),
        QT_TRANSLATE_NOOP("options", "The lowest noise level with churn (s_tmin)."),
    ),
    "sampler_options.churn_to": _Words(
        QT_TRANSLATE_NOOP("options", "Churn to"),
        QT_TRANSLATE_NOOP("options", "The highest noise level with churn (s_tmax)."),
    ),
    "schedule_options.sigma_min": _Words(
        QT_TRANSLATE_NOOP("options", "Sigma min"),
        QT_TRANSLATE_NOOP("options", "The lowest noise level of the schedule."),
    ),
    "schedule_options.sigma_max": _Words(
        QT_TRANSLATE_NOOP("options", "Sigma max"),
        QT_TRANSLATE_NOOP("options", "The highest noise level of the schedule."),
    ),
    "schedule_options.rho": _Words(
        QT_TRANSLATE_NOOP("options", "Rho"),
        QT_TRANSLATE_NOOP("options", "How many of the steps have little noise."),
    ),
    "guidance_options.true_cfg": _Words(
        QT_TRANSLATE_NOOP("options", "True CFG"),
        QT_TRANSLATE_NOOP(
            "options",
            "Away from the negative prompt, beside the guidance that the model was trained with. 1 "
            "is usual; else each step takes twice the time.",
        ),
    ),
    "guidance_options.range": _Words(
        QT_TRANSLATE_NOOP("options", "Guided part"),
        QT_TRANSLATE_NOOP(
            "options", "The start and the end of guidance, from 0 (first step) to 1 (last step)."
        ),
        "–",  # noqa: RUF001 (an en dash between two numbers)
    ),
    "guidance_options.rescale": _Words(
        QT_TRANSLATE_NOOP("options", "CFG rescale"),
        QT_TRANSLATE_NOOP("options", "Takes back the harsh contrast of high guidance."),
    ),
    "guidance_options.pag_scale": _Words(
        QT_TRANSLATE_NOOP("options", "Perturbed attention"),
        QT_TRANSLATE_NOOP(
            "options",
            "Moves away from a picture whose parts do not see each other: firmer shapes. 3 is "
            "usual, 0 is none; each step runs the model once more.",
        ),
    ),
    "guidance_options.pag_adaptive": _Words(
        QT_TRANSLATE_NOOP("options", "Less per timestep"),
        QT_TRANSLATE_NOOP(
            "options", "How much weaker perturbed attention gets with each of the 1000 timesteps."
        ),
    ),
    "guidance_options.pag_range": _Words(
        QT_TRANSLATE_NOOP("options", "Perturbed part"),
        QT_TRANSLATE_NOOP(
            "options", "The start and the end of perturbed attention, from 0 to 1 (last step)."
        ),
        "–",  # noqa: RUF001
    ),
    "guidance_options.pag_layers": _Words(
        QT_TRANSLATE_NOOP("options", "Perturbed layers"),
        QT_TRANSLATE_NOOP(
            "options",
            "Where attention is perturbed: mid, down, up, or layers as up_blocks.0, with commas.",
        ),
    ),
    "guidance_options.sag_scale": _Words(
        QT_TRANSLATE_NOOP("options", "Self-attention guidance"),
        QT_TRANSLATE_NOOP(
            "options",
            "Moves away from a picture whose details are blurred: finer details. 0.5 is usual, 0 "
            "is none; each step runs the model once more.",
        ),
    ),
    "guidance_options.sag_blur": _Words(
        QT_TRANSLATE_NOOP("options", "Blur"),
        QT_TRANSLATE_NOOP("options", "How far details are blurred for it, in cells of 8 pixels."),
    ),
    "guidance_options.sag_threshold": _Words(
        QT_TRANSLATE_NOOP("options", "Blur threshold"),
        QT_TRANSLATE_NOOP(
            "options", "How much attention a part must get to be blurred; 1 is the average."
        ),
    ),
    "denoiser_options.tiling": _Words(
        QT_TRANSLATE_NOOP("options", "Seamless edges"),
        QT_TRANSLATE_NOOP(
            "options", "The picture continues at its opposite edge, as a tile or a panorama does."
        ),
    ),
    "denoiser_options.freeu": _Words(
        QT_TRANSLATE_NOOP("options", "FreeU"),
        QT_TRANSLATE_NOOP("options", "Strengthens shapes and weakens what disturbs them."),
    ),
    "denoiser_options.freeu_b1": _Words(
        QT_TRANSLATE_NOOP("options", "FreeU b1"),
        QT_TRANSLATE_NOOP("options", "The factor of the coarsest shapes."),
    ),
    "denoiser_options.freeu_b2": _Words(
        QT_TRANSLATE_NOOP("options", "FreeU b2"),
        QT_TRANSLATE_NOOP("options", "The factor of the next finer shapes."),
    ),
    "denoiser_options.freeu_s1": _Words(
        QT_TRANSLATE_NOOP("options", "FreeU s1"),
        QT_TRANSLATE_NOOP("options", "The factor of what the coarsest shapes take over unchanged."),
    ),
    "denoiser_options.freeu_s2": _Words(
        QT_TRANSLATE_NOOP("options", "FreeU s2"),
        QT_TRANSLATE_NOOP("options", "The factor of what the finer shapes take over unchanged."),
    ),
    "denoiser_options.freeu_range": _Words(
        QT_TRANSLATE_NOOP("options", "FreeU's part"),
        QT_TRANSLATE_NOOP("options", "The start and the end of FreeU, from 0 to 1 (last step)."),
        "–",  # noqa: RUF001
    ),
    "seed_options.variation_strength": _Words(
        QT_TRANSLATE_NOOP("options", "Variation"),
        QT_TRANSLATE_NOOP(
            "options", "Mixes the noise of a second seed in: pictures that resemble each other."
        ),
    ),
    "seed_options.variation_seed": _Words(
        QT_TRANSLATE_NOOP("options", "Second seed"),
        QT_TRANSLATE_NOOP("options", "The seed of the variation; left empty, always a new one."),
    ),
    "seed_options.resize_from": _Words(
        QT_TRANSLATE_NOOP("options", "Resize seed from"),
        QT_TRANSLATE_NOOP(
            "options",
            "As in A1111: the noise of a picture of this size, cropped or extended.",
        ),
        "×",  # noqa: RUF001 (the multiplication sign is what is meant)
    ),
    "seed_options.eta_seed_delta": _Words(
        QT_TRANSLATE_NOOP("options", "Eta noise seed delta"),
        QT_TRANSLATE_NOOP(
            "options",
            "ENSD in A1111: added to the seed of the noise that ancestral samplers add at each "
            "step. Many pictures were made with 31337.",
        ),
    ),
    "seed_options.batch_index": _Words(
        QT_TRANSLATE_NOOP("options", "Number in batch"),
        QT_TRANSLATE_NOOP(
            "options",
            "Repeats one picture of a batch that ComfyUI made of one seed; the first is 0.",
        ),
    ),
    "seed_options.batch_size": _Words(
        QT_TRANSLATE_NOOP("options", "Batch size"),
        QT_TRANSLATE_NOOP("options", "How many pictures that batch of ComfyUI's had."),
    ),
    "size_options.original": _Words(
        QT_TRANSLATE_NOOP("options", "Original size"),
        QT_TRANSLATE_NOOP("options", "The size that the model is told the photo had."),
        "×",  # noqa: RUF001
    ),
    "size_options.crop": _Words(
        QT_TRANSLATE_NOOP("options", "Crop"),
        QT_TRANSLATE_NOOP("options", "How much the model is told was cut off, left and top."),
        "·",
    ),
    "size_options.target": _Words(
        QT_TRANSLATE_NOOP("options", "Target size"),
        QT_TRANSLATE_NOOP("options", "The size that the model is told it draws."),
        "×",  # noqa: RUF001
    ),
    "size_options.negative_original": _Words(
        QT_TRANSLATE_NOOP("options", "Avoided size"),
        QT_TRANSLATE_NOOP("options", "The original size that goes with the negative prompt."),
        "×",  # noqa: RUF001
    ),
    "size_options.negative_crop": _Words(
        QT_TRANSLATE_NOOP("options", "Avoided crop"),
        QT_TRANSLATE_NOOP("options", "The crop that goes with the negative prompt."),
        "·",
    ),
    "size_options.negative_target": _Words(
        QT_TRANSLATE_NOOP("options", "Avoided target"),
        QT_TRANSLATE_NOOP("options", "The target size that goes with the negative prompt."),
        "×",  # noqa: RUF001
    ),
    "size_options.aesthetic_score": _Words(
        QT_TRANSLATE_NOOP("options", "Beauty"),
        QT_TRANSLATE_NOOP("options", "The aesthetic score that the refiner is told."),
    ),
    "size_options.negative_aesthetic_score": _Words(
        QT_TRANSLATE_NOOP("options", "Avoided beauty"),
        QT_TRANSLATE_NOOP("options", "The aesthetic score that goes with the negative prompt."),
    ),
    "mask_options.only_masked": _Words(
        QT_TRANSLATE_NOOP("options", "Only the part"),
        QT_TRANSLATE_NOOP(
            "options",
            "Draws the surroundings of the mask at full size, and pastes them into the picture.",
        ),
    ),
    "mask_options.padding": _Words(
        QT_TRANSLATE_NOOP("options", "Margin"),
        QT_TRANSLATE_NOOP("options", "How much around the mask is drawn with it, in pixels."),
    ),
    "mask_options.content": _Words(
        QT_TRANSLATE_NOOP("options", "Begin with"),
        QT_TRANSLATE_NOOP("options", "What lies under the mask before it is drawn anew."),
    ),
    "mask_options.blur": _Words(
        QT_TRANSLATE_NOOP("options", "Soft edge"),
        QT_TRANSLATE_NOOP("options", "The blur of the mask's edge, in pixels."),
    ),
    "mask_options.inverted": _Words(
        QT_TRANSLATE_NOOP("options", "Invert"),
        QT_TRANSLATE_NOOP("options", "Keeps what is painted, and draws the rest anew."),
    ),
    "mask_options.feather": _Words(
        QT_TRANSLATE_NOOP("options", "Blend"),
        QT_TRANSLATE_NOOP("options", "The width in pixels over which what is new joins the old."),
    ),
    "precision": _Words(
        QT_TRANSLATE_NOOP("options", "Precision"),
        QT_TRANSLATE_NOOP("options", "The number format that is computed in."),
    ),
    "weight_bits": _Words(
        QT_TRANSLATE_NOOP("options", "Weights"),
        QT_TRANSLATE_NOOP(
            "options", "The bits that each number of the model's large layers takes in memory."
        ),
    ),
    "memory_limit_bytes": _Words(
        QT_TRANSLATE_NOOP("options", "Memory limit"),
        QT_TRANSLATE_NOOP("options", "The most memory that a picture may take, in GB."),
    ),
    "vae_tile": _Words(
        QT_TRANSLATE_NOOP("options", "VAE tiles"),
        QT_TRANSLATE_NOOP(
            "options", "The side of the tiles, in pixels, in which the VAE works to save memory."
        ),
    ),
    "lora_mode": _Words(
        QT_TRANSLATE_NOOP("options", "LoRAs"),
        QT_TRANSLATE_NOOP("options", "How LoRAs change the model; the picture is the same."),
    ),
}
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
    WeightBits.ALL: QT_TRANSLATE_NOOP("options", "As they are"),
    WeightBits.EIGHT: QT_TRANSLATE_NOOP("options", "8 bits"),
    WeightBits.FOUR: QT_TRANSLATE_NOOP("options", "4 bits"),
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
    PrecisionName.AUTO: QT_TRANSLATE_NOOP("options", "The quickest that is right on the device."),
    PrecisionName.F32: QT_TRANSLATE_NOOP("options", "Exact; twice the memory, often slower."),
    PrecisionName.F16: QT_TRANSLATE_NOOP("options", "Half the memory; quick on graphics cards."),
    PrecisionName.BF16: QT_TRANSLATE_NOOP("options", "As f16, where numbers would get too large."),
    WeightBits.ALL: QT_TRANSLATE_NOOP("options", "Exact; takes the most memory."),
    WeightBits.EIGHT: QT_TRANSLATE_NOOP("options", "About half the memory; hardly seen."),
    WeightBits.FOUR: QT_TRANSLATE_NOOP("options", "About a third of the memory; details change."),
    LoraMode.AUTO: QT_TRANSLATE_NOOP("options", "The quicker way for the picture."),
    LoraMode.MERGE: QT_TRANSLATE_NOOP("options", "Quick steps, after a while of preparing."),
    LoraMode.SIDE: QT_TRANSLATE_NOOP("options", "Begins at once; each step takes longer."),
    LoraMode.TEXT_SIDE: QT_TRANSLATE_NOOP(
        "options", "The text encoders, which run once, begin at once."
    ),
}


def option_name(option: str) -> str:
    """Return the name of an option, the label of its row."""
    return translate("options", _OPTIONS[option].name)


def option_about(option: str) -> str:
    """Return a sentence on what an option does."""
    return translate("options", _OPTIONS[option].about)


def option_sign(option: str) -> str:
    """Return the sign between the two numbers of an option."""
    return _OPTIONS[option].sign


def choice_label(value: Enum | bool) -> str:
    """Return the name of one of an option's values."""
    if isinstance(value, bool):
        return translate("options", "On") if value else translate("options", "Off")
    if value in (PrecisionName.AUTO, LoraMode.AUTO):
        return automatic()
    return translate("options", _CHOICES[value])


def choice_about(value: Enum | bool) -> str:
    """Return the sentence about one of an option's values; empty where its name says all."""
    if isinstance(value, bool):
        return ""
    return translate("options", _ABOUT_CHOICES[value])


def automatic() -> str:
    """Return the word for a value that the checkpoint or the engine decides."""
    return translate("options", "Auto")
