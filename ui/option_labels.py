"""Names and explanations of a request's options in the window."""

from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

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
    "text_weight_bits": _Words(
        QT_TRANSLATE_NOOP("options", "Text encoders"),
        QT_TRANSLATE_NOOP(
            "options", "The bits that each number of the text encoders' large layers takes."
        ),
    ),
    "memory_limit_bytes": _Words(
        QT_TRANSLATE_NOOP("options", "Memory limit (GB)"),
        QT_TRANSLATE_NOOP("options", "The most memory that a picture may take, in GB."),
    ),
    "device_memory_limit_bytes": _Words(
        QT_TRANSLATE_NOOP("options", "Device memory limit (GB)"),
        QT_TRANSLATE_NOOP(
            "options",
            "The most memory of a graphics card that a picture may take, in GB. Weights that do not"
            " fit are copied to the card while it computes: slower, but the same picture.",
        ),
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


def option_name(option: str) -> str:
    """Return the name of an option, the label of its row."""
    return translate("options", _OPTIONS[option].name)


def option_about(option: str) -> str:
    """Return a sentence on what an option does."""
    return translate("options", _OPTIONS[option].about)


def option_sign(option: str) -> str:
    """Return the sign between the two numbers of an option."""
    return _OPTIONS[option].sign
