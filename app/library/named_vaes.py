"""The user's file of the VAE that another tool's picture names."""

from collections.abc import Iterable
from pathlib import Path

from engine.api.weight_suffixes import WEIGHT_SUFFIXES, weights_name
from engine.folders import ADAPTER_FOLDERS, folders_of_models, weights_below

# What ComfyUI's loader calls tiny VAEs, of which it has a file for each side (`VAELoader`).
_TINY = frozenset({"taesd", "taesdxl", "taesd3", "taef1", "taef2"})
_DECODER = "_decoder"
# The beginning of the names of folders for VAEs.
_FOLDER = "vae"


def find_vae(stated: str, models: Path, others: Iterable[Path] = ()) -> Path | None:
    """Return the only file of a name below the folders, of several the only one in one for VAEs.

    `stated` is never used as a path. Of a tiny VAE, which ComfyUI names without a side, it is the
    decoder, beside which the encoder is found. Looks at no content, but walks through the folders.
    """
    name = weights_name(stated).casefold()
    wanted = (name, name + _DECODER) if name in _TINY else (name,)
    found: dict[str, set[Path]] = {name: set() for name in wanted if name}
    for folder in folders_of_models(models, others):
        for path in weights_below(folder, WEIGHT_SUFFIXES, but=ADAPTER_FOLDERS):
            found.get(weights_name(path.name).casefold(), set[Path]()).add(path)
    return next(filter(None, map(_only, found.values())), None)


def _only(paths: set[Path]) -> Path | None:
    """Return the only path; of several the only one whose folder's name says that it is a VAE."""
    of_vaes = {path for path in paths if path.parent.name.casefold().startswith(_FOLDER)}
    for some in (paths, of_vaes):
        if len(some) == 1:
            return next(iter(some))
    return None
