"""Seamless edges, FreeU and guidance by attention, as other tools write them.

After AUTOMATIC1111's `modules/processing.py`, the extensions asymmetric-tiling-sd-webui and
sd-webui-incantations, Forge's built-in extensions, SD.Next, SwarmUI's parameters, the nodes of
ComfyUI's `comfy_extras` and of ComfyUI-seamless-tiling, and sd-perturbed-attention for Forge and
ComfyUI.
"""

from typing import Any

from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.fields import bounds_of
from engine.api.request import GuidanceOptions
from engine.metadata.option_text import FREEU_FACTORS
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.controls import number_of
from engine.metadata.readers.values import Values

_TILED = {
    (True, True): Tiling.BOTH,
    (True, False): Tiling.X,
    (False, True): Tiling.Y,
    (False, False): Tiling.NONE,
}
# The nodes of ComfyUI, and the settings that their inputs are here.
_FREEU_NODES = {"FreeU": FreeUVersion.V1, "FreeU_V2": FreeUVersion.V2}
# The factors of the first version's node that are not in a graph.
_FIRST_VERSIONS = {"b1": 1.1, "b2": 1.2}
_GUIDING_NODES = {
    "PerturbedAttentionGuidance": {"pag_scale": ("scale", 3.0)},
    "SelfAttentionGuidance": {"sag_scale": ("scale", 0.5), "sag_blur": ("blur_sigma", 2.0)},
}
_TILING_NODE = "SeamlessTile"
# The node of sd-perturbed-attention, and what its other inputs must be.
_PERTURBING_NODE, _SCALES = "PerturbedAttention", ("scale", "adaptive_scale")
_USUAL_BLOCK = ("middle", 0)
_USUAL_INPUTS = {
    "unet_block": "middle",
    "unet_block_id": 0,
    "unet_block_list": "",
    "sigma_start": -1,
    "sigma_end": -1,
    "rescale": 0,
}
_TILINGS = {"enable": Tiling.BOTH, "x_only": Tiling.X, "y_only": Tiling.Y, "disable": Tiling.NONE}
_SWARM_TILINGS = {
    "None": Tiling.NONE,
    "false": Tiling.NONE,
    "true": Tiling.BOTH,
    "X-Only": Tiling.X,
    "Y-Only": Tiling.Y,
}
# A parameter's key has no digits.
_SWARM_FACTORS = {
    "freeu_b1": "freeublockone",
    "freeu_b2": "freeublocktwo",
    "freeu_s1": "freeuskipone",
    "freeu_s2": "freeuskiptwo",
}
# The nodes that `settings_of_nodes` reads.
UNDERSTOOD_NODES = frozenset({*_FREEU_NODES, *_GUIDING_NODES, _TILING_NODE, _PERTURBING_NODE})
# SD.Next's pipeline blurs by this deviation.
_DIFFUSERS_BLUR = 1.0


def tiled(*, x: bool, y: bool) -> DenoiserOptions:
    """Return the options of a picture that continues at its opposite edges."""
    return DenoiserOptions(tiling=_TILED[x, y])


def infotext_denoiser(values: Values) -> DenoiserOptions:
    """Return the options in AUTOMATIC1111's line."""
    both = values.flag("Tiling")
    x, y = values.flag("Tile X"), values.flag("Tile Y")
    _expect(values, ("Start Tiling From Step", "0"), ("Stop Tiling After Step", "-1"))
    found: dict[str, Any] = {"tiling": _TILED[both or x, both or y]}
    if values.flag("freeu_enabled"):
        keys = {f"freeu_{factor}": f"freeu_{factor}" for factor in FREEU_FACTORS}
        found |= values.read(DenoiserOptions, **keys)
        found["freeu"] = FreeUVersion.V2
        found["freeu_range"] = _span(values, "freeu_start", "freeu_end")
    return DenoiserOptions(**found)


def infotext_attention(values: Values) -> dict[str, Any]:
    """Return the fields of `GuidanceOptions` for guidance by attention in AUTOMATIC1111's line."""
    found: dict[str, Any] = {}
    if values.flag("pagi_enabled"):
        found |= values.read(GuidanceOptions, pag_scale="pagi_scale")
        found["pag_range"] = _span(values, "pagi_start_step", "pagi_end_step")
        _expect(values, ("pagi_attenuation", "0"))
    found |= _perturbed_in_forge(values)
    for key in ("PAG scale", "PAG Scale"):
        if scale := values.read(GuidanceOptions, pag_scale=key)["pag_scale"]:
            found["pag_scale"] = scale
            found |= values.read(GuidanceOptions, pag_adaptive="PAG adaptive")
    values.skip("PAG Active")
    if values.flag("sag_enabled"):
        keys = {"sag_blur": "sag_blur_sigma", "sag_threshold": "sag_threshold"}
        found |= values.read(GuidanceOptions, sag_scale="sag_scale", **keys)
    if scale := values.read(GuidanceOptions, sag_scale="SAG scale")["sag_scale"]:
        found |= {"sag_scale": scale, "sag_blur": _DIFFUSERS_BLUR}
    return found


