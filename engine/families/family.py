"""A family of checkpoints: how its files are recognised, read and put together."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from engine.api.prompts import PromptQuestion
from engine.api.request import CheckpointOverride
from engine.checkpoints.diffusers_folder import DiffusersFolder, ReadIndex
from engine.checkpoints.index import TensorIndex, combined_digest
from engine.families.base import Component, IdentifiedCheckpoint, Parts
from engine.families.hints import LearntHints
from engine.families.kind import Kind
from engine.families.recognition import Listing
from engine.text.checking import count_clip_tokens
from engine.text.counting import TokenCount


class Family(ABC):
    """An architecture of checkpoints.

    A family must recognise, read and assemble its files. What has a default is for families whose
    files hide something or whose parts are found elsewhere.
    """

    # Short, for records and the command line.
    name: str
    # For people, in a sentence.
    title: str
    # The name people know it by, where that is longer; empty where it is the title.
    full_title: str = ""
    # The names of components in a sentence.
    labels: ClassVar[Mapping[Component, str]]
    # The subfolders of a diffusers folder that are read, and what they hold.
    subfolders: ClassVar[Mapping[str, Component]]

    @abstractmethod
    def recognise(self, listing: Listing) -> str | None:
        """Say by which of its tensors a file is of this family; None where it is not."""

    def holds_denoiser(self, listing: Listing) -> bool:
        """Tell whether a file holds a whole denoiser of this family's type, of whatever sizes."""
        return self.recognise(listing) is not None

    @abstractmethod
    def rule_out(self, listing: Listing) -> str | None:
        """Say what in a file this family cannot have; None where the file may be of it."""

    @abstractmethod
    def draws_with(self, pipeline: str) -> bool:
        """Tell whether diffusers' pipeline of this class runs the family's checkpoints."""

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

    def is_called(self, base_model: str) -> bool:
        """Tell whether a card's word for what a checkpoint was made from names this family."""
        return False

    def learnt_hints(
        self, checkpoint: IdentifiedCheckpoint, folder: DiffusersFolder | None
    ) -> LearntHints | None:
        """Defaults that suit a checkpoint of this kind, and why; None for the usual ones.

        `folder` is the diffusers folder it was read from, if any.
        """
        return None

    def require_tokenizers(self, checkpoint: IdentifiedCheckpoint) -> None:
        """Raise EngineError where a text encoder lacks the tokenizer that it needs."""
        return

    def count_tokens(self, text: str, question: PromptQuestion) -> TokenCount:
        """Count the tokens of a prompt that is being written; by default in CLIP's chunks.

        Takes any text.
        """
        return count_clip_tokens(text, question)

    def label(self, component: Component) -> str:
        """The name of a component in a sentence, be it one of the family's or not."""
        return self.labels.get(component, component.value.replace("_", " "))

    # --- parts of other files ---

    def lone_parts(self, listing: Listing, kind: Kind | None) -> tuple[Component, ...]:
        """List the components that a file could be which is no whole checkpoint.

        `kind` is the kind of other file that the listing is, if any.
        """
        return ()

    def read_lone_part(self, component: Component, path: Path, read: ReadIndex) -> Parts | None:
        """Read a file or folder that holds a component in a way of its own.

        None for what `read_file` and `read_folder` read. Raises EngineError.
        """
        return None

    def takes_from(self, giver: "Family", component: Component) -> bool:
        """Tell whether a checkpoint of the family `giver` may supply a component."""
        return giver is self

    def name_suits(self, component: Component, name: str) -> bool:
        """Tell whether the name of a file with a lone component sounds like this family's."""
        return True

    def with_part(self, parts: Parts, component: Component, other: Parts, path: Path) -> Parts:
        """Put a component of `other`, read from `path`, into `parts`.

        Raises EngineError(CHECKPOINT_MISMATCH) where it cannot take the place of the one before.
        """
        return replace(
            parts,
            sources={**parts.sources, component: other.sources[component]},
            digest=combined_digest(parts.digest, component, other.digest),
            evidence=(
                *parts.evidence,
                f"{self.label(component)} from {path.name}: {'; '.join(other.evidence)}",
            ),
        )

    def with_override(self, parts: Parts, override: CheckpointOverride) -> Parts:
        """Let the denoiser predict what a person says."""
        if override.prediction is None:
            return parts
        stated = replace(
            parts.denoiser, prediction=override.prediction, reason="you say so", unstated=None
        )
        return replace(parts, denoiser=stated)
