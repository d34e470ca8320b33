"""What a picture says about how it was made. Public to the app; never decodes pixels.

`png` reads and writes text chunks, `infotext` is AUTOMATIC1111's text, `record` converts our record
to both of its notations, `readers` turns what a picture says into a request.
"""

from engine.metadata.pictures import read_text_chunks
from engine.metadata.png import insert_text_chunks
from engine.metadata.readers import ImportedRequest, read_request
from engine.metadata.record import read_record, record_chunks
from engine.metadata.texts import TextChunk

__all__ = [
    "ImportedRequest",
    "TextChunk",
    "insert_text_chunks",
    "read_record",
    "read_request",
    "read_text_chunks",
    "record_chunks",
]