def _perturbed_in_forge(values: Values) -> dict[str, Any]:
    """Return the fields for the keys of sd-perturbed-attention in Forge and reForge.

    Only its usual block is taken over, and no part of the run, which it counts in noise levels.
    """
    if not values.flag("pag_enabled"):
        return {}
    values.skip("pag_rescale_mode")
    block = values.text("pag_block"), values.number("pag_block_id", 0, 1e9)
    if block not in ((None, None), _USUAL_BLOCK) or values.text("pag_block_list"):
        values.refuse("pag_block")
    _expect(values, ("pag_rescale", "0"), ("pag_sigma_start", "-1"), ("pag_sigma_end", "-1"))
    scale = values.number("pag_scale", *bounds_of(GuidanceOptions, "pag_scale")) or 0.0
    adaptive = values.number("pag_adaptive_scale", 0, 1) or 0.0
    return {"pag_scale": scale, "pag_adaptive": _per_timestep(scale, adaptive)}


def _per_timestep(scale: float, adaptive: float) -> float:
    """Return the decrease of the scale for each timestep (`signal_scale` of `pag_nodes.py`)."""
    return scale * adaptive**4


def swarm_denoiser(values: Values) -> DenoiserOptions:
    """Return the options among SwarmUI's parameters.

    Its seamless edges are those of denoiser and VAE; FreeU is on where it says what it applies to.
    """
    found: dict[str, Any] = {"tiling": _SWARM_TILINGS.get(str(values.get("seamlesstileable")))}
    if found["tiling"] is None:
        values.refuse("seamlesstileable")
        found["tiling"] = Tiling.NONE
    applied, version = values.text("freeuapplyto"), values.text("freeuversion")
    factors = values.read(DenoiserOptions, **_SWARM_FACTORS)
    if applied == "Refiner":
        values.warnings.append("FreeU acted on its second pass alone, and is left out.")
    elif applied is not None:
        found |= factors
        found["freeu"] = FreeUVersion.V2 if version == "2" else FreeUVersion.V1
    return DenoiserOptions(**found)


def swarm_attention(values: Values) -> dict[str, Any]:
    """Return the fields of `GuidanceOptions` for guidance by attention among SwarmUI's parameters.

    They are those of ComfyUI's nodes.
    """
    return values.read(
        GuidanceOptions,
        pag_scale="perturbedattentionguidancescale",
        sag_scale="selfattentionguidancescale",
        sag_blur="selfattentionguidancesigmablur",
    )


def settings_of_nodes(graph: Graph, nodes: list[Node]) -> dict[str, object]:
    """Return the settings of nodes that change a denoiser, by the names of the request's fields."""
    found: dict[str, Any] = {}
    for node in nodes:
        if version := _FREEU_NODES.get(node.kind):
            found["freeu"] = version
            usual = _FIRST_VERSIONS if version is FreeUVersion.V1 else {}
            for factor in FREEU_FACTORS:
                value = graph.value(node, factor)
                found[f"freeu_{factor}"] = usual.get(factor) if value is None else value
        for field, (key, usual) in _GUIDING_NODES.get(node.kind, {}).items():
            value = graph.value(node, key)
            found[field] = usual if value is None else value
        if node.kind == _PERTURBING_NODE:
            scale, adaptive = (number_of(graph.value(node, key)) for key in _SCALES)
            found["pag_scale"] = 3.0 if scale is None else scale
            usual = 0.0 if adaptive is None or not 0 <= adaptive <= 1 else adaptive
            found["pag_adaptive"] = _per_timestep(found["pag_scale"], usual)
        if node.kind == _TILING_NODE:
            found["tiling"] = _TILINGS.get(str(graph.value(node, "tiling")), Tiling.NONE)
    return found


def is_unusual(graph: Graph, node: Node) -> bool:
    """Return True for a node of which not all settings are read."""
    given = {key: graph.value(node, key) for key in _USUAL_INPUTS}
    return node.kind == _PERTURBING_NODE and any(
        value not in (None, _USUAL_INPUTS[key]) for key, value in given.items()
    )


def node_denoiser_options(values: Values) -> DenoiserOptions:
    """Return the options among the settings of a graph's nodes."""
    version, tiling = values.get("freeu"), values.get("tiling")
    keys = {f"freeu_{factor}": f"freeu_{factor}" for factor in FREEU_FACTORS}
    return DenoiserOptions(
        tiling=tiling if isinstance(tiling, Tiling) else Tiling.NONE,
        freeu=version if isinstance(version, FreeUVersion) else FreeUVersion.OFF,
        **values.read(DenoiserOptions, **keys),
    )


def node_attention_guidance(values: Values) -> dict[str, Any]:
    """Return the fields of `GuidanceOptions` among the settings of a graph's nodes."""
    names = ("pag_scale", "pag_adaptive", "sag_scale", "sag_blur")
    return values.read(GuidanceOptions, **{name: name for name in names})


def _span(values: Values, start: str, end: str) -> tuple[float, float]:
    """Return a part of the run; a whole one where its numbers make no sense."""
    low, high = values.number(start, 0, 1) or 0.0, values.number(end, 0, 1)
    span = (low, 1.0 if high is None else high)
    return span if span[0] <= span[1] else (0.0, 1.0)


def _expect(values: Values, *usual: tuple[str, str]) -> None:
    """Refuse values other than these, which are without effect."""
    for key, value in usual:
        given = values.number(key, -1e9, 1e9)
        if given is not None and given != float(value):
            values.refuse(key)
