"""The user's files as entries to choose from: those of layers and of second passes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.form.layer_list import LayerList, LayerRow
from app.session import Session
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.second_passes import LatentUpscaler, Resampling
from engine.api.weight_suffixes import weights_name
from ui.checkpoint_labels import model_about
from ui.labels import checkpoint_label
from ui.layer_labels import file_title, layer_name, misfit_words
from ui.model_labels import families_label, model_line
from ui.panels.file_choice import FileEntry, FileGroup
from ui.second_pass_labels import upscaler_words

translate = QCoreApplication.translate


def layer_files(session: Session, layers: LayerList, row: LayerRow) -> list[FileGroup]:
    """Return the files of a layer's kind, described by `ModelInfo`: first what suits the model."""
    kind, offered = layers.kind, layers.offered
    stated = kind.file_of(row.layer)
    own: list[FileEntry] = []
    itself = layers.own_features is not None
    if stated is None and not itself:
        own.append(FileEntry(translate("files", "None yet"), None))
    elif stated is not None and row.info not in offered:
        # In no listed folder, or of another kind than it should be.
        own.append(FileEntry(layer_name(kind, row), row.info, stated))
    if itself:
        about = translate("files", "It was trained to follow such a map, and needs no network.")
        own.append(FileEntry(translate("files", "The model itself"), None, about))
    suited = [info for info in offered if layers.suits(info)]
    others = [info for info in offered if not layers.suits(info)]
    return [
        FileGroup("", (*own, *_entries(session, suited, lambda info: info))),
        FileGroup(
            translate("files", "Not for this model"),
            tuple(
                FileEntry(file_title(path), path, misfit(session, layers, path)) for path in others
            ),
        ),
    ]


def misfit(session: Session, layers: LayerList, info: ModelInfo) -> str:
    """Return why a file does not suit the checkpoint."""
    title = session.checkpoints.family_title
    return misfit_words(info, families_label(info, title), title(layers.family or ""))


def encoder_files(session: Session, chosen: str | None) -> list[FileGroup]:
    """Return the vision encoders by their paths; None is the one that fits the adapter."""
    fitting = translate("files", "It is looked for among your files.")
    first = FileEntry(translate("files", "The fitting one"), None, fitting)
    encoders = usable(session, ModelKind.VISION_ENCODER)
    entries = _entries(session, encoders, lambda info: info.path)
    return [FileGroup("", (first, *_elsewhere(chosen, entries), *entries))]


def checkpoint_files(session: Session, chosen: str | None) -> list[FileGroup]:
    """Return the checkpoints by their paths; None is that of the pass before."""
    first = FileEntry(translate("files", "The same model"), None)
    entries = [
        FileEntry(checkpoint_label(entry), str(entry.path), model_about(session, entry))
        for entry in session.checkpoints.entries
    ]
    return [FileGroup("", (first, *_elsewhere(chosen, entries), *entries))]


def upscaler_files(session: Session, chosen: str) -> list[FileGroup]:
    """Return the ways to enlarge: those of the latent, those of the picture, the user's files."""
    files = _entries(session, usable(session, ModelKind.UPSCALER), lambda info: info.path)
    latent = tuple(_way(upscaler.value) for upscaler in LatentUpscaler)
    picture = tuple(_way(method.value) for method in Resampling)
    own = _elsewhere(chosen, (*latent, *picture, *files))
    return [
        FileGroup("", latent),
        FileGroup(translate("files", "The picture itself"), picture),
        FileGroup(translate("files", "Your upscalers"), (*own, *files)),
    ]


def _way(upscaler: str) -> FileEntry:
    words, about = upscaler_words(upscaler)
    return FileEntry(words, upscaler, about)


def usable(session: Session, kind: ModelKind) -> list[ModelInfo]:
    """Return the listed files of a kind that can be used, by name."""
    found = (
        model for model in session.models.store.models if model.kind is kind and not model.problem
    )
    return sorted(found, key=lambda model: model.name.lower())


def _entries(
    session: Session, infos: Sequence[ModelInfo], value: Callable[[ModelInfo], object]
) -> list[FileEntry]:
    """Return entries for files; of those that have one name the line begins with the folder."""
    titles = Counter(map(file_title, infos))
    return [
        FileEntry(
            file_title(info), value(info), _about(session, info, titles[file_title(info)] > 1)
        )
        for info in infos
    ]


def _about(session: Session, info: ModelInfo, is_shared: bool) -> str:
    family = families_label(info, session.checkpoints.family_title)
    folder = translate("checkpoints", "in {folder}").format(folder=Path(info.path).parent)
    return " · ".join(filter(None, (folder if is_shared else "", model_line(info, family))))


def _elsewhere(chosen: str | None, listed: Iterable[FileEntry]) -> list[FileEntry]:
    """Return an entry for a file in no list."""
    if chosen is None or any(entry.value == chosen for entry in listed):
        return []
    return [FileEntry(weights_name(chosen), chosen, chosen)]
