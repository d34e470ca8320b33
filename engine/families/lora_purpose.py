"""The purpose of a LoRA file: the family that it was made for, or the other kind of file it is."""

import msgspec

from engine.api.reasons import known_kind
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.foreign_parts import ADAPTERS, LORA
from engine.families.listing import Listing
from engine.families.recognition import recognise
from engine.families.registry import FAMILIES
from engine.families.transformer_loras import TRANSFORMER_LORAS, WITH_MAP
from engine.lora.facts import LoraFacts
from engine.lora.file import LoraFile
from engine.lora.layers import FittedLora, fit
from engine.lora.listing import listing_of

_EMBEDDING = "a textual inversion embedding"
# What to do with files of some other kinds.
_HINTS = {
    "a hypernetwork": sentence(
        "Hypernetworks add layers to the attention of SD 1, which no network here has. "
        "LoRAs have replaced them; look for a LoRA of the same style."
    ),
    _EMBEDDING: sentence("Name it in the prompt as an embedding."),
}


class LoraPurpose(msgspec.Struct, frozen=True):
    """The use of a file.

    `words` has the article, as in "a LoRA for SDXL" or "an upscaler"; `families` are the names of
    the families here that it may be for, more than one where its keys do not tell them apart. `is_
    lora`: False for another kind of file. `certain`: keys and shapes show it, not only metadata.
    `takes_map`: a model follows a map with it.
    """

    words: str
    families: tuple[str, ...] = ()
    is_lora: bool = True
    certain: bool = True
    evidence: str = ""
    takes_map: bool = False

    @property
    def is_embedding(self) -> bool:
        """True for an embedding, in a file of its own."""
        return self.words == _EMBEDDING

    def excludes(self, family: str) -> bool:
        """Return True if the file is certainly not for checkpoints of the family of this name."""
        return self.certain and family not in self.families


def purpose_of(file: LoraFile) -> LoraPurpose:
    """Return the purpose of a file, by its keys and shapes, then by its metadata."""
    return purpose_of_keys(file) or purpose_of_facts(file.facts)


def purpose_of_keys(file: LoraFile) -> LoraPurpose | None:
    """Return the purpose that keys and shapes show; None if they show none."""
    return _other_kind(file) or _by_keys(file)


def purpose_of_facts(facts: LoraFacts) -> LoraPurpose:
    """Return the purpose that metadata and cards state, which is not certain."""
    base = facts.base_model
    family = FAMILIES.of_base_model(base) if base else None
    if family is not None:
        return LoraPurpose(f"a LoRA for {family.title}", (family.name,), certain=False)
    words = f"a LoRA for {base!r}" if base else "a LoRA for an unknown kind of model"
    return LoraPurpose(words, certain=False)


def with_inputs_for(
    file: LoraFile, checkpoint: IdentifiedCheckpoint
) -> IdentifiedCheckpoint | None:
    """Return the checkpoint with the inputs that a file needs; itself where it needs no others.

    None for a checkpoint that cannot have them.
    """
    if purpose_of(file).excludes(checkpoint.family):
        return checkpoint
    return FAMILIES.named(checkpoint.family).widened_for(checkpoint, file)


def fit_lora(file: LoraFile, checkpoint: IdentifiedCheckpoint) -> FittedLora:
    """Match a file's modules with a checkpoint's layers.

    Raises EngineError(LORA_MISMATCH), which names the file's purpose, for a file that is for
    another family or of another kind, for one none of whose keys fit, and for one that needs inputs
    that the checkpoint lacks.
    """
    purpose = purpose_of(file)
    table = checkpoint.architecture.lora_layers
    if table is None or purpose.excludes(checkpoint.family):
        raise _unfit(file, checkpoint, purpose)
    if with_inputs_for(file, checkpoint) is not checkpoint:
        raise _lacks_inputs(file, checkpoint)
    fitted = fit(file, table)
    if not fitted.modules and not file.embeddings:
        raise _unfit(file, checkpoint, purpose)
    return fitted


def _other_kind(file: LoraFile) -> LoraPurpose | None:
    """Return the purpose of a file that is no LoRA; None for a LoRA."""
    listing = Listing(file.tensors)
    if file.modules and not any(family.holds_denoiser(listing) for family in FAMILIES):
        kind = next((kind for kind in ADAPTERS if kind.matches(listing.text)), None)
        if kind is None or kind in LORA:
            return None
        return LoraPurpose(kind.title, is_lora=False)
    if file.embeddings:
        return None
    found = recognise(listing)
    if found.kind in LORA:  # in a dialect that is not read
        return None
    if found.kind is not None:
        return LoraPurpose(found.kind.title, is_lora=False)
    if found.family is not None:
        return LoraPurpose(f"a checkpoint of {found.family.title}", is_lora=False)
    return LoraPurpose("a file of weights that this version does not know", is_lora=False)


def _by_keys(file: LoraFile) -> LoraPurpose | None:
    listing = listing_of(file)
    other = next((layout for layout in TRANSFORMER_LORAS if layout.matches(listing)), None)
    if other is not None:
        takes_map = other.title == WITH_MAP
        return LoraPurpose(f"a LoRA for {other.title}", other.families, takes_map=takes_map)
    claims = [(family, family.lora_evidence(listing)) for family in FAMILIES]
    fitting = [(family, words) for family, words in claims if words]
    if not fitting:
        return None
    *most, last = (family.title for family, _ in fitting)
    titles = f"{', '.join(most)} or {last}" if most else last
    return LoraPurpose(
        f"a LoRA for {titles}",
        families=tuple(family.name for family, _ in fitting),
        evidence=fitting[0][1],
    )


def _lacks_inputs(file: LoraFile, checkpoint: IdentifiedCheckpoint) -> EngineError:
    return EngineError(
        ErrorCode.LORA_MISMATCH,
        sentence(
            "{path} makes a model follow a map, which {checkpoint} cannot do here.",
            path=file.path.name,
            checkpoint=checkpoint.path.name,
        ),
        sentence("Add it to the list of LoRAs for Flux.1 dev, with a control layer for the map."),
    )


def _unfit(file: LoraFile, checkpoint: IdentifiedCheckpoint, purpose: LoraPurpose) -> EngineError:
    family = FAMILIES.named(checkpoint.family)
    name, words = file.path.name, known_kind(purpose.words)
    hint = sentence("Choose a LoRA for this model, or a model that the LoRA is for.")
    if not purpose.is_lora:
        message = sentence("{path} is {words}, not a LoRA.", path=name, words=words)
        hint = _HINTS.get(purpose.words, sentence("Choose a LoRA."))
    elif checkpoint.family in purpose.families:
        message = sentence(
            "{path} is {words}, but none of its layers is in this model.", path=name, words=words
        )
    else:
        message = sentence(
            "{path} is {words}, not for this model ({family}).",
            path=name,
            words=words,
            family=family.title,
        )
    first = ", ".join(ascii(key) for key in list(file.tensors)[:3])
    return EngineError(
        ErrorCode.LORA_MISMATCH,
        message,
        hint,
        detail=f"{purpose.evidence}\n{len(file.tensors)} keys: {first}".strip(),
    )
