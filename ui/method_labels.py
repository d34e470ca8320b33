"""Samplers, schedules and tools in the window: their order and descriptions."""

from collections.abc import Mapping
from typing import cast

from PySide6.QtCore import QCoreApplication

from engine.api.conventions import CONVENTIONS, Convention, choice_of
from engine.api.methods import SAMPLER_FACTS
from engine.api.noise_rules import BatchSeeds, InitialNoise, RandomSource, SdeNoise
from engine.api.prompt_rules import Emphasis, PromptFeature, PromptGrammar, TextCleaning
from engine.api.values import ConventionName, SamplerName, ScheduleName

translate = QCoreApplication.translate


def QT_TRANSLATE_NOOP(_context: str, text: str) -> str:  # noqa: N802 (what Qt's tools look for)
    """Mark a text for translation and return it; it is translated when it is shown."""
    return text


# Labels of methods that are words; the others are the same in every language.
TRANSLATED_LABELS = (
    QT_TRANSLATE_NOOP("methods", "DPM fast"),
    QT_TRANSLATE_NOOP("methods", "DPM adaptive"),
    QT_TRANSLATE_NOOP("methods", "Normal"),
    QT_TRANSLATE_NOOP("methods", "Simple"),
    QT_TRANSLATE_NOOP("methods", "Uniform"),
    QT_TRANSLATE_NOOP("methods", "SGM Uniform"),
    QT_TRANSLATE_NOOP("methods", "Exponential"),
    QT_TRANSLATE_NOOP("methods", "Polyexponential"),
    QT_TRANSLATE_NOOP("methods", "KL Optimal"),
    QT_TRANSLATE_NOOP("methods", "Linear Quadratic"),
)


def method_name(method: SamplerName | ScheduleName) -> str:
    """Return the name of a sampler or a schedule."""
    return translate("methods", method.label) if method.label in TRANSLATED_LABELS else method.label


