"""The texts of a picture that is made larger: those of the picture before, and what enlarged it."""

from collections.abc import Iterable, Iterator

import msgspec

from engine.api.record import UpscaleReport
from engine.metadata.exif import USER_COMMENT
from engine.metadata.infotext import Infotext, Parameter, format_infotext, parse_infotext
from engine.metadata.record import PARAMETERS_KEYWORD, decode_record, encode_record
from engine.metadata.texts import RECORD_KEYWORD, TextChunk

# AUTOMATIC1111's chunk for what its "Extras" did to a picture (`modules/postprocessing.py`).
_POSTPROCESSING = "postprocessing"
# Where its other files have the text that its PNG files have under "parameters".
_IN_EXIF = USER_COMMENT


def with_upscale(chunks: Iterable[TextChunk], report: UpscaleReport) -> tuple[TextChunk, ...]:
    """Return the texts of a picture with a report of what enlarged it.

    Our record lists it; AUTOMATIC1111's text has its pairs for it at the end. A picture without
    either text gets one that only tells of the enlargement. Other tools' texts stay as they are.
    """
    changed = list(_changed(map(_as_parameters, chunks), report))
    if any(chunk.keyword == PARAMETERS_KEYWORD for chunk in changed):
        return tuple(changed)
    alone = format_infotext(Infotext("", "", _pairs(report)))
    keyword = _POSTPROCESSING if changed else PARAMETERS_KEYWORD
    return (*changed, TextChunk(keyword, alone))


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
        return text
    before = record.upscales or ()
    return encode_record(msgspec.structs.replace(record, upscales=(*before, report)))


def _in_parameters(text: str, report: UpscaleReport) -> str:
    """Return AUTOMATIC1111's text with the pairs; other texts under its keyword as they are."""
    if not parse_infotext(text).parameters:
        return text
    pairs = format_infotext(Infotext("", "", _pairs(report)))
    return f"{text.rstrip()}, {pairs}"


def _pairs(report: UpscaleReport) -> tuple[Parameter, ...]:
    return (
        Parameter("Postprocess upscale to", f"{report.width}x{report.height}"),
        Parameter("Postprocess upscaler", report.name),
    )
