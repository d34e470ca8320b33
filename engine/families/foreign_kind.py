"""The row type of the tables that name foreign files: files that no family here runs."""

import re
from enum import Enum, auto

import msgspec

# A text to find in a listing, or several texts that must all be found.
Sign = str | tuple[str, ...]


class LonePart(Enum):
    """Networks that come in a file of their own and are used by several families."""

    VAE = auto()
    TINY_VAE = auto()
    FLUX2_VAE = auto()
    CLIP_TEXT_ENCODER = auto()
    T5_TEXT_ENCODER = auto()
    QWEN3_TEXT_ENCODER = auto()


class ForeignKind(msgspec.Struct, frozen=True):
    """A kind of foreign file, and the rules that recognise its listing."""

    # The name with its article, as in "this is a LoRA".
    title: str
    # At least one of these is in the listing.
    signs: tuple[Sign, ...] = ()
    # All of these match somewhere in the listing; for rules about shapes.
    patterns: tuple[re.Pattern[str], ...] = ()
    # None of these is in the listing.
    without: tuple[str, ...] = ()
    # True for a checkpoint, which is of an unsupported family.
    is_checkpoint: bool = False
    # True if a file that holds a whole denoiser may still be of this kind.
    beside_checkpoint: bool = False
    # The network in a file that holds a single network usable by families, else None.
    part: LonePart | None = None

    def matches(self, text: str) -> bool:
        """Tell whether the text of a listing matches; rows earlier in the table take precedence."""
        return (
            (not self.signs or any(_has(text, sign) for sign in self.signs))
            and not any(sign in text for sign in self.without)
            and all(pattern.search(text) for pattern in self.patterns)
        )


def _has(text: str, sign: Sign) -> bool:
    return sign in text if isinstance(sign, str) else all(part in text for part in sign)
