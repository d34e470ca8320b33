"""The checkpoints a person can choose by name: the starter, and those in the models folder."""

from dataclasses import dataclass
from pathlib import Path

from app.paths import typed_path

STARTER_NAME = "starter"
_SUFFIX = ".safetensors"
# PyTorch's; .pt and .bin files are other things more often than checkpoints.
_TORCH_SUFFIX = ".ckpt"


@dataclass(frozen=True, slots=True)
class ListedCheckpoint:
    """A checkpoint by the name `--model` takes; its content has not been looked at."""

    name: str
    path: Path


def list_checkpoints(models: Path, starter: Path) -> list[ListedCheckpoint]:
    """The starter first, then files and diffusers folders below `models`, by name."""
    found = [ListedCheckpoint(STARTER_NAME, starter)]
    if models.is_dir():
        paths = (path for path in models.rglob("*") if _is_candidate(path))
        found += [ListedCheckpoint(_name(path, models), path) for path in sorted(paths)]
    return found


def find_checkpoint(wanted: str | None, models: Path, starter: Path) -> Path:
    """The path for `--model`: of a listed name, else the path itself; the starter without one.

    Where a file is called like a listed checkpoint, `./name` is the file.
    """
    if wanted is None:
        return starter
    listed = list_checkpoints(models, starter)
    path = typed_path(wanted)
    return next((entry.path for entry in listed if entry.name == wanted), path)


def _is_candidate(path: Path) -> bool:
    if path.is_dir():
        return (path / "model_index.json").is_file()
    inside_folder = (path.parent.parent / "model_index.json").is_file()
    return path.suffix in {_SUFFIX, _TORCH_SUFFIX} and not inside_folder


def _name(path: Path, models: Path) -> str:
    relative = path.relative_to(models)
    return (relative.with_suffix("") if path.suffix == _SUFFIX else relative).as_posix()
