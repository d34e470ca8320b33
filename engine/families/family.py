"""The interface of a family of checkpoints: recognising, reading and assembling its files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from engine.api.conventions import Convention
from engine.api.prompts import PromptQuestion
from engine.api.request import CheckpointOverride
from engine.api.sentences import NO_WORDS, Sentence, as_it_is, sentence
from engine.checkpoints.diffusers_folder import DiffusersFolder, ReadIndex
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.embeddings.library import NO_EMBEDDINGS, Embeddings
from engine.families.checkpoint import Component, IdentifiedCheckpoint, Parts
from engine.families.foreign_kind import ForeignKind
from engine.families.hints import LearntHints
from engine.families.listing import Listing
from engine.lora.file import LoraFile
from engine.text.checking import count_clip_tokens
from engine.text.counting import TokenCount


class Family(ABC):
    """A family of checkpoints with the same networks.

    Every family recognises, reads and assembles its files. The methods with a default are for
    families whose files leave facts unstated or lack components that other files supply.
    """

    # The short name, in records and on the command line.
    name: str
    # The name in a sentence for the user.
    title: str
    # The commonly known name if longer than the title, else empty.
    full_title: str = ""
    # A line for a person who chooses among families.
    about: Sentence = NO_WORDS
    # The names of the components in a sentence.
    labels: ClassVar[Mapping[Component, Sentence]]
    # The subfolders of a diffusers folder that the family reads, each with its component.
    subfolders: ClassVar[Mapping[str, Component]]
    # The variants whose files look alike, each with its title: a user may state which one it is.
    variants: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def recognise(self, listing: Listing) -> str | None:
        """Return the tensors' evidence that a file is of this family; None for other files."""

    def holds_denoiser(self, listing: Listing) -> bool:
        """Tell whether a file holds a whole denoiser of this family's type, in any size."""
        return self.recognise(listing) is not None

    @abstractmethod
    def rule_out(self, listing: Listing) -> Sentence | None:
        """Return the reason a file cannot be of this family; None where it may be."""

    @abstractmethod
    def runs_pipeline(self, pipeline: str) -> bool:
        """Tell whether the diffusers pipeline class `pipeline` runs the family's checkpoints."""

    @abstractmethod
    def components_of(self, index: TensorIndex) -> tuple[Component, ...]:
        """List the components in a file of this family, by its keys. Raises EngineError."""

    @abstractmethod
    def read_file(self, index: TensorIndex, wanted: frozenset[Component]) -> Parts:
        """Read those of the wanted components that a single file has. Raises EngineError."""

    @abstractmethod
    def read_folder(self, folder: DiffusersFolder) -> Parts:
        """Read every component of a diffusers folder. Raises EngineError."""

    @abstractmethod
    def assemble(self, path: Path, parts: Parts) -> IdentifiedCheckpoint:
        """Make a checkpoint of parts. Raises EngineError where they do not fit together."""

    def matches_base_model(self, base_model: str) -> bool:
        """Tell whether `base_model`, the base model on a checkpoint's card, names this family."""
        return False

    def lora_evidence(self, listing: str) -> str | None:
        """Return the evidence that a LoRA file is for this family; None for other files.

        `listing` has its layers and their sizes; see `engine.lora.listing`.
        """
        return None

    def widened_for(
        self, checkpoint: IdentifiedCheckpoint, lora: LoraFile
    ) -> IdentifiedCheckpoint | None:
        """Return a checkpoint whose denoiser has the inputs that a LoRA file needs.

        It is the checkpoint itself for most files, which need no input that it lacks. None for a
        checkpoint that cannot have the inputs.
        """
        return checkpoint

    def modelspec_architecture(self, checkpoint: IdentifiedCheckpoint) -> str:
        """Return ModelSpec's name for the checkpoint's architecture; empty where it has none."""
        return ""

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Return the defaults for this kind of checkpoint, with a reason; None for the usual ones.

        `folder` is the diffusers folder of the checkpoint, if any.
        """
        return None

    def require_tokenizers(self, checkpoint: IdentifiedCheckpoint) -> None:
        """Raise EngineError where a text encoder lacks the tokenizer that it needs."""
        return

    def prompt_rules(self, convention: Convention) -> Convention:
        """Return a convention as its tool has it for the prompts of this family."""
        return convention

    def count_tokens(
        self, text: str, question: PromptQuestion, embeddings: Embeddings = NO_EMBEDDINGS
    ) -> TokenCount:
        """Count the tokens of a prompt while the user types, by default in CLIP's chunks.

        The text may name `embeddings`, whose vectors count as tokens.
        Any text is allowed, even an incomplete or invalid prompt.
        """
        return count_clip_tokens(text, question, embeddings)

    def label(self, component: Component) -> Sentence:
        """Return the name of a component in a sentence; the family need not have the component."""
        return self.labels.get(component) or as_it_is(component.value.replace("_", " "))

    # --- parts of other files ---

    def lone_parts(self, listing: Listing, kind: ForeignKind | None) -> tuple[Component, ...]:
        """List the components that a file without a whole checkpoint could supply.

        `kind` is the kind of foreign file that the listing matches, if any.
        """
        return ()

    def read_lone_part(self, component: Component, path: Path, read: ReadIndex) -> Parts | None:
        """Read a component from a file or folder in a special layout, such as a tiny VAE.

        Returns None for layouts that `read_file` and `read_folder` read. Raises EngineError.
        """
        return None

    def takes_from(self, giver: "Family", component: Component) -> bool:
        """Tell whether a checkpoint of the family `giver` may supply a component."""
        return giver is self

    def suits_file_name(self, component: Component, name: str) -> bool:
        """Tell whether the name of a file with a lone component sounds like this family's."""
        return True

    def with_part(self, parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
        """Return `parts` with a component of `other`, which was read from `path`.

        Raises EngineError(CHECKPOINT_MISMATCH) where the new component cannot replace the old one.
        """
        return msgspec.structs.replace(
            parts,
            sources={**parts.sources, component: other.sources[component]},
            digest=combined_digest(parts.digest, component, other.digest),
            evidence=(
                *parts.evidence,
                other.words_of(self.label(component), path),
            ),
        )

    def with_override(self, parts: Parts, override: CheckpointOverride) -> Parts:
        """Return `parts` with the prediction type and the variant that the user states, if any."""
        facts = parts.denoiser
        if override.variant is not None:
            facts = msgspec.structs.replace(facts, variant=override.variant)
        if override.prediction is not None:
            reason = sentence("you say so")
            facts = msgspec.structs.replace(
                facts, prediction=override.prediction, reason=reason, unstated=None
            )
        return parts if facts is parts.denoiser else msgspec.structs.replace(parts, denoiser=facts)
