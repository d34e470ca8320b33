"""Facts about a checkpoint in the user's language; the evidence is in the engine's words."""

from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication, QLocale

from app.library.checkpoints import ListedCheckpoint
from app.notices.wording import worded
from app.session import Session
from engine.api.checkpoints import CheckpointInfo, ComponentInfo, FittingFile
from engine.api.request import ComponentFiles
from engine.api.values import PredictionType
from ui.labels import file_size

translate = QCoreApplication.translate


def prediction_label(prediction: PredictionType) -> str:
    """Return the name of a prediction type."""
    return {
        PredictionType.EPSILON: translate("checkpoints", "epsilon"),
        PredictionType.V: translate("checkpoints", "v (velocity)"),
        PredictionType.SAMPLE: translate("checkpoints", "the picture"),
        PredictionType.EDM: translate("checkpoints", "as in EDM"),
        PredictionType.EDM_V: translate("checkpoints", "v, as in EDM"),
        PredictionType.FLOW: translate("checkpoints", "flow"),
    }[prediction]


def prediction_about(prediction: PredictionType) -> str:
    """Return a sentence about a prediction type: which models have it."""
    return {
        PredictionType.EPSILON: translate("checkpoints", "The noise: most models."),
        PredictionType.V: translate(
            "checkpoints", "Stable Diffusion 2 at 768 pixels, and models called v-pred."
        ),
        PredictionType.SAMPLE: translate("checkpoints", "Few models, and some distilled ones."),
        PredictionType.EDM: translate("checkpoints", "Models such as Playground 2.5."),
        PredictionType.EDM_V: translate("checkpoints", "Models such as CosXL."),
        PredictionType.FLOW: translate("checkpoints", "Models on straight paths, such as Flux."),
    }[prediction]


def family_about(session: Session, family: str) -> str:
    """Return a sentence about a family of models; empty for one that the engine does not know."""
    known = (named.about for named in session.checkpoints.families if named.name == family)
    return worded(next(known, ""))


def model_about(session: Session, entry: ListedCheckpoint) -> str:
    """Return a line about a model to choose: its family and size where known, and its folder."""
    if entry.path == session.checkpoints.starter:
        return translate("checkpoints", "Small, quick and always there: it comes with Safelight.")
    family, size = "", 0
    answer = session.checkpoints.answer(entry.path)
    listed = session.models.store.info(str(entry.path))
    if isinstance(answer, CheckpointInfo):
        family, size = answer.family, sum(part.bytes for part in answer.components)
    elif listed is not None:
        family, size = next(iter(listed.families), ""), listed.size
    title = session.checkpoints.family_title(family) if family else ""
    folder = translate("checkpoints", "in {folder}").format(folder=entry.path.parent)
    return " · ".join(filter(None, (title, file_size(size) if size else "", folder)))


def part_label(component: str) -> str:
    """Return the name of a part, capitalized for the beginning of a line."""
    return {
        "text_encoder": translate("checkpoints", "Text encoder"),
        "text_encoder_2": translate("checkpoints", "Second text encoder"),
        "text_encoder_3": translate("checkpoints", "Third text encoder"),
        "denoiser": translate("checkpoints", "Denoiser (UNet or transformer)"),
        "vae": translate("checkpoints", "VAE"),
    }.get(component, component)


def part_summary(part: ComponentInfo) -> str:
    """Return the size and the number type of a part."""
    return " · ".join((_weights(part.parameters), file_size(part.bytes), "/".join(part.precisions)))


def _weights(count: int) -> str:
    millions = round(count / 1e6)
    if millions == 1:
        return translate("checkpoints", "1 million weights")
    if millions < 1000:
        text = translate("checkpoints", "{n} million weights")
        return text.format(n=QLocale().toString(millions))
    text = translate("checkpoints", "{n} billion weights")
    return text.format(n=QLocale().toString(count / 1e9, "f", 1))


def fit_label(fit: FittingFile, models: Path, family: str) -> str:
    """Return a fitting file's path below the models folder, and its family's title, if any."""
    path = Path(fit.path)
    near = path.relative_to(models) if path.is_relative_to(models) else Path(path.name)
    name = str(near.with_suffix("")) if path.suffix == ".safetensors" else str(near)
    if not fit.family:
        return name
    of = translate("checkpoints", "{name} (of this {family} model)")
    return of.format(name=name, family=family)


def given_parts(components: ComponentFiles) -> str:
    """Return the replacement files of parts in one line; empty if there are none."""
    files = msgspec.structs.asdict(components)
    parts = [f"{part_label(part)}: {Path(file).name}" for part, file in files.items() if file]
    return " · ".join(parts)


def prediction_line(info: CheckpointInfo) -> str:
    """Return the denoiser's prediction type, with a note if it is a guess."""
    label = prediction_label(PredictionType(info.prediction))
    if info.prediction_is_stated:
        return label
    open_ = translate("checkpoints", "{what} (to be confirmed by the first picture)")
    return open_.format(what=label)