# The most popular samplers first; related samplers are next to each other.
SAMPLER_GROUPS: Mapping[str, tuple[SamplerName, ...]] = {
    QT_TRANSLATE_NOOP("methods", "Common"): (
        SamplerName.DPMPP_2M,
        SamplerName.EULER,
        SamplerName.EULER_ANCESTRAL,
        SamplerName.DPMPP_SDE,
        SamplerName.DPMPP_2M_SDE,
        SamplerName.UNIPC,
        SamplerName.DDIM,
    ),
    QT_TRANSLATE_NOOP("methods", "Few-step models"): (
        SamplerName.LCM,
        SamplerName.TCD,
    ),
    QT_TRANSLATE_NOOP("methods", "Deterministic"): (
        SamplerName.HEUN,
        SamplerName.LMS,
        SamplerName.DPM2,
        SamplerName.RES_MULTISTEP,
        SamplerName.DEIS,
        SamplerName.UNIPC_BH2,
        SamplerName.PLMS,
    ),
    QT_TRANSLATE_NOOP("methods", "Stochastic"): (
        SamplerName.DPM2_ANCESTRAL,
        SamplerName.DPMPP_2S_ANCESTRAL,
        SamplerName.DPMPP_2M_SDE_HEUN,
        SamplerName.DPMPP_3M_SDE,
        SamplerName.RESTART,
        SamplerName.DDPM,
    ),
    QT_TRANSLATE_NOOP("methods", "Adaptive"): (
        SamplerName.DPM_FAST,
        SamplerName.DPM_ADAPTIVE,
    ),
    QT_TRANSLATE_NOOP("methods", "CFG++"): (
        SamplerName.EULER_CFG_PP,
        SamplerName.EULER_ANCESTRAL_CFG_PP,
        SamplerName.DDIM_CFG_PP,
    ),
}
SCHEDULE_GROUPS: Mapping[str, tuple[ScheduleName, ...]] = {
    QT_TRANSLATE_NOOP("methods", "Common"): (
        ScheduleName.KARRAS,
        ScheduleName.NORMAL,
        ScheduleName.SGM_UNIFORM,
        ScheduleName.EXPONENTIAL,
        ScheduleName.SIMPLE,
        ScheduleName.BETA,
    ),
    QT_TRANSLATE_NOOP("methods", "More"): (
        ScheduleName.ALIGN_YOUR_STEPS,
        ScheduleName.KL_OPTIMAL,
        ScheduleName.POLYEXPONENTIAL,
        ScheduleName.UNIFORM,
        ScheduleName.DDIM,
        ScheduleName.LINEAR_QUADRATIC,
    ),
}
_SAMPLERS: Mapping[SamplerName, str] = {
    SamplerName.EULER: QT_TRANSLATE_NOOP("methods", "The simplest; soft and dependable."),
    SamplerName.EULER_ANCESTRAL: QT_TRANSLATE_NOOP(
        "methods", "Lively and soft, good in few steps."
    ),
    SamplerName.HEUN: QT_TRANSLATE_NOOP("methods", "Euler with each step corrected; exact."),
    SamplerName.LMS: QT_TRANSLATE_NOOP("methods", "Euler that looks back at earlier steps."),
    SamplerName.DPM2: QT_TRANSLATE_NOOP("methods", "Looks ahead to the middle of each step."),
    SamplerName.DPM2_ANCESTRAL: QT_TRANSLATE_NOOP(
        "methods", "DPM2 with noise; detailed and lively."
    ),
    SamplerName.DPM_FAST: QT_TRANSLATE_NOOP(
        "methods", "Takes three evaluations together; wants many steps."
    ),
    SamplerName.DPM_ADAPTIVE: QT_TRANSLATE_NOOP(
        "methods", "Finds its own steps, whatever their number in the form."
    ),
    SamplerName.DPMPP_2S_ANCESTRAL: QT_TRANSLATE_NOOP("methods", "Sharp, with a look ahead."),
    SamplerName.DPMPP_2M: QT_TRANSLATE_NOOP("methods", "Sharp and quick; right for most."),
    SamplerName.DPMPP_SDE: QT_TRANSLATE_NOOP("methods", "Rich in detail in few steps."),
    SamplerName.DPMPP_2M_SDE: QT_TRANSLATE_NOOP("methods", "As DPM++ 2M, with richer detail."),
    SamplerName.DPMPP_2M_SDE_HEUN: QT_TRANSLATE_NOOP(
        "methods", "As DPM++ 2M SDE, otherwise corrected."
    ),
    SamplerName.DPMPP_3M_SDE: QT_TRANSLATE_NOOP(
        "methods", "Looks further back; wants 30 steps or more."
    ),
    SamplerName.RESTART: QT_TRANSLATE_NOOP(
        "methods", "Goes back and over some steps again; exact."
    ),
    SamplerName.RES_MULTISTEP: QT_TRANSLATE_NOOP(
        "methods", "Looks back at one step; close to DPM++ 2M."
    ),
    SamplerName.DEIS: QT_TRANSLATE_NOOP("methods", "Looks back at earlier steps; good in few."),
    SamplerName.UNIPC: QT_TRANSLATE_NOOP("methods", "Predicts and corrects; good in few steps."),
    SamplerName.UNIPC_BH2: QT_TRANSLATE_NOOP(
        "methods", "UniPC by another of its paper's formulas."
    ),
    SamplerName.PLMS: QT_TRANSLATE_NOOP("methods", "What the first release came with."),
    SamplerName.DDIM: QT_TRANSLATE_NOOP("methods", "One of the first; soft and predictable."),
    SamplerName.DDPM: QT_TRANSLATE_NOOP(
        "methods", "Back along the way of the training; wants many steps."
    ),
    SamplerName.EULER_CFG_PP: QT_TRANSLATE_NOOP("methods", "Euler for guidance from 0 to 2."),
    SamplerName.EULER_ANCESTRAL_CFG_PP: QT_TRANSLATE_NOOP(
        "methods", "Euler a for guidance from 0 to 2."
    ),
    SamplerName.DDIM_CFG_PP: QT_TRANSLATE_NOOP(
        "methods", "DDIM with guidance that stays closer to real pictures."
    ),
    SamplerName.LCM: QT_TRANSLATE_NOOP("methods", "For LCM models: 2 to 8 steps, low guidance."),
    SamplerName.TCD: QT_TRANSLATE_NOOP("methods", "For TCD models: 4 to 8 steps, low guidance."),
}
_SCHEDULES: Mapping[ScheduleName, str] = {
    ScheduleName.NORMAL: QT_TRANSLATE_NOOP("methods", "Even in the time of the training."),
    ScheduleName.KARRAS: QT_TRANSLATE_NOOP(
        "methods", "More steps where detail appears; right for most."
    ),
    ScheduleName.SIMPLE: QT_TRANSLATE_NOOP(
        "methods", "Every so many levels of the training, from the top."
    ),
    ScheduleName.SGM_UNIFORM: QT_TRANSLATE_NOOP(
        "methods", "As Normal without its last level; for few steps."
    ),
    ScheduleName.BETA: QT_TRANSLATE_NOOP("methods", "More steps at both ends."),
    ScheduleName.EXPONENTIAL: QT_TRANSLATE_NOOP(
        "methods", "Each level the same part of the one before; for SDE samplers."
    ),
    ScheduleName.POLYEXPONENTIAL: QT_TRANSLATE_NOOP("methods", "Exponential with a bend."),
    ScheduleName.KL_OPTIMAL: QT_TRANSLATE_NOOP("methods", "Computed to lose little in few steps."),
    ScheduleName.ALIGN_YOUR_STEPS: QT_TRANSLATE_NOOP("methods", "Found by NVIDIA for 10 steps."),
    ScheduleName.UNIFORM: QT_TRANSLATE_NOOP("methods", "As Normal, counted as k-diffusion does."),
    ScheduleName.DDIM: QT_TRANSLATE_NOOP("methods", "The spacing that DDIM came with."),
    ScheduleName.LINEAR_QUADRATIC: QT_TRANSLATE_NOOP(
        "methods", "Half of the steps in the highest noise, then ever larger ones."
    ),
}


