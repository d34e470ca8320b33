"""The findings on a prompt while it is written: its tokens, parts without effect, hints."""

from enum import StrEnum

import msgspec

from engine.api.conventions import Convention
from engine.api.features import TextLength
from engine.api.sentences import Text


class PromptQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A text, whole or its beginning, and all that its reading depends on.

    `family` is the checkpoint's, None while it is not known, and `lengths` is `Features.texts`.
    `tokenizer` is the folder of the checkpoint's own tokenizer, None for the family's. `seed` draws
    the words of wildcards if `expand_wildcards`; otherwise wildcards are text. `complete` is False
    if `text` is only the beginning.
    """

    text: str
    convention: Convention
    complete: bool = True
    negative: bool = False
    steps: int = 20
    family: str | None = None
    lengths: tuple[TextLength, ...] = ()
    tokenizer: str | None = None
    expand_wildcards: bool = True
    seed: int = 0


class HintKind(StrEnum):
    """The kind of problem that a hint points at."""

    REFUSED = "refused"  # the text cannot be used as it is
    UNPAIRED = "unpaired"  # a bracket or quote without a partner
    NETWORK = "network"  # a tag without effect: of another network, without a number, or words
    EMBEDDING = "embedding"  # the name of an embedding that is not used as written
    WILDCARD = "wildcard"  # the name of a word list that does not exist
    NEAR_NAME = "near_name"  # a word that is nearly the name of an embedding
    FOREIGN = "foreign"  # syntax of dynamicprompts, which is plain text here


class Hint(msgspec.Struct, frozen=True):
    """A probable problem with `length` characters from `position` on, counted from 0.

    `subject` is the engine's sentence for REFUSED and EMBEDDING, the name for NEAR_NAME, else the
    piece of text.
    """

    kind: HintKind
    position: int
    subject: Text
    length: int = 1


class EncoderCount(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens that one text encoder gets: `used` of the `capacity` of their chunks.

    `key` is the encoder's, as in `TextLength`.
    """

    key: str
    used: int
    capacity: int


class PromptCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a prompt: `used` tokens of the `capacity` of their chunks, and hints.

    If `is_cut`, the text has no effect from character `cut_at` on, which drops `cut_words` words;
    either is None if unknown. `complete` is False if only the beginning was counted. `drawn` is
    True if wildcards were expanded, so that the counts may differ between pictures. `chunk_starts`
    are the characters at which each chunk of tokens but the first begins. `encoders` are the counts
    of each text encoder, empty where all have `used`: they differ by the embeddings that have
    vectors for one of them only.
    """

    text: str = ""
    used: int = 0
    capacity: int = 0
    complete: bool = True
    drawn: bool = False
    is_cut: bool = False
    cut_at: int | None = None
    cut_words: int | None = None
    chunk_starts: tuple[int, ...] = ()
    hints: tuple[Hint, ...] = ()
    encoders: tuple[EncoderCount, ...] = ()
