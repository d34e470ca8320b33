"""Seamless edges, FreeU and guidance by attention, as other tools write them.

After AUTOMATIC1111's `modules/processing.py`, the extensions asymmetric-tiling-sd-webui and
sd-webui-incantations, Forge's built-in extensions, SD.Next, and the nodes of ComfyUI's
`comfy_extras` and of ComfyUI-seamless-tiling.
"""

from collections.abc import Iterator
from typing import Any

from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.request import GuidanceOptions
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.values import Values

_TILED = {
    (True, True): Tiling.BOTH,
    (True, False): Tiling.X,
    (False, True): Tiling.Y,
    (False, False): Tiling.NONE,
}
_FACTORS = ("b1", "b2", "s1", "s2")
# The nodes of ComfyUI, and the settings that their inputs are here.
_FREEU_NODES = {"FreeU": FreeUVersion.V1, "FreeU_V2": FreeUVersion.V2}
# The factors of the first version's node that are not in a graph.
_FIRST_VERSIONS = {"b1": 1.1, "b2": 1.2}
_GUIDING_NODES = {
    "PerturbedAttentionGuidance": {"pag_scale": ("scale", 3.0)},
    "SelfAttentionGuidance": {"sag_scale": ("scale", 0.5), "sag_blur": ("blur_sigma", 2.0)},
}
_TILING_NODE = "SeamlessTile"
_TILINGS = {"enable": Tiling.BOTH, "x_only": Tiling.X, "y_only": Tiling.Y, "disable": Tiling.NONE}
# The nodes that `settings_of_nodes` reads.
UNDERSTOOD_NODES = frozenset({*_FREEU_NODES, *_GUIDING_NODES, _TILING_NODE})
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
        keys = {f"freeu_{factor}": f"freeu_{factor}" for factor in _FACTORS}
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


def settings_of_nodes(graph: Graph, nodes: list[Node]) -> dict[str, object]:
    """Return the settings of nodes that change a denoiser, by the names of the request's fields."""
    found: dict[str, object] = {}
    for node in nodes:
        if version := _FREEU_NODES.get(node.kind):
            found["freeu"] = version
            usual = _FIRST_VERSIONS if version is FreeUVersion.V1 else {}
            for factor in _FACTORS:
                value = graph.value(node, factor)
                found[f"freeu_{factor}"] = usual.get(factor) if value is None else value
        for field, (key, usual) in _GUIDING_NODES.get(node.kind, {}).items():
            value = graph.value(node, key)
            found[field] = usual if value is None else value
        if node.kind == _TILING_NODE:
            found["tiling"] = _TILINGS.get(str(graph.value(node, "tiling")), Tiling.NONE)
    return found


def node_denoiser_options(values: Values) -> DenoiserOptions:
    """Return the options among the settings of a graph's nodes."""
    version, tiling = values.get("freeu"), values.get("tiling")
    keys = {f"freeu_{factor}": f"freeu_{factor}" for factor in _FACTORS}
    return DenoiserOptions(
        tiling=tiling if isinstance(tiling, Tiling) else Tiling.NONE,
        freeu=version if isinstance(version, FreeUVersion) else FreeUVersion.OFF,
        **values.read(DenoiserOptions, **keys),
    )


def node_attention_guidance(values: Values) -> dict[str, Any]:
    """Return the fields of `GuidanceOptions` among the settings of a graph's nodes."""
    names = ("pag_scale", "sag_scale", "sag_blur")
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


def option_pairs(
    options: DenoiserOptions, guidance: GuidanceOptions
) -> Iterator[tuple[str, str | float | None]]:
    """Yield the keys and values of AUTOMATIC1111's and Forge's line for these options."""
    both = options.tiling is Tiling.BOTH
    yield "Tiling", "True" if both else None
    if options.tiling in (Tiling.X, Tiling.Y):
        yield "Tile X", str(options.tiling is Tiling.X)
        yield "Tile Y", str(options.tiling is Tiling.Y)
    # Forge has the second version alone.
    if options.freeu is FreeUVersion.V2:
        yield "freeu_enabled", "True"
        yield from zip((f"freeu_{one}" for one in _FACTORS), options.freeu_factors, strict=True)
        yield from zip(("freeu_start", "freeu_end"), options.freeu_range, strict=True)
    if guidance.pag_scale:
        yield "pagi_enabled", "True"
        yield "pagi_scale", guidance.pag_scale
        yield from zip(("pagi_start_step", "pagi_end_step"), guidance.pag_range, strict=True)
        yield "PAG adaptive", guidance.pag_adaptive or None
    if guidance.sag_scale:
        yield "sag_enabled", "True"
        yield "sag_scale", guidance.sag_scale
        yield "sag_blur_sigma", guidance.sag_blur
        yield "sag_threshold", guidance.sag_threshold
