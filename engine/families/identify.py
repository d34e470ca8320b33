"""Identifying the checkpoint at a path: its family, its parts and its gaps; no weight is read.

`identify` reads one file or folder, `supply` adds parts from other files, and `require_complete`
is called before a network runs.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

from engine.api.checkpoints import Gap
from engine.api.remedies import PartFile, SupplyParts
from engine.api.request import NO_OVERRIDE, CheckpointOverride, ComponentFiles
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import DiffusersFolder, ReadIndex, read_folder
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families.checkpoint import Component, IdentifiedCheckpoint, Parts
from engine.families.checkpoint_hints import with_evidence, with_hints
from engine.families.family import Family
from engine.families.hints import NO_HINTS, CheckpointHints, read_hints
from engine.families.listing import Listing
from engine.families.part_files import read_component
from engine.families.recognition import family_of_file, family_of_folder, subfolders
from engine.families.refusals import not_of_variant
from engine.families.registry import FAMILIES
from engine.file_paths import is_folder


def identify(
    path: Path, read: ReadIndex = read_index, override: CheckpointOverride = NO_OVERRIDE
) -> IdentifiedCheckpoint:
    """Identify the checkpoint at `path`. Raises EngineError for a file that no family runs.

    `read` reads a file's header: `KnownFiles.read_index` where there is a cache. `override` has the
    user's own statements; a stated family that the shapes rule out raises CHECKPOINT_MISMATCH.
    """
    path = path.absolute()  # weights stay where they are, wherever the process goes
    wanted = FAMILIES.named(override.family) if override.family else None
    if is_folder(path):
        folder = read_folder(path, subfolders(), read)
        family = family_of_folder(folder, wanted)
        _require_variant(family, path, override.variant)
        parts = family.with_override(family.read_folder(folder), override)
        checkpoint = _assemble(family, path, parts, read_hints(path), folder)
        return replace(checkpoint, override=override)
    index = read(path)
    family = family_of_file(Listing(index.tensors), path, wanted)
    _require_variant(family, path, override.variant)
    parts = family.with_override(family.read_file(index, frozenset(Component)), override)
    checkpoint = _assemble(family, path, parts, NO_HINTS)
    return replace(checkpoint, file=index.state, override=override)


def _require_variant(family: Family, path: Path, variant: str | None) -> None:
    """Raise EngineError(CHECKPOINT_MISMATCH) for a variant that no file of a family can be."""
    if variant is not None and variant not in family.variants:
        reason = sentence("{family} has no such variant", family=family.title)
        raise not_of_variant(path, variant, reason)


def supply(
    checkpoint: IdentifiedCheckpoint, files: ComponentFiles, read: ReadIndex = read_index
) -> IdentifiedCheckpoint:
    """Return the checkpoint with components from other files, each a part or a checkpoint.

    Raises EngineError(CHECKPOINT_MISMATCH) for a component that does not fit.
    """
    family = FAMILIES.named(checkpoint.family)
    parts = checkpoint.parts
    for component in Component:
        name: str | None = getattr(files, component.value)
        if name is not None:
            path = Path(name).absolute()
            other = read_component(family, component, path, read)
            parts = family.with_part(parts, component, other, path)
    if files.denoiser:
        parts = family.with_override(parts, checkpoint.override)
    hints = NO_HINTS if files.denoiser else checkpoint.hints
    supplied = _assemble(family, checkpoint.path, parts, hints)
    # A checkpoint is known by its denoiser, so another denoiser makes it another file.
    file = None if files.denoiser else checkpoint.file
    return replace(supplied, file=file, override=checkpoint.override)


def require_complete(checkpoint: IdentifiedCheckpoint, gaps: Sequence[Gap] = ()) -> None:
    """Raise EngineError if a component or tokenizer is missing.

    The error names the missing components and offers the files in `gaps` that could supply them.
    """
    if checkpoint.missing:
        label = FAMILIES.named(checkpoint.family).label
        names = reduce(_and_no, (label(component) for component in checkpoint.missing))
        raise EngineError(
            ErrorCode.CHECKPOINT_INCOMPLETE,
            sentence("{path} has no {names}.", path=checkpoint.path.name, names=names),
            detail="\n".join(f"{gap.component}: {fit.path}" for gap in gaps for fit in gap.fits),
            remedies=(
                SupplyParts(
                    components=tuple(component.value for component in checkpoint.missing),
                    files=tuple(
                        PartFile(component=gap.component, path=gap.fits[0].path)
                        for gap in gaps
                        if gap.fits
                    ),
                ),
            ),
        )
    require_tokenizers(checkpoint)


def _and_no(first: Sentence, second: Sentence) -> Sentence:
    return sentence("{first} and no {second}", first=first, second=second)


def require_tokenizers(checkpoint: IdentifiedCheckpoint) -> None:
    """Raise EngineError where a text encoder lacks the tokenizer that it needs."""
    FAMILIES.named(checkpoint.family).require_tokenizers(checkpoint)


def _assemble(
    family: Family,
    path: Path,
    parts: Parts,
    hints: CheckpointHints,
    folder: DiffusersFolder | None = None,
) -> IdentifiedCheckpoint:
    """Make a checkpoint of parts, with the hints of its folder and of its kind."""
    checkpoint = family.assemble(path, parts)
    cards = [(card, FAMILIES.of_base_model(card.base_model)) for card in parts.denoiser.cards]
    others = (card for card, named in cards if named not in (None, family))
    words = (
        sentence("{card}, but its shapes are {family}'s", card=card.words, family=family.title)
        for card in others
    )
    checkpoint = with_evidence(checkpoint, *words)
    return with_hints(checkpoint, hints, family.learnt_hints(checkpoint, folder))
