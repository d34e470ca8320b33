"""A row of the tables of files that are no checkpoint for this version."""

import re
from dataclasses import dataclass
from enum import Enum, auto

# Text that is in a listing, or several texts all of which are.
Sign = str | tuple[str, ...]


class LonePart(Enum):
    """Networks that are found in files of their own, and that several families have."""

    VAE = auto()
    TINY_VAE = auto()
    CLIP_TEXT_ENCODER = auto()
    T5_TEXT_ENCODER = auto()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file that is no checkpoint for this version."""

    # With its article, as the object of "this is".
    title: str
    # One of these is in the listing.
    signs: tuple[Sign, ...] = ()
    # Each of these matches somewhere in the listing; for rules about shapes.
    patterns: tuple[re.Pattern[str], ...] = ()
    # None of these is in the listing.
    without: tuple[str, ...] = ()
    # Whether it is a checkpoint, of another family.
    is_checkpoint: bool = False
    # Whether a file with a whole checkpoint is of this kind, too.
    beside_checkpoint: bool = False
    # For a file with a single network: which one it is, as far as families can use it.
    part: LonePart | None = None

    def matches(self, text: str) -> bool:
        """Tell whether a listing is of this kind, if it is of none in the rows before."""
        return (
            (not self.signs or any(_has(text, sign) for sign in self.signs))
            and not any(sign in text for sign in self.without)
            and all(pattern.search(text) for pattern in self.patterns)
        )


def _has(text: str, sign: Sign) -> bool:
    return sign in text if isinstance(sign, str) else all(part in text for part in sign)
