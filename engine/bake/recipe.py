"""The ingredients of a bake: a checkpoint, LoRAs that fit it, and warnings about them."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.api.conventions import convention_of
from engine.api.lora import LoraChoice, LoraMode
from engine.api.remedies import NameLoraFolder
from engine.api.sentences import sentence
from engine.api.values import ConventionName, ErrorCode, ErrorInfo
from engine.bake.changes import Patches
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.lora_purpose import fit_lora
from engine.lora.file import LoraFile, read_lora
from engine.lora.folder import LoraLookup
from engine.pipeline.found_loras import doubts, use_of
from engine.pipeline.lora_patches import ActingLora, pass_loras
from engine.pipeline.loras import lacking_weights, unapplied

# The most embeddings that a warning names.
_MOST_NAMED = 8


class Recipe(msgspec.Struct, frozen=True, eq=False):
    """A checkpoint, the LoRAs to bake into it, and the changes that they make to its weights.

    `convention` names the tool by whose rules the LoRAs are applied.
    """

    checkpoint: IdentifiedCheckpoint
    loras: tuple[ActingLora, ...]
    convention: ConventionName
    patches: Patches
    warnings: tuple[ErrorInfo, ...]


def read_recipe(
    checkpoint: IdentifiedCheckpoint,
    choices: Sequence[LoraChoice],
    lookup: LoraLookup,
    read: ReadIndex,
    convention: ConventionName = ConventionName.A1111,
) -> Recipe:
    """Find the LoRAs and fit them to a checkpoint; only headers are read.

    Raises EngineError for a LoRA that is not found, cannot be read or is for another family.
    """
    rules = convention_of(convention).lora
    loras: list[ActingLora] = []
    warnings: list[ErrorInfo] = []
    for choice in choices:
        path = _found(choice, lookup, warnings)
        fitted = fit_lora(read_lora(read(path)), checkpoint)
        loras.append(ActingLora(fitted, use_of(choice), rules))
        if fitted.unused:
            warnings.append(unapplied(fitted))
        if fitted.file.embeddings:
            warnings.append(_bundled(fitted.file))
    patches = pass_loras(loras, checkpoint, LoraMode.MERGE, 1).patches
    warnings += (lacking_weights(lora) for lora in loras if lora.missing)
    return Recipe(checkpoint, tuple(loras), convention, patches, tuple(warnings))


def _found(choice: LoraChoice, lookup: LoraLookup, warnings: list[ErrorInfo]) -> Path:
    file = lookup.find(choice.file, choice.hash)
    if file is None:
        places = " or ".join(map(str, lookup.folders))
        raise EngineError(
            ErrorCode.LORA_NOT_FOUND,
            sentence("The LoRA {file} was not found.", file=choice.file),
            sentence(
                "Give the path of its file{value}.", value=places and f", or its name in {places}"
            ),
            remedies=(NameLoraFolder(),),
        )
    warnings.extend(doubts(choice.file, file))
    return file.path


def _bundled(file: LoraFile) -> ErrorInfo:
    names = ", ".join(
        ascii(embedding.name[:80])[1:-1] for embedding in file.embeddings[:_MOST_NAMED]
    )
    return ErrorInfo(
        ErrorCode.LORA_REMARK,
        sentence(
            "{path} bundles embeddings, for which a checkpoint has no place: {names}.",
            path=file.path.name,
            names=names,
        ),
        sentence("Prompts know them only while the LoRA itself is in use."),
    )
