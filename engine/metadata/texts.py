"""A text in a picture file, and the bounds of all texts of a file together."""

import msgspec

# The most texts of a file, and the most bytes of all once unpacked: two prompts of a million
# characters each, in both of our notations.
MAX_TEXTS = 64
MAX_TEXT_BYTES = 32 << 20
# Keyword of AUTOMATIC1111's text, in PNG files.
PARAMETERS_KEYWORD = "parameters"
# Keyword of our own record, in every format.
RECORD_KEYWORD = "safelight"
# Keyword of the file's name, added to its texts: a ComfyUI graph may have made several pictures.
FILE_NAME = "file:name"
# Keyword of the picture's width and height, added for the same reason: "1024x768".
FILE_SIZE = "file:size"


class TextChunk(msgspec.Struct, frozen=True):
    """A text of a picture file with its keyword; newlines are kept as they are.

    In PNG the keyword is the chunk's (1 to 79 Latin-1 characters); in other files it is the tag's,
    such as "exif:UserComment", "jpeg:comment" or "xmp:parameters".
    """

    keyword: str
    text: str
