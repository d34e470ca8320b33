"""The folders Safelight uses, per operating system; settings and the environment can move them."""

import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import msgspec
import platformdirs

from app.settings.reading import FILE, read_settings
from app.settings.values import Settings
from app.versions.folders import versions_folder
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.file_paths import exists, is_folder, is_too_long


class Paths(msgspec.Struct, frozen=True):
    """The folders of the application. None of them need exist."""

    # Pictures, always where the user looks for pictures.
    output: Path
    # Files that can be made again, such as working copies of weights.
    cache: Path
    # Checkpoints the user put aside for Safelight.
    models: Path
    # Lists of words that prompts name: `__animals__` is a line of animals.txt.
    wildcards: Path
    # Safelight's own files that outlive a session: the queue's journal, the lock.
    state: Path
    logs: Path
    # The file of the settings.
    config: Path
    # Runtimes that are installed on demand.
    packs: Path
    # Versions beside the installed one.
    versions: Path
    # Folders of LoRAs, or of other tools that have some, beside the usual ones below `models`.
    loras: tuple[Path, ...] = ()
    # Folders of embeddings, beside the usual ones at `models`.
    embeddings: tuple[Path, ...] = ()


def find_paths(environment: Mapping[str, str] = os.environ) -> Paths:
    """Return the system's folders, or those that SAFELIGHT_OUTPUT, SAFELIGHT_CACHE,
    SAFELIGHT_MODELS, SAFELIGHT_WILDCARDS, SAFELIGHT_STATE, SAFELIGHT_LOGS, SAFELIGHT_CONFIG,
    SAFELIGHT_PACKS and SAFELIGHT_VERSIONS name.

    The settings move the folders of pictures, models and wildcards where no variable does.
    SAFELIGHT_LORAS and SAFELIGHT_EMBEDDINGS name several folders each, which the system's separator
    of paths separates. Raises EngineError(REQUEST_INVALID) as `typed_path` does."""

    def folder(variable: str, default: Path) -> Path:
        value = environment.get(variable)
        return typed_path(value) if value else default

    def folders(variable: str) -> tuple[Path, ...]:
        named = environment.get(variable, "").split(os.pathsep)
        return tuple(typed_path(folder) for folder in named if folder)

    data = platformdirs.user_data_path("safelight", appauthor=False)
    usual = usual_folders()
    config = folder("SAFELIGHT_CONFIG", platformdirs.user_config_path("safelight", appauthor=False))
    settings = read_settings(config / FILE).settings
    return Paths(
        output=pictures_folder(settings, environment),
        cache=folder("SAFELIGHT_CACHE", platformdirs.user_cache_path("safelight", appauthor=False)),
        models=folder("SAFELIGHT_MODELS", set_path(settings.models_folder, usual["models_folder"])),
        wildcards=folder(
            "SAFELIGHT_WILDCARDS", set_path(settings.wildcards_folder, usual["wildcards_folder"])
        ),
        state=folder("SAFELIGHT_STATE", platformdirs.user_state_path("safelight", appauthor=False)),
        logs=folder("SAFELIGHT_LOGS", platformdirs.user_log_path("safelight", appauthor=False)),
        config=config,
        packs=folder("SAFELIGHT_PACKS", data / "packs"),
        versions=Path(versions_folder(environment)),
        loras=folders("SAFELIGHT_LORAS"),
        embeddings=folders("SAFELIGHT_EMBEDDINGS"),
    )


def pictures_folder(settings: Settings, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of new pictures; SAFELIGHT_OUTPUT comes before the settings.

    Raises EngineError(REQUEST_INVALID) as `typed_path` does."""
    if value := environment.get("SAFELIGHT_OUTPUT"):
        return typed_path(value)
    return set_path(settings.pictures_folder, usual_folders()["pictures_folder"])


def usual_folders() -> dict[str, Path]:
    """Return the system's folders by the names of the settings that move them."""
    data = platformdirs.user_data_path("safelight", appauthor=False)
    return {
        "pictures_folder": platformdirs.user_pictures_path() / "Safelight",
        "models_folder": data / "models",
        "wildcards_folder": data / "wildcards",
    }


def set_path(text: str, usual: Path) -> Path:
    """Return a folder of the settings, from the home folder on; `usual` if it makes no sense."""
    try:
        return Path.home() / typed_text(text) if text else usual
    except (EngineError, RuntimeError):
        return usual


def typed_path(text: str) -> Path:
    """Return a typed path as absolute; `~` is the user's home folder, `~name` another's.

    Raises EngineError(REQUEST_INVALID) for an unknown home folder or a name that is too long.
    """
    return Path(typed_text(text)).absolute()


def file_or_name(text: str) -> str:
    """Return a typed file as an absolute path; a bare name of no file here as it is.

    Such names are looked for in the folders of models. Raises as `typed_path`.
    """
    path = typed_path(text)
    return text if Path(text).name == text and not exists(path) else str(path)


def typed_text(text: str) -> str:
    """Expand `~` as `typed_path` does; keep a path relative, and keep a separator at its end."""
    expanded = os.path.expanduser(text)  # noqa: PTH111 (pathlib's raises, and drops the separator)
    if expanded.startswith("~") and not exists(expanded):
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "There is no home folder {beginning!r} stands for.", beginning=_beginning(text)
            ),
            sentence("Write the whole path; of a file that is called so, begin it with ./"),
        )
    if is_too_long(expanded):
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The name {beginning!r} is longer than this system takes.",
                beginning=_beginning(text),
            ),
            sentence("Choose a shorter one."),
        )
    return expanded


def nearest_folder(wanted: Path) -> str:
    """Return `wanted` if that folder exists, else its nearest parent that does.

    A file dialog takes the last part of a missing path for a file name.
    """
    there = filter(is_folder, (wanted, *wanted.parents))
    return str(next(there, wanted))


def _beginning(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def starter_checkpoint() -> Path:
    """Return the path of the model that ships with Safelight."""
    return Path(str(resources.files("starter") / "safelight-starter"))
