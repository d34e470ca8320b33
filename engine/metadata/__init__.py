"""The metadata of pictures: reading how a picture was made. Public to the app; decodes no pixels.

`png` reads and writes text chunks, `infotext` is AUTOMATIC1111's text, `record` converts our record
to both of its notations, `readers` turns a picture's texts into a request.
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