_LESS_LEVELS = QT_TRANSLATE_NOOP("methods", "without the next-to-last level")
_WITHOUT_COMMENTS = QT_TRANSLATE_NOOP("methods", "# as text")
_WEIGHTS_ONLY = QT_TRANSLATE_NOOP("methods", "no signs but brackets")
_ALL_LEVELS = QT_TRANSLATE_NOOP("methods", "with the next-to-last level")
_ADJUSTED: Mapping[tuple[str, object], str] = {
    ("grammar", PromptGrammar.LITERAL): QT_TRANSLATE_NOOP("methods", "brackets as text"),
    ("emphasis", Emphasis.NO_NORM): QT_TRANSLATE_NOOP("methods", "weights without norm"),
    ("emphasis", Emphasis.LITERAL): QT_TRANSLATE_NOOP("methods", "weights not read"),
    ("emphasis", Emphasis.NONE): QT_TRANSLATE_NOOP("methods", "weights without effect"),
    ("text_cleaning", TextCleaning.NONE): QT_TRANSLATE_NOOP("methods", "characters as written"),
    ("initial_noise", InitialNoise.VARIANCE): QT_TRANSLATE_NOOP("methods", "SGM noise multiplier"),
    ("random_source", RandomSource.CUDA): QT_TRANSLATE_NOOP("methods", "a graphics card's noise"),
    ("step_source", RandomSource.CUDA): QT_TRANSLATE_NOOP(
        "methods", "a graphics card's noise in the steps"
    ),
    ("step_source", RandomSource.CPU): QT_TRANSLATE_NOOP(
        "methods", "the processor's noise in the steps"
    ),
    ("sde_noise", SdeNoise.STREAM): QT_TRANSLATE_NOOP(
        "methods", "SDE noise from the seed's stream"
    ),
    ("batch_seeds", BatchSeeds.SUCCESSIVE): QT_TRANSLATE_NOOP("methods", "a seed for each picture"),
    ("batch_seeds", BatchSeeds.ONE_STREAM): QT_TRANSLATE_NOOP("methods", "one seed for the batch"),
}


