"""Facts about LoRA files in the user's language."""

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication, QLocale

from app.form.lora_list import LoraFate, LoraRow, NamedLora
from app.notices.wording import worded
from engine.api.lora import LoraChoice
from engine.api.lora_files import FewStepSettings, LoraInfo
from engine.api.reasons import known_kind
from engine.api.weight_suffixes import weights_name
from ui.labels import files_label, steps_label
from ui.method_labels import method_name

translate = QCoreApplication.translate

# A1111 and Civitai show this many digits of a hash.
_DIGITS = 12


def lora_name(info: LoraInfo) -> str:
    """Return the name of a file without its folder."""
    return info.name.rpartition("/")[2]


def choice_name(choice: LoraChoice, info: LoraInfo | None) -> str:
    """Return the name of a LoRA of the form, also if its file is missing."""
    return weights_name(choice.file) if info is None else lora_name(info)


def place_words(info: LoraInfo, alike: Iterable[LoraInfo]) -> str:
    """Return the end of the folder's path that tells a file from others of its name."""
    own = _folders(info)
    others = [_folders(lora) for lora in alike if lora.path != info.path]
    for count in range(1, len(own)):
        if all(folders[-count:] != own[-count:] for folders in others):
            return "/".join(own[-count:])
    return "/".join(own)


def _folders(info: LoraInfo) -> list[str]:
    return info.path.replace("\\", "/").split("/")[:-1]


def lora_summary(info: LoraInfo, family: str) -> str:
    """Return the base model or the family's title, the rank, and what else there is to say."""
    parts = [info.base_model or family]
    if info.rank is not None:
        parts.append(translate("loras", "rank {n}").format(n=info.rank))
    parts.append(_few_steps(info))
    return " · ".join(part for part in parts if part)


def _few_steps(info: LoraInfo) -> str:
    if info.few_steps is None:
        return ""
    return translate("loras", "few steps: {title}").format(title=info.few_steps.title)


def card_words(info: LoraInfo, family: str, *, is_suited: bool) -> str:
    """Return the short line below a card's name; `family` is the title of the LoRA's family."""
    if info.is_embedding:
        return translate("loras", "an embedding")
    if info.problem:
        return translate("loras", "cannot be used")
    if not is_suited:
        return purpose_words(info, family)
    parts = [info.base_model or family, _few_steps(info)]
    return " · ".join(part for part in parts if part)


def fate_words(row: LoraRow, family: str, checkpoint_family: str) -> str:
    """Return the reason why a LoRA or its own file is not applied, or empty if it is.

    `family` is the title of the LoRA's family, `checkpoint_family` that of the checkpoint's.
    """
    match row.fate:
        case LoraFate.UNSUITED:
            text = translate("loras", "Not applied: it is {purpose}, and the model is {family}.")
            purpose = purpose_words(row.info, family) if row.info is not None else ""
            return text.format(purpose=purpose, family=checkpoint_family)
        case LoraFate.BROKEN:
            problem = row.info.problem if row.info is not None else ""
            return translate("loras", "Not applied: {problem}").format(problem=worded(problem))
        case LoraFate.MISSING if row.choice.hash:
            text = translate("loras", "Its file is not found; its hash is {digits}.")
            return text.format(digits=row.choice.hash[:_DIGITS])
        case LoraFate.MISSING:
            return translate("loras", "Its file is not found.")
        case LoraFate.APPLIED if row.is_found_by_name and row.info is not None:
            text = translate(
                "loras", "Its file is not there; the one of its name in {folder} is used."
            )
            return text.format(folder="/".join(_folders(row.info)))
        case LoraFate.OFF:
            return translate("loras", "Switched off.")
        case _:
            return ""


def lost_words(named: NamedLora) -> str:
    """Return a sentence about a LoRA that the prompt names and that is not found."""
    if not named.hash:
        return translate("loras", "The prompt names {name}, which is not found.").format(
            name=named.name[:80]
        )
    text = translate("loras", "The prompt names {name}, which is not found; its hash is {digits}.")
    return text.format(name=named.name[:80], digits=named.hash[:_DIGITS])


def shared_words(named: NamedLora, taken: LoraInfo) -> str:
    """Return a sentence about a LoRA of the prompt whose name several files have."""
    text = translate(
        "loras", "The prompt names {name}: of {n} files of this name that in {folder} is used."
    )
    return text.format(
        name=named.name[:80], n=len(named.alike), folder=place_words(taken, named.alike)[-80:]
    )


def few_steps_words(settings: FewStepSettings) -> str:
    """Return the text of the button that uses a LoRA's settings."""
    text = translate("loras", "Use its settings: {title}, {steps}, guidance {guidance}")
    guidance = QLocale().toString(settings.guidance, "g", 3)
    steps = steps_label(settings.steps)
    return text.format(title=method_name(settings.sampler), steps=steps, guidance=guidance)


def purpose_words(info: LoraInfo, family: str) -> str:
    """Return what a file is for, with the article; `family` is the title of its family."""
    if family:
        return translate("loras", "a LoRA for {family}").format(family=family)
    # The engine's own words for a family that it does not run.
    return worded(known_kind(info.purpose)) or translate("loras", "a LoRA")


def refusal_words(info: LoraInfo, family: str, checkpoint_family: str) -> str:
    """Return the reason why a file cannot be added; the families are titles."""
    if info.problem:
        return translate("loras", "{problem} It cannot be added.").format(
            problem=worded(info.problem)
        )
    text = translate("loras", "{name} is {purpose}, and the model is {family}: it cannot be added.")
    return text.format(
        name=lora_name(info), purpose=purpose_words(info, family), family=checkpoint_family
    )


def count_words(shown: int, count: int, unread: int) -> str:
    """Return how many files there are, how many of them are shown, and how many are being read."""
    locale = QLocale()
    parts = [files_label(count)]
    if shown != count:
        parts = [
            translate("loras", "{n} of {count} files").format(
                n=locale.toString(shown), count=locale.toString(count)
            )
        ]
    if unread:
        parts.append(translate("loras", "reading {n}").format(n=locale.toString(unread)))
    return " · ".join(parts)


def folder_words(folder: str, count: int, *, is_known: bool) -> str:
    """Return a folder's line in the list of folders."""
    if not is_known:
        return folder
    return translate("loras", "{folder} ({files})").format(folder=folder, files=files_label(count))
