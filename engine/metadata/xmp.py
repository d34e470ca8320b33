"""Text in XMP packets: stable-diffusion.cpp's settings in WebP files, Draw Things' in PNG files.

Packets are not parsed as XML: an XML reader would follow entities and namespaces that a hostile
packet brings along.
"""

import re
from collections.abc import Iterator

from engine.metadata.texts import TextChunk

PARAMETERS = "xmp:parameters"
# The keyword of a packet in a PNG file.
PNG_PACKET = "XML:com.adobe.xmp"
_OPEN, _CLOSE = "<sdcpp:parameters>", "</sdcpp:parameters>"
_ESCAPE = re.compile(r"&(amp|lt|gt|quot|apos|#xA|#10);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"} | dict.fromkeys(
    ("#xA", "#10"), "\n"
)


def xmp_texts(packet: bytes) -> Iterator[TextChunk]:
    """Yield the settings in a packet, as stable-diffusion.cpp's `build_webp_xmp_packet` does."""
    _, opened, rest = packet.decode("utf-8", "replace").partition(_OPEN)
    text, closed, _ = rest.partition(_CLOSE)
    if opened and closed:
        yield TextChunk(PARAMETERS, _unescaped(text))


def alternative(packet: str, name: str) -> str | None:
    """Return the first text of a property that has several by language; None without one."""
    _, opened, rest = packet.partition(f"<{name}>")
    inside, closed, _ = rest.partition(f"</{name}>")
    _, listed, item = inside.partition("<rdf:li")
    text, ended, _ = item.partition(">")[2].partition("</rdf:li>")
    return _unescaped(text) if opened and closed and listed and ended else None


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _CHARACTERS[found[1]], text)
