"""Finding the vision encoder that an adapter needs among the user's files."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.api.weight_suffixes import WEIGHT_SUFFIXES
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.errors import EngineError
from engine.file_paths import is_folder
from engine.folders import weights_below, weights_in
from engine.image_prompts.adapters import ImageAdapter
from engine.image_prompts.encoders import VisionEncoder, read_encoder

_SUFFIXES = frozenset(WEIGHT_SUFFIXES)
# Words in the end of an encoder's path, in lower case; other files are not opened to look for one.
_WORDS = ("clip", "vision", "encoder", "vit")
# The folder of an encoder beside the adapters, in the repository of IP-Adapter's authors.
_BESIDE = "image_encoder"
_MOST_FILES = 1000
_USUAL = {
    (False, 1024): "CLIP ViT-H/14",
    (False, 1280): "CLIP ViT-bigG/14",
    (False, 768): "CLIP ViT-L/14",
    (True, 1280): "CLIP ViT-H/14",
    (True, 1664): "CLIP ViT-bigG/14",
    (True, 1024): "CLIP ViT-L/14",
}


def find_encoder(
    adapter: ImageAdapter, named: str | None, folders: Iterable[Path], read: ReadIndex
) -> VisionEncoder:
    """Return the named encoder, or the first that the adapter can use: beside it, then in folders.

    Raises EngineError: CHECKPOINT_MISMATCH for a named encoder that does not fit, REQUEST_INVALID
    where none is found, and the reader's errors for a named file.
    """
    if named is not None:
        encoder = read_encoder(Path(named), read)
        if _fits(encoder, adapter):
            return encoder
        raise _misfit(encoder, adapter)
    for path in _candidates(adapter.path, folders):
        try:
            encoder = read_encoder(path, read)
        except (EngineError, OSError):
            continue
        if _fits(encoder, adapter):
            return encoder
    raise EngineError(
        ErrorCode.REQUEST_INVALID,
        sentence(
            "{adapter} needs the vision encoder {encoder}, and no such file was found.",
            adapter=adapter.path.name,
            encoder=_wanted(adapter),
        ),
        sentence(
            "Put it beside the adapter or into a folder clip_vision of the models, or choose it."
        ),
    )


def _candidates(adapter: Path, folders: Iterable[Path]) -> Iterator[Path]:
    """Yield files and folders that may be encoders, those beside the adapter first, each once."""
    beside = [folder / _BESIDE for folder in (adapter.parent, adapter.parent.parent)]
    found: dict[Path, None] = {folder: None for folder in beside if is_folder(folder)}
    found |= dict.fromkeys(_named_so(weights_in(adapter.parent, _SUFFIXES)))
    yield from found
    for folder in folders:
        below = weights_below(folder, _SUFFIXES, inside_checkpoints=True)
        for path in _named_so(islice(below, _MOST_FILES)):
            if path not in found:
                found[path] = None
                yield path


def _named_so(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        nearest = "/".join(path.parts[-3:]).lower()
        if any(word in nearest for word in _WORDS):
            yield path


def _fits(encoder: VisionEncoder, adapter: ImageAdapter) -> bool:
    return encoder.gives(states=adapter.config.sees_states) == adapter.config.seen_width


def _wanted(adapter: ImageAdapter) -> str:
    config = adapter.config
    width = config.seen_width
    return _USUAL.get((config.sees_states, width), f"CLIP ({width})")


def _misfit(encoder: VisionEncoder, adapter: ImageAdapter) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{adapter} needs the vision encoder {wanted}; {encoder} is {title}.",
            adapter=adapter.path.name,
            wanted=_wanted(adapter),
            encoder=encoder.path.name,
            title=encoder.title,
        ),
        sentence("Choose that encoder, or none: then one is looked for among your files."),
    )
