"""The layouts in which text encoders take prompts: rows of tokens, all equally long."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from engine.api.prompt_rules import Chunking
from engine.text.chunks import CHUNK_LENGTH, TokenChunks, empty_chunks, tokenize_prompt
from engine.text.embedded import EmbeddingReader
from engine.text.prompt import PromptPart
from engine.text.tokenizers import ClipTokenizer


class TokenLayout(Protocol):
    """Lays prompts out in rows of tokens for one text encoder."""

    @property
    def length(self) -> int:
        """The number of positions of a row."""
        ...

    def laid_out(self, parts: Sequence[PromptPart]) -> TokenChunks:
        """Tokenize the parts of a prompt and lay them out in rows; an empty prompt takes one.

        Raises EngineError(REQUEST_INVALID) for a prompt that is too long.
        """
        ...

    def empty(self, count: int = 1) -> TokenChunks:
        """Return `count` rows of the empty prompt."""
        ...


class ClipChunks(msgspec.Struct, frozen=True):
    """CLIP's chunks of 77 positions. `reader` finds the embeddings that the prompts name."""

    tokenizer: ClipTokenizer
    chunking: Chunking
    reader: EmbeddingReader | None = None

    @property
    def length(self) -> int:
        """The number of positions of a chunk."""
        return CHUNK_LENGTH

    def laid_out(self, parts: Sequence[PromptPart]) -> TokenChunks:
        """Return a prompt in chunks; see `tokenize_prompt`."""
        return tokenize_prompt(self.tokenizer, parts, self.chunking, self.reader)

    def empty(self, count: int = 1) -> TokenChunks:
        """Return `count` chunks of the empty prompt."""
        return empty_chunks(self.tokenizer, count)
