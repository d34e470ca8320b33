"""A piece of text that a picture file holds, and the bounds on all of them together."""

from dataclasses import dataclass

# A file may hold this many texts, and this many bytes of text in all once unpacked: two prompts
# of a million characters each, in both of our notations, and no more.
MAX_TEXTS = 64
MAX_TEXT_BYTES = 32 << 20
# Beside a file's texts, what it is called: a graph of ComfyUI may have made several pictures.
FILE_NAME = "file:name"


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A keyword and any text; newlines are kept as they are.

    In PNG the keyword is the chunk's (1 to 79 Latin-1 characters); elsewhere the tag's, as
    "exif:UserComment", "jpeg:comment" or "xmp:parameters".
    """

    keyword: str
    text: str
