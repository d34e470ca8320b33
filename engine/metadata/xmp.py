"""Text in XMP packets. Only stable-diffusion.cpp writes its settings there, into WebP files."""

import re
from collections.abc import Iterator

from engine.metadata.texts import TextChunk

PARAMETERS = "xmp:parameters"
_OPEN, _CLOSE = "<sdcpp:parameters>", "</sdcpp:parameters>"
_ESCAPE = re.compile(r"&(amp|lt|gt|quot|apos);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def xmp_texts(packet: bytes) -> Iterator[TextChunk]:
    """Yield the settings in a packet, as sdcpp's `build_webp_xmp_packet` writes them.

    sdcpp is stable-diffusion.cpp. The packet is not parsed as XML: an XML reader would follow
    entities and namespaces that a hostile packet brings along.
    """
    _, opened, rest = packet.decode("utf-8", "replace").partition(_OPEN)
    text, closed, _ = rest.partition(_CLOSE)
    if opened and closed:
        yield TextChunk(PARAMETERS, _ESCAPE.sub(lambda found: _CHARACTERS[found[1]], text))
