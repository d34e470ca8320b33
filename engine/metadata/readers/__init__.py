"""From a picture's metadata to a request that makes it again: ours exactly, others' as it maps.

Everything here comes from a file of unknown origin: numbers are range-checked, names of checkpoints
never become paths, and our own record's paths are taken only if they are local. Each tool has a
module with a recogniser that gives a request or None; the first that recognises a picture reads it.
"""

from collections.abc import Callable
from pathlib import Path

from engine.api import ErrorCode
from engine.errors import EngineError
from engine.metadata.pictures import read_text_chunks
from engine.metadata.readers.a1111 import from_a1111
from engine.metadata.readers.imported import ImportedRequest, plain
from engine.metadata.readers.safelight import from_safelight, import_record
from engine.metadata.texts import TextChunk

__all__ = ["ImportedRequest", "import_record", "read_request"]

_RECOGNISERS: tuple[Callable[[tuple[TextChunk, ...]], ImportedRequest | None], ...] = (
    from_safelight,
    from_a1111,
)


def read_request(path: Path) -> ImportedRequest:
    """Read the request that a PNG, JPEG or WebP picture tells of, whichever tool wrote it.

    Raises METADATA_MISSING if none does, INPUT_IMAGE_UNREADABLE if it is no readable picture.
    """
    texts = read_text_chunks(path)
    for recognise in _RECOGNISERS:
        imported = recognise(texts)
        if imported is not None:
            return imported
    found = ", ".join(sorted({plain(chunk.keyword) for chunk in texts}))
    raise EngineError(
        ErrorCode.METADATA_MISSING,
        f"The picture {path} does not say how it was made.",
        "Choose the original file of a picture made by Safelight, AUTOMATIC1111, ComfyUI or alike.",
        f"Its texts: {plain(found, 200) or 'none'}.",
    )
