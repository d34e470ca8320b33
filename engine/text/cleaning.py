"""The tools' cleaning of a text before it is split into CLIP's words.

The fast tokenizer of transformers normalizes to NFC, joins white space and lower-cases, and so does
`engine.text.tokenizers`. Older tokenizers clean more, which results in different tokens.
"""

import html
import unicodedata
from collections.abc import Callable, Iterator

from engine.api.prompt_rules import TextCleaning
from engine.plain_text import is_plain

Clean = Callable[[str], str]
_WHITE = "\t\n\r"
# Ranges of Chinese characters in `BasicTokenizer` of transformers 4.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def cleaner(cleaning: TextCleaning, *, open_clip: bool = False) -> Clean | None:
    """Return a convention's cleaning function; None if it does nothing.

    `open_clip` is for a text encoder that tools run with OpenCLIP's own tokenizer.
    """
    match cleaning:
        case TextCleaning.NONE:
            return None
        case TextCleaning.FTFY:
            return repair_with_entities if open_clip else repair
        case TextCleaning.BASIC:
            return separate_chinese


def repair(text: str) -> str:
    """Apply ftfy's repairs, as `CLIPTokenizer` of transformers 4 does if ftfy is installed."""
    if is_plain(text):
        return text.lower()
    # Imported here: few prompts need it, and loading takes a tenth of a second.
    from ftfy import fix_text

    return fix_text(text).lower()


def repair_with_entities(text: str) -> str:
    """Apply ftfy's repairs and unescape HTML twice: `open_clip.tokenizer.basic_clean`."""
    if is_plain(text):
        return text.lower()
    from ftfy import fix_text

    return html.unescape(html.unescape(fix_text(text))).lower()


def separate_chinese(text: str) -> str:
    """Clean a text like transformers 4's `BasicTokenizer`, its `CLIPTokenizer` without ftfy.

    Each Chinese character becomes a word; control and unassigned characters are dropped.
    """
    if is_plain(text):
        return text.lower()
    spaced = unicodedata.normalize("NFC", "".join(_separated(text)))
    return " ".join(word.lower() for word in spaced.split())


def _separated(text: str) -> Iterator[str]:
    for character in text:
        category = unicodedata.category(character)
        if character in _WHITE or category == "Zs":
            yield " "
        elif character in "\0\ufffd" or category.startswith("C"):
            continue
        elif any(first <= ord(character) <= last for first, last in _CHINESE):
            yield f" {character} "
        else:
            yield character
