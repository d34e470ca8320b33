"""Recognising files: the family of a file or folder, or the reason why no family fits.

A user who picks the wrong file is told its kind. The rules are the rows of the tables in
`foreign_checkpoints` and `foreign_parts`. For a file with a whole denoiser, only the rows with
`beside_checkpoint` count: one stray LoRA tensor does not make a checkpoint a LoRA.
"""

from pathlib import Path

import msgspec

from engine.api.reasons import known_kind
from engine.api.remedies import DeclareFamily, UseAsPart
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import DiffusersFolder
from engine.errors import EngineError
from engine.families.checkpoint import Component
from engine.families.family import Family
from engine.families.foreign_checkpoints import CHECKPOINTS, UNETS
from engine.families.foreign_kind import ForeignKind
from engine.families.foreign_parts import ADAPTERS, PARTS
from engine.families.listing import Listing
from engine.families.registry import FAMILIES

# All kinds of foreign files; the first kind that a listing matches counts.
FOREIGN_KINDS: tuple[ForeignKind, ...] = (*UNETS, *ADAPTERS, *CHECKPOINTS, *PARTS)


class Recognised(msgspec.Struct, frozen=True):
    """The family of a listing with its evidence, and the kind of foreign file that it matches.

    A listing may have both: then the kind gives the family's tensors another meaning.
    """

    family: Family | None
    evidence: str
    kind: ForeignKind | None


def recognise(listing: Listing) -> Recognised:
    """Recognise a listing by the families, in order, and by the rules for foreign files."""
    answers = ((family, family.recognise(listing)) for family in FAMILIES)
    family, evidence = next((answer for answer in answers if answer[1] is not None), (None, None))
    is_whole = family is not None or any(family.holds_denoiser(listing) for family in FAMILIES)
    return Recognised(family, evidence or "", foreign_kind(listing, holds_denoiser=is_whole))


def foreign_kind(listing: Listing, *, holds_denoiser: bool) -> ForeignKind | None:
    """Return the first kind of foreign file that a listing matches, or None.

    `holds_denoiser`: the listing has a whole denoiser, so only kinds `beside_checkpoint` count.
    """
    kinds = (kind for kind in FOREIGN_KINDS if kind.beside_checkpoint or not holds_denoiser)
    return next((kind for kind in kinds if kind.matches(listing.text)), None)


def lone_parts(listing: Listing, kind: ForeignKind | None) -> tuple[Component, ...]:
    """Return the components that a file without a whole checkpoint could supply to any family."""
    found = {part for family in FAMILIES for part in family.lone_parts(listing, kind)}
    return tuple(component for component in Component if component in found)


def subfolders() -> dict[str, Component]:
    """Return the subfolders of diffusers folders that any family reads, each with its component."""
    return {name: component for family in FAMILIES for name, component in family.subfolders.items()}


def family_of_file(
    listing: Listing, path: Path, wanted: Family | None = None, *, draws: bool = False
) -> Family:
    """Return the family of the tensors of a file, or of a folder's parts.

    `wanted` is the family that the user states. `draws`: the folder names a text-to-image
    pipeline, which outweighs signs of a foreign checkpoint. Raises EngineError:
    CHECKPOINT_UNKNOWN_FAMILY, and CHECKPOINT_MISMATCH where the tensors rule out `wanted`.
    """
    found = recognise(listing)
    kind, family = found.kind, found.family
    if kind is not None and not (
        (wanted or draws) and kind.is_checkpoint and kind.beside_checkpoint
    ):
        raise _not_ours(path, kind, listing)
    if wanted is not None and wanted is not family:
        reason = wanted.rule_out(listing)
        if reason is not None:
            raise _ruled_out(path, wanted, found, reason)
        if family is not None:
            shapes = sentence("its shapes are {family}'s", family=family.title)
            raise _ruled_out(path, wanted, found, shapes)
        return wanted
    if family is None:
        raise _unknown(path, listing)
    return family


def family_of_folder(folder: DiffusersFolder, wanted: Family | None = None) -> Family:
    """Return the family of a diffusers folder. Raises EngineError as `family_of_file`."""
    tensors = {
        f"{name}.{key}": tensor
        for name, part in folder.parts.items()
        for key, tensor in part.index.tensors.items()
    }
    drawing = next((family for family in FAMILIES if family.runs_pipeline(folder.pipeline)), None)
    kinds = subfolders()
    if any(kinds[name] is Component.DENOISER for name in folder.parts):
        if wanted is None and folder.pipeline and drawing is None:
            raise _other_pipeline(folder)
        draws = drawing is not None
        return family_of_file(Listing(tensors), folder.path, wanted, draws=draws)
    if drawing is not None and tensors:
        return drawing
    raise EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence(
            "The folder {path} is for {pipeline} and has no UNet; this version runs {titles}.",
            path=folder.path.name,
            pipeline=folder.pipeline or sentence("no pipeline"),
            titles=FAMILIES.titles,
        ),
        _choose(),
    )


def _other_pipeline(folder: DiffusersFolder) -> EngineError:
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence(
            "The folder {path} is for {pipeline}, which is not run.",
            path=folder.path.name,
            pipeline=folder.pipeline,
        ),
        sentence(
            "{choose} If its parts are nevertheless an ordinary one's, say of which family.",
            choose=_choose(),
        ),
    )


def _not_ours(path: Path, kind: ForeignKind, listing: Listing) -> EngineError:
    if kind.is_checkpoint:
        return EngineError(
            ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
            sentence(
                "{path} is {title}, which is not run yet.",
                path=path.name,
                title=known_kind(kind.title),
            ),
            _choose(),
        )
    parts = tuple(component.value for component in lone_parts(listing, kind))
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence("{path} is {title}, not a model.", path=path.name, title=known_kind(kind.title)),
        _choose(),
        remedies=(UseAsPart(components=parts),) if parts else (),
    )


def _ruled_out(path: Path, wanted: Family, found: Recognised, reason: Sentence) -> EngineError:
    advice = sentence("Leave its family to the file.")
    if found.family is not None:
        advice = sentence(
            "Leave its family to the file. It is {family}.", family=found.family.title
        )
    return EngineError(
        ErrorCode.CHECKPOINT_MISMATCH,
        sentence(
            "{path} cannot be taken for {title}: {reason}.",
            path=path.name,
            title=wanted.title,
            reason=reason,
        ),
        advice,
        detail=found.evidence,
    )


def _unknown(path: Path, listing: Listing) -> EngineError:
    tensors = listing.tensors
    first = ", ".join(ascii(name) for name in sorted(tensors)[:3])
    possible = tuple(family.name for family in FAMILIES if family.rule_out(listing) is None)
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence("{path} is not a model this version knows.", path=path.name),
        _choose(),
        detail=f"{len(tensors)} tensors: {first}" if tensors else "no tensors",
        remedies=(DeclareFamily(families=possible),) if possible else (),
    )


def _choose() -> Sentence:
    return sentence(
        "Choose a model of one of these: {titles}.{problem}",
        titles=FAMILIES.titles,
        problem=FAMILIES.problem,
    )
