"""Facts about models in the user's language."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale

from app.commands.models import model_name
from app.library.checkpoints import STARTER_NAME, ListedCheckpoint
from app.library.tool_folders import MOST_COUNTED, ToolFolder
from app.notices.wording import worded
from app.session import Session
from engine.api.model_files import ModelInfo, ModelKind
from ui.checkpoint_labels import part_label
from ui.first_postcards import POSTCARDS, picture_file
from ui.labels import checkpoint_label, file_size, files_label

translate = QCoreApplication.translate

ICONS = {
    ModelKind.CHECKPOINT: "model",
    ModelKind.LORA: "layers",
    ModelKind.EMBEDDING: "quote",
    ModelKind.UPSCALER: "grow",
}
OTHER_ICON = "part"


def name_label(session: Session, model: ModelInfo) -> str:
    """Return the name of a model as people know it."""
    if session.models.store.is_starter(model):
        return checkpoint_label(ListedCheckpoint(STARTER_NAME, Path(model.path)))
    return model_name(model)


def preview_of(session: Session, model: ModelInfo) -> str:
    """Return the path of a model's picture; empty without one. The starter's is a postcard."""
    is_starter = session.models.store.is_starter(model)
    return str(picture_file(POSTCARDS[0])) if is_starter else model.preview


def kind_label(kind: ModelKind) -> str:
    """Return the name of a kind of file, for one of them."""
    return {
        ModelKind.CHECKPOINT: translate("models", "Model"),
        ModelKind.LORA: translate("models", "LoRA"),
        ModelKind.EMBEDDING: translate("models", "Embedding"),
        ModelKind.VAE: translate("models", "VAE"),
        ModelKind.TEXT_ENCODER: translate("models", "Text encoder"),
        ModelKind.DENOISER: translate("models", "Denoiser (UNet or transformer)"),
        ModelKind.CONTROLNET: translate("models", "ControlNet"),
        ModelKind.IP_ADAPTER: translate("models", "IP-Adapter"),
        ModelKind.VISION_ENCODER: translate("models", "Vision encoder"),
        ModelKind.UPSCALER: translate("models", "Upscaler"),
        ModelKind.OTHER: translate("models", "Other"),
    }[kind]


def kinds_label(kind: ModelKind) -> str:
    """Return the name of a kind of file, for all of them."""
    return {
        ModelKind.CHECKPOINT: translate("models", "Models"),
        ModelKind.LORA: translate("models", "LoRAs"),
        ModelKind.EMBEDDING: translate("models", "Embeddings"),
        ModelKind.VAE: translate("models", "VAEs"),
        ModelKind.TEXT_ENCODER: translate("models", "Text encoders"),
        ModelKind.DENOISER: translate("models", "Denoisers (UNets)"),
        ModelKind.CONTROLNET: translate("models", "ControlNets"),
        ModelKind.IP_ADAPTER: translate("models", "IP-Adapters"),
        ModelKind.VISION_ENCODER: translate("models", "Vision encoders"),
        ModelKind.UPSCALER: translate("models", "Upscalers"),
        ModelKind.OTHER: translate("models", "Others"),
    }[kind]


def families_label(model: ModelInfo, title: Callable[[str], str]) -> str:
    """Return the titles of a model's families, else its base model as its metadata gives it."""
    return " / ".join(map(title, model.families)) or model.base_model


def upscaler_about(model: ModelInfo) -> str:
    """Return an upscaler's architecture, and how much larger it makes a picture."""
    if not model.scale:
        return ""
    if model.scale == 1:
        text = translate("models", "{architecture}, cleans a picture and keeps its size")
    else:
        text = translate("models", "{architecture}, makes each side {n} times as long")
    return text.format(architecture=model.variant, n=model.scale)


def model_size(model: ModelInfo) -> str:
    """Return the size on the disk; empty for a folder whose files were not read yet."""
    return file_size(model.size) if model.size or model.is_read else ""


def model_line(model: ModelInfo, family: str) -> str:
    """Return the short line below a model's name."""
    size = model_size(model)
    if not model.is_read:
        return size
    lacks = ", ".join(map(part_label, model.missing))
    missing = translate("models", "{part} is missing").format(part=lacks) if lacks else ""
    upscaler = f"{model.variant} · {model.scale}x" if model.scale else ""
    parts = (missing, family, upscaler, size, "/".join(model.precisions[:2]))
    return " · ".join(filter(None, parts))


def problem_line(model: ModelInfo) -> str:
    """Return why a model cannot be used, without its name at the beginning."""
    name = model.path.replace("\\", "/").rpartition("/")[2]
    words = worded(model.problem).removeprefix(name).strip()
    return words[:1].upper() + words[1:]


def tool_label(offer: ToolFolder) -> str:
    """Return the name of another program, with the number of files in its folder of models."""
    count = files_label(offer.files)
    if offer.files >= MOST_COUNTED:
        count = translate("models", "more than {n}").format(n=count)
    return f"{offer.tool} · {count}"


def count_label(shown: int, count: int, unread: int) -> str:
    """Return how many files there are, how many of them are shown, and how many are being read."""
    locale = QLocale()
    if shown == count:
        parts = [files_label(count)]
    else:
        text = translate("models", "{n} of {count} files")
        parts = [text.format(n=locale.toString(shown), count=locale.toString(count))]
    if unread:
        parts.append(translate("models", "reading {n}").format(n=locale.toString(unread)))
    return " · ".join(parts)


def use_label(kind: ModelKind) -> str:
    """Return the text of the button that puts a model into the form."""
    match kind:
        case ModelKind.LORA:
            return translate("models", "Add to the picture")
        case ModelKind.EMBEDDING:
            return translate("models", "Add to the prompt")
        case ModelKind.VAE:
            return translate("models", "Use with the chosen model")
        case ModelKind.CONTROLNET:
            return translate("models", "Follow a picture with it")
        case ModelKind.IP_ADAPTER:
            return translate("models", "Use for an image prompt")
        case ModelKind.VISION_ENCODER:
            return translate("models", "Use for image prompts")
        case ModelKind.UPSCALER:
            return translate("models", "Enlarge pictures with it")
        case _:
            return translate("models", "Use this model")
