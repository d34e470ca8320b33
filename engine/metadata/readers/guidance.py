"""The guidance that a denoiser takes as an input (Flux.1-dev), beside the scale of CFG.

A request has the former as its guidance, and the latter as `true_cfg`; tools name both, and some
name a guidance for denoisers that take none.
"""

from collections.abc import Iterable

import msgspec

from engine.api.fields import bounds_of
from engine.api.request import GenerateRequest
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.values import Values

_BOUNDS = bounds_of(GenerateRequest, "guidance")
# ComfyUI's where no node states it (`Flux.extra_conds` of `model_base.py`).
USUAL = 3.5
# The nodes of `nodes_flux.py` that state it.
GUIDING_NODES = frozenset({"FluxGuidance", "CLIPTextEncodeFlux"})
# Words in the names of models of the same family without such an input.
_WITHOUT = ("schnell", "klein", "chroma")


def takes_guidance(model: object, cfg: float | None) -> bool:
    """Return True if a model's name tells that its denoiser takes guidance as an input.

    With a scale of CFG other than 1, a name with that word may be one of any family.
    """
    return cfg == 1 and "flux" in str(model).casefold() and not _takes_none(model)


def _takes_none(model: object) -> bool:
    name = str(model).casefold()
    return any(word in name for word in _WITHOUT)


def with_stated(
    request: GenerateRequest, values: Values, key: str, model: object
) -> GenerateRequest:
    """Return a request that was read with a tool's scale of CFG as guidance, with both scales.

    Under `key` is the guidance that the denoiser took, if any; the name of a `model` may tell that
    it takes none. The second passes have that of the first: CFG alone is told of them.
    """
    scale = values.number(key, *_BOUNDS)
    if scale is None or _takes_none(model):
        return request
    cfg = 1.0 if request.guidance is None else request.guidance
    return msgspec.structs.replace(
        request,
        guidance=scale,
        guidance_options=msgspec.structs.replace(request.guidance_options, true_cfg=cfg),
        second_passes=tuple(
            msgspec.structs.replace(second, guidance=None) for second in request.second_passes
        ),
    )


def guidance_of_nodes(graph: Graph, nodes: Iterable[Node], clip: Iterable[Node]) -> object:
    """Return the guidance that the nodes of a graph tell; None if they tell none.

    `nodes` are those between the sampler and the text, with its encoder; the nearest counts. Of
    those of the text encoders' line, `clip`, the loader tells that they are those of Flux.1.
    """
    for node in nodes:
        if node.kind in GUIDING_NODES and (scale := graph.value(node, "guidance")) is not None:
            return scale
    is_flux = any(graph.value(node, "type") == "flux" for node in clip)
    return USUAL if is_flux else None