def group_label(name: str) -> str:
    """Return the heading of a group of samplers or schedules."""
    return translate("methods", name)


def sampler_about(name: SamplerName) -> str:
    """Return a description of a sampler in two or three sentences."""
    facts = SAMPLER_FACTS[name]
    parts = [translate("methods", _SAMPLERS[name])]
    match facts.adds_noise:
        case True:
            parts.append(translate("methods", "Adds noise: more steps change the picture."))
        case False:
            parts.append(translate("methods", "Adds no noise: more steps refine the picture."))
        case None:
            parts.append(translate("methods", "Adds noise in AUTOMATIC1111, none elsewhere."))
    if facts.evaluations > 1:
        parts.append(translate("methods", "A step takes twice as long."))
    return " ".join(parts)


def schedule_about(name: ScheduleName) -> str:
    """Return a description of a schedule: its spacing of the noise levels."""
    return translate("methods", _SCHEDULES[name])


def tool_label(chosen: ConventionName | Convention) -> str:
    """Return the name of a tool, with a note if some conventions are not its usual ones."""
    chosen = choice_of(chosen) if isinstance(chosen, Convention) else chosen
    if isinstance(chosen, ConventionName):
        return chosen.label
    return translate("methods", "{tool}, adjusted").format(tool=chosen.name.label)


def tool_about(chosen: ConventionName | Convention) -> str:
    """Return a description of a tool's conventions, and those that differ from its usual ones."""
    if isinstance(chosen, ConventionName):
        return _habits(chosen)
    changes = adjustments(chosen)
    if not changes:
        return _habits(chosen.name)
    text = translate("methods", "{tool} as the picture was made with it: {changes}.")
    return text.format(tool=chosen.name.label, changes=", ".join(changes))


def _habits(name: ConventionName) -> str:
    return {
        ConventionName.A1111: translate(
            "methods", "Prompts, noise and steps as in AUTOMATIC1111 with noise from the processor."
        ),
        ConventionName.COMFY: translate("methods", "Prompts, noise and steps as in ComfyUI."),
        ConventionName.DIFFUSERS: translate(
            "methods", "As a diffusers script: brackets are text, and 75 tokens are read."
        ),
        ConventionName.INVOKE: translate(
            "methods", "Prompts, noise and steps as in InvokeAI, where word++ counts more."
        ),
    }[name]


def adjustments(convention: Convention) -> list[str]:
    """Return the conventions that differ from the tool's usual ones."""
    usual = CONVENTIONS[convention.name]
    changed = {
        name: getattr(convention, name)
        for name in Convention.__struct_fields__
        if getattr(convention, name) != getattr(usual, name)
    }
    # One line is enough if both generators changed to the same one.
    if changed.get("random_source") is changed.get("step_source"):
        changed.pop("step_source", None)
    return [_adjusted(name, value, usual) for name, value in changed.items()]


def _adjusted(name: str, value: object, usual: Convention) -> str:
    if name == "discards_next_to_last":
        more = set(cast("tuple[object, ...]", value)) > set(usual.discards_next_to_last)
        text = _LESS_LEVELS if more else _ALL_LEVELS
    elif name == "prompt_features":
        lacking = set(usual.prompt_features) - set(cast("tuple[object, ...]", value))
        text = _WITHOUT_COMMENTS if lacking == {PromptFeature.COMMENTS} else _WEIGHTS_ONLY
    else:
        text = _ADJUSTED.get((name, value), "")
    # A change that no reader of metadata makes has no text: show the field's name.
    return translate("methods", text) if text else f"{name.replace('_', ' ')} {value}"
