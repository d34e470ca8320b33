"""The texts of a picture that is made larger: those of the picture before, and what enlarged it."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from engine.api.record import UpscaleReport
from engine.metadata.exif import USER_COMMENT
from engine.metadata.infotext import Infotext, Parameter, format_infotext, parse_infotext
from engine.metadata.json_text import parse_json, parse_object
from engine.metadata.pictures import read_text_chunks
from engine.metadata.record import decode_record, encode_record
from engine.metadata.texts import PARAMETERS_KEYWORD, RECORD_KEYWORD, TextChunk

# AUTOMATIC1111's chunk for what its "Extras" did to a picture (`modules/postprocessing.py`).
_POSTPROCESSING = "postprocessing"
# Where its other files have the text that its PNG files have under "parameters".
_IN_EXIF = USER_COMMENT


class EnlargedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a picture that was only made larger here; how it was made is not known."""

    upscales: tuple[UpscaleReport, ...]


def with_upscale(chunks: Iterable[TextChunk], report: UpscaleReport) -> tuple[TextChunk, ...]:
    """Return the texts of a picture with a report of what enlarged it.

    Our record lists it; a picture without one gets a record of the enlargement alone.
    AUTOMATIC1111's text has its pairs for it at the end; without that text they are in its chunk
    for postprocessing. Other tools' texts stay as they are.
    """
    changed = list(_changed(map(_as_parameters, chunks), report))
    keywords = {chunk.keyword for chunk in changed}
    if RECORD_KEYWORD not in keywords:
        changed.append(TextChunk(RECORD_KEYWORD, _encoded(EnlargedRecord(upscales=(report,)))))
    if PARAMETERS_KEYWORD not in keywords:
        pairs = format_infotext(Infotext("", "", _pairs(report)))
        changed.append(TextChunk(_POSTPROCESSING, pairs))
    return tuple(changed)


def read_upscales(path: Path) -> tuple[UpscaleReport, ...]:
    """Return what made a picture larger here, the last one last; empty for nothing.

    Raises INPUT_IMAGE_UNREADABLE if the file cannot be read or is no picture.
    """
    texts = (chunk.text for chunk in read_text_chunks(path) if chunk.keyword == RECORD_KEYWORD)
    return next((found for text in texts if (found := _reports(text))), ())


def _reports(text: str) -> tuple[UpscaleReport, ...]:
    record = decode_record(text) or _enlarged(text)
    return (record.upscales or ()) if record is not None else ()


def _enlarged(text: str) -> EnlargedRecord | None:
    """Read the record of an enlargement alone; None for another text."""
    try:
        return msgspec.convert(parse_json(text), EnlargedRecord)
    except msgspec.ValidationError:
        return None


def _encoded(record: EnlargedRecord) -> str:
    """Write a record as ours is written: in ASCII, with escapes for what UTF-8 cannot."""
    return json.dumps(msgspec.to_builtins(record), ensure_ascii=True, separators=(",", ":"))


def _as_parameters(chunk: TextChunk) -> TextChunk:
    """Return AUTOMATIC1111's text of a JPEG or WebP file under its name in PNG files."""
    return TextChunk(PARAMETERS_KEYWORD, chunk.text) if chunk.keyword == _IN_EXIF else chunk


def _changed(chunks: Iterable[TextChunk], report: UpscaleReport) -> Iterator[TextChunk]:
    for chunk in chunks:
        if chunk.keyword == RECORD_KEYWORD:
            yield TextChunk(RECORD_KEYWORD, _in_record(chunk.text, report))
        elif chunk.keyword == PARAMETERS_KEYWORD:
            yield TextChunk(PARAMETERS_KEYWORD, _in_parameters(chunk.text, report))
        elif chunk.keyword != _POSTPROCESSING:
            yield chunk


def _in_record(text: str, report: UpscaleReport) -> str:
    """Return our record with the report; as it is where it is damaged or from a later version."""
    record = decode_record(text)
    if record is None:
        enlarged = _enlarged(text)
        if enlarged is None:
            return text
        return _encoded(EnlargedRecord(upscales=(*enlarged.upscales, report)))
    before = record.upscales or ()
    return encode_record(msgspec.structs.replace(record, upscales=(*before, report)))


def _in_parameters(text: str, report: UpscaleReport) -> str:
    """Return AUTOMATIC1111's text with the pairs; other texts under its keyword as they are."""
    # The words of a prompt in JSON may look like pairs.
    if parse_object(text) or not parse_infotext(text).parameters:
        return text
    pairs = format_infotext(Infotext("", "", _pairs(report)))
    return f"{text.rstrip()}, {pairs}"


def _pairs(report: UpscaleReport) -> tuple[Parameter, ...]:
    return (
        Parameter("Postprocess upscale to", f"{report.width}x{report.height}"),
        Parameter("Postprocess upscaler", report.name),
    )
