"""Named weights of blocks and sets of elements: sd-webui-lora-block-weight's, and a person's own.

The extension keeps a person's own in `lbwpresets.txt`, a preset a line, and in `elempresets.txt`,
where an empty line ends each (`scripts/lora_block_weight.py`, `process`, `checkloadcond`).
"""

from collections.abc import Iterable, Mapping

import msgspec

_WEIGHTS: Mapping[str, str] = {
    "NONE": "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
    "ALL": "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
    "INS": "1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0",
    "IND": "1,0,0,0,1,1,1,0,0,0,0,0,0,0,0,0,0",
    "INALL": "1,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0",
    "MIDD": "1,0,0,0,1,1,1,1,1,1,1,1,0,0,0,0,0",
    "OUTD": "1,0,0,0,0,0,0,0,1,1,1,1,0,0,0,0,0",
    "OUTS": "1,0,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1",
    "OUTALL": "1,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1",
    "ALL0.5": ",".join(["0.5"] * 17),
    "FLUXALL": ",".join(["1"] * 61),
}
_ELEMENTS: Mapping[str, str] = {
    "ATTNDEEPON": "IN05-OUT05:attn:1",
    "ATTNDEEPOFF": "IN05-OUT05:attn:0",
    "PROJDEEPOFF": "IN05-OUT05:proj:0",
    "XYZ": "::1",
}
_COMMENT = "#"
# The most presets that are taken from a file.
_MOST = 2000


class BlockPresets(msgspec.Struct, frozen=True):
    """Lists of weights by name, as in `lbw=NAME`, and sets of elements, as in `lbwe=NAME`."""

    weights: Mapping[str, str]
    elements: Mapping[str, str]


BUILT_IN = BlockPresets(_WEIGHTS, _ELEMENTS)


def own_presets(weights: Iterable[str], elements: Iterable[str]) -> BlockPresets:
    """Return the presets in the texts of files, then the built-in ones; the first of a name counts.

    `weights` are texts of `lbwpresets.txt`, `elements` of `elempresets.txt`.
    """
    lines = (line for text in weights for line in text.splitlines())
    blocks = (block for text in elements for block in _plain(text).split("\n\n"))
    return BlockPresets(
        _named((line for line in lines if "," in line and _COMMENT not in line), _WEIGHTS),
        _named(blocks, _ELEMENTS),
    )


def _named(entries: Iterable[str], built_in: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries:
        name, colon, content = entry.partition(":")
        if colon and name.strip() and len(found) < _MOST:
            found.setdefault(name.strip(), content)
    return {**built_in, **found}


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
