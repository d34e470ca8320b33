"""The blocks of a UNet by the numbers of the original implementation: IN04, M00, OUT11.

The original numbers the resolutions and their layers in one row (`ldm/modules/diffusionmodules/
openaimodel.py`); each resolution has two layers on the way down and three on the way up.
"""

import re

_DOWN_LAYERS, _UP_LAYERS = 2, 3
_LAYER = re.compile(
    r"(?P<way>down|up)_blocks[._](?P<level>\d+)[._]"
    r"(?P<kind>resnets|attentions|downsamplers|upsamplers)[._](?P<layer>\d+)"
)


def block_of(layer: str) -> str | None:
    """Return the block of a UNet's layer by its canonical name; None for a layer in no block."""
    if layer.startswith("mid_block"):
        return "M00"
    if layer.startswith("conv_in"):
        return "IN00"
    found = _LAYER.match(layer)
    if found is None:
        return None
    level, number = int(found["level"]), int(found["layer"])
    match found["kind"]:
        case "downsamplers":
            return f"IN{(level + 1) * (_DOWN_LAYERS + 1):02}"
        case "upsamplers":
            return f"OUT{level * _UP_LAYERS + _UP_LAYERS - 1:02}"
        case _ if found["way"] == "down":
            return f"IN{level * (_DOWN_LAYERS + 1) + number + 1:02}"
        case _:
            return f"OUT{level * _UP_LAYERS + number:02}"
