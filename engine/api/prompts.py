"""The findings on a prompt while it is written: its tokens, parts without effect, hints."""

from enum import StrEnum

import msgspec

from engine.api.conventions import Convention
from engine.api.features import TextLength


class PromptQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A text, whole or its beginning, and all that its reading depends on.

    `family` is the checkpoint's, None while it is not known, and `lengths` its features' `texts`.
    `tokenizer` is the folder of the checkpoint's own, None for its family's. `seed` chooses among
    the words of wildcards, where they are not text.
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
    """The subject of a hint."""

    REFUSED = "refused"  # the text cannot be used as it is
    UNPAIRED = "unpaired"  # a bracket or quote without a partner
    NETWORK = "network"  # a network that is asked for and not used yet
    FOREIGN = "foreign"  # a sign of dynamicprompts' grammar, which is text here


class Hint(msgspec.Struct, frozen=True):
    """Something to point out: the engine's sentence where it refuses, else the piece of text.

    It is about `length` characters from `position` on, counted from 0.
    """

    kind: HintKind
    position: int
    subject: str
    length: int = 1


class PromptCheck(msgspec.Struct, frozen=True, kw_only=True):
    """`used` tokens of the `capacity` of the chunks they take.

    From the character `cut_at` on the text has no effect, and `cut_words` words are lost so; both
    are None where that cannot be told. `complete` is False where only the beginning was counted,
    `drawn` is True where wildcards make each picture's number another.
    """

    text: str = ""
    used: int = 0
    capacity: int = 0
    complete: bool = True
    drawn: bool = False
    is_cut: bool = False
    cut_at: int | None = None
    cut_words: int | None = None
    hints: tuple[Hint, ...] = ()
