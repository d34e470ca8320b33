"""The changes that a request makes to the graphs of its checkpoint's networks.

Inputs and outputs of changed denoisers are `FREE_U_FACTORS` float32 [4] (b1, b2, s1, s2),
`PERTURBED` float32 [contexts, 1, 1] (1 for perturbed rows), `ATTENTION` float32 [contexts, cells of
the middle], and those of `engine.graphs.reference_attention`.
"""

from collections.abc import Mapping

from backends.base import DeviceValue
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.request import GuidanceOptions
from engine.api.values import ConventionName
from engine.graphs.free_u import SCALES as FREE_U_FACTORS
from engine.graphs.free_u import FreeU
from engine.graphs.reference_attention import ALONE as ATTENDS_ALONE
from engine.graphs.reference_attention import KEPT, SEEN, ReferenceForm
from engine.graphs.unet_changes import ATTENTION, PERTURBED, NetworkChanges

__all__ = [
    "ATTENDS_ALONE",
    "ATTENTION",
    "FREE_U_FACTORS",
    "PERTURBED",
    "NetworkChanges",
    "ReferenceForm",
    "changes_of",
    "kept_by",
]

# The axes, height and width, that continue at the opposite edge.
_WRAPS = {
    Tiling.NONE: (False, False),
    Tiling.BOTH: (True, True),
    Tiling.X: (False, True),
    Tiling.Y: (True, False),
}
_PARTS = {"mid": "mid_block", "down": "down_blocks", "up": "up_blocks"}
# Tools whose FreeU is diffusers' own, which counts blocks; the others go by the width of layers.
_BY_BLOCK = (ConventionName.DIFFUSERS, ConventionName.INVOKE)


def changes_of(
    options: DenoiserOptions, guidance: GuidanceOptions, tool: ConventionName | None
) -> NetworkChanges:
    """Return the changes for seamless edges, FreeU as in a tool, and guidance by attention."""
    free_u, perturbed = None, ()
    if options.freeu is not FreeUVersion.OFF:
        by_width = tool not in _BY_BLOCK
        free_u = FreeU(follows_mean=options.freeu is FreeUVersion.V2, by_width=by_width)
    if guidance.pag_scale > 0:
        perturbed = tuple(dict.fromkeys(map(_layer, guidance.pag_layers)))
    return NetworkChanges(
        _WRAPS[options.tiling], free_u, perturbed, shows_attention=guidance.sag_scale != 0
    )


def _layer(name: str) -> str:
    """Return the beginning of layers' names that a name of a request stands for."""
    first, dot, rest = name.strip().partition(".")
    return _PARTS.get(first, first) + dot + rest


def kept_by(written: Mapping[str, DeviceValue]) -> dict[str, DeviceValue]:
    """Return what a reference's run wrote as inputs of the denoiser that reads it."""
    return {
        name.replace(SEEN, KEPT, 1): value
        for name, value in written.items()
        if name.startswith(f"{SEEN}.")
    }
