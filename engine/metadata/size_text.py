"""Parser of sizes that people and tools write: "512x768", "1216 x 832 (landscape)"."""

import re

# Possessive, because the text may be long and hostile.
_SIZE = re.compile(
    r"\s*+(\d{1,9})\s*+[xX\u00d7*]\s*+(\d{1,9})\s*+(?:px)?+\s*+(?:\([^()]*+\))?+\s*+", re.ASCII
)


def read_size(text: str) -> tuple[int, int] | None:
    """Return width and height in pixels; None if the text is not a size."""
    match = _SIZE.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None
