"""What tools do to a text's characters before CLIP's words are looked for.

The fast tokenizer of transformers composes characters, joins white space and takes small letters,
and so does `engine.text.tokenizers`. Older tokenizers do more, and other tokens come of it.
"""

import html
import unicodedata
from collections.abc import Callable, Iterator

from engine.api.conventions import TextCleaning
from engine.plain_text import is_plain

Clean = Callable[[str], str]
_WHITE = "\t\n\r"
# What `BasicTokenizer` of transformers 4 takes for Chinese characters.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def cleaner(cleaning: TextCleaning, *, open_clip: bool = False) -> Clean | None:
    """The function for a convention's cleaning; None where nothing is done.

    `open_clip`: of a text encoder that tools run with OpenCLIP's own tokenizer.
    """
    match cleaning:
        case TextCleaning.NONE:
            return None
        case TextCleaning.FTFY:
            return repair_with_entities if open_clip else repair
        case TextCleaning.BASIC:
            return separate_chinese


def repair(text: str) -> str:
    """ftfy's repairs, as `CLIPTokenizer` of transformers 4 has them where ftfy is installed."""
    if is_plain(text):
        return text.lower()
    # Few prompts need it, and it takes a tenth of a second to load.
    from ftfy import fix_text

    return fix_text(text).lower()


def repair_with_entities(text: str) -> str:
    """The same, and then HTML's characters twice: `open_clip.tokenizer.basic_clean`."""
    if is_plain(text):
        return text.lower()
    from ftfy import fix_text

    return html.unescape(html.unescape(fix_text(text))).lower()


def separate_chinese(text: str) -> str:
    """`BasicTokenizer` of transformers 4, which its `CLIPTokenizer` uses where there is no ftfy.

    Chinese characters are words each, and control and unassigned characters are left out.
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
