"""The sampler of a ComfyUI graph that made the picture, with its settings and its networks."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Self

from engine.metadata.json_text import as_object
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.imported import lora

# Nodes with a sampler's inputs that are named otherwise are samplers of extensions.
_IN_ONE = frozenset({"latent_image", "sampler_name", "steps"})
_CUSTOM = frozenset({"latent_image", "sampler", "sigmas"})
# Sampler nodes of `nodes_custom_sampler.py` that are one sampler each, with options.
_SAMPLER_NODES = {
    "SamplerDPMPP_3M_SDE": "dpmpp_3m_sde",
    "SamplerDPMPP_2M_SDE": "dpmpp_2m_sde",
    "SamplerDPMPP_SDE": "dpmpp_sde",
    "SamplerDPMPP_2S_Ancestral": "dpmpp_2s_ancestral",
    "SamplerEulerAncestral": "euler_ancestral",
    "SamplerEulerAncestralCFGPP": "euler_ancestral_cfg_pp",
    "SamplerLMS": "lms",
    "SamplerDPMAdaptative": "dpm_adaptive",
    "SamplerLCMUpscale": "lcm",
}
_SCHEDULE_NODES = {
    "KarrasScheduler": "karras",
    "ExponentialScheduler": "exponential",
    "PolyexponentialScheduler": "polyexponential",
    "BetaSamplingScheduler": "beta",
    "AlignYourStepsScheduler": "align_your_steps",
}
_UNDERSTOOD_SIGMAS = frozenset({*_SCHEDULE_NODES, "BasicScheduler"})
# Each is a walk over the graph.
_MAX_ENDINGS, _MAX_PASSES = 8, 16
# Between a sampler and the file, these change nothing.
_PLAIN = ("VAEDecode", "SaveImage", "PreviewImage", "Reroute")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The first of the samplers in a row that made the picture; what came before and after it.

    `latent` is the node that gave the size; `others` are nodes a request has no place for.
    """

    sampler: Node
    passes: int = 1
    latent: Node | None = None
    batch_index: int | None = None
    has_init: bool = False
    vae: str | None = None
    others: tuple[Node, ...] = ()


def find_sampling(graph: Graph) -> Sampling | None:
    """The sampler that leads to the saved picture, back to the first where one follows another.

    Where several pictures are saved, the first node that saves one counts.
    """
    for ending in islice(_endings(graph), _MAX_ENDINGS):
        way = _nearest(graph, ending)
        if way is not None:
            return _sampling(graph, ending, way)
    return None


def _endings(graph: Graph) -> Iterator[Node]:
    """Nodes that save pictures, then those that show them, then all."""
    nodes = graph.nodes.values()
    yield from (node for node in nodes if node.kind == "SaveImage")
    yield from (node for node in nodes if "save" in node.kind.casefold())
    yield from (node for node in nodes if "preview" in node.kind.casefold())
    # A graph without any is walked from each sampler itself.
    samplers = [node for node in nodes if _is_sampler(node)]
    yield from samplers[-1:]


def _is_sampler(node: Node) -> bool:
    return node.inputs.keys() >= _IN_ONE or node.inputs.keys() >= _CUSTOM


def _nearest(graph: Graph, ending: Node) -> Node | None:
    if _is_sampler(ending):
        return ending
    return next((node for node, _ in graph.upstream(ending) if _is_sampler(node)), None)


def _sampling(graph: Graph, ending: Node, sampler: Node) -> Sampling:
    seen = {sampler.name}
    others = list(_between(graph, ending, sampler))
    for _ in range(_MAX_PASSES):
        before = graph.upstream(sampler, ("latent_image",))
        earlier = next((node for node, _ in before if _is_sampler(node)), None)
        if earlier is None or earlier.name in seen:
            break
        seen.add(earlier.name)
        others.append(sampler)
        sampler = earlier
    nodes = [node for node, _ in graph.upstream(sampler, ("latent_image",))]
    latent = next((node for node in nodes if {"width", "height"} <= node.inputs.keys()), None)
    has_init = any(node.kind.startswith(("LoadImage", "VAEEncode")) for node in nodes)
    picked = next((node for node in nodes if node.kind == "LatentFromBatch"), None)
    index = graph.value(picked, "batch_index") if picked else None
    return Sampling(
        sampler=sampler,
        passes=len(seen),
        latent=None if has_init else latent,
        batch_index=index if isinstance(index, int) else None,
        has_init=has_init,
        vae=_vae(graph, ending),
        others=tuple(others),
    )


def _between(graph: Graph, ending: Node, sampler: Node) -> Iterator[Node]:
    """Nodes on the way of the picture from the sampler to the file, that may change it.

    Followed by the inputs that carry pictures and latents.
    """
    carried = ("images", "image", "pixels", "samples", "samples_to", "image1", "upscale_image")
    seen: set[str] = set()
    node: Node | None = ending
    while node is not None and node.name not in seen and node is not sampler:
        seen.add(node.name)
        if not node.kind.startswith(_PLAIN) and node is not ending:
            yield node
        node = next((found for key in carried if (found := graph.source(node, key))), None)


def _vae(graph: Graph, ending: Node) -> str | None:
    """The file of the VAE that decoded the picture, where it has one of its own."""
    for node, _ in graph.upstream(ending):
        if node.kind.startswith("VAEDecode"):
            loader = graph.source(node, "vae")
            name = graph.value(loader, "vae_name") if loader else None
            return name if isinstance(name, str) else None
    return None


def sampler_settings(
    graph: Graph, sampling: Sampling, holder: Node
) -> tuple[dict[str, object], tuple[Node, ...]]:
    """The settings of a sampler by the names of KSampler's inputs, and nodes not understood.

    `holder` is the sampler, or its guider where it has one.
    """
    sampler = sampling.sampler
    nodes = [sampler, holder, graph.source(sampler, "noise"), sampling.latent]
    drawn = graph.source(sampler, "sampler")
    sigmas, others = _sigmas(graph, sampler)
    settings: dict[str, object] = {}
    for node in (*nodes, drawn, sigmas):
        for key in node.inputs if node else ():
            if key not in _LINKS and node is not None:
                settings.setdefault(_KEYS.get(key, key), graph.value(node, key))
    settings |= _by_kind(drawn, sigmas)
    if sampling.batch_index is not None:
        settings["batch_index"] = sampling.batch_index
    return _without_usual(settings), others


# Inputs that are networks, prompts and the like, or steer the program.
_LINKS = frozenset(
    {
        "model", "positive", "negative", "conditioning", "latent_image", "noise", "guider",
        "sampler", "sigmas", "vae", "clip", "control_after_generate", "model_type",
        "preview_method", "vae_decode",
    }
)  # fmt: skip
_KEYS = {"noise_seed": "seed"}


def _sigmas(graph: Graph, sampler: Node) -> tuple[Node | None, tuple[Node, ...]]:
    """The node that made the levels, and those that changed them since."""
    changed: list[Node] = []
    node = graph.source(sampler, "sigmas")
    seen: set[str] = set()
    while node is not None and node.name not in seen:
        seen.add(node.name)
        before = graph.source(node, "sigmas")
        if node.kind not in _UNDERSTOOD_SIGMAS:
            changed.append(node)
        if before is None:
            return node, tuple(changed)
        node = before
    return None, tuple(changed)


def _by_kind(drawn: Node | None, sigmas: Node | None) -> dict[str, object]:
    """What the classes of nodes say about sampler and schedule."""
    settings: dict[str, object] = {}
    if drawn is not None and drawn.kind in _SAMPLER_NODES:
        name = _SAMPLER_NODES[drawn.kind]
        if name == "dpmpp_2m_sde" and drawn.inputs.get("solver_type") == "heun":
            name += "_heun"
        on_card = drawn.inputs.get("noise_device") == "gpu"
        settings["sampler_name"] = name + "_gpu" * on_card
        settings |= {"solver_type": None, "noise_device": None}
    if sigmas is not None and sigmas.kind in _SCHEDULE_NODES:
        settings["scheduler"] = _SCHEDULE_NODES[sigmas.kind]
    return settings


# Inputs at the values that change nothing.
_USUAL: tuple[tuple[str, object], ...] = (
    ("add_noise", "enable"),
    ("add_noise", True),
    ("return_with_leftover_noise", "disable"),
    ("start_at_step", 0),
    ("alpha", 0.6),
    ("beta", 0.6),
    ("order", 4),
    ("r", 0.5),
)


def _without_usual(settings: dict[str, object]) -> dict[str, object]:
    steps, end = settings.get("steps"), settings.get("end_at_step")
    if isinstance(steps, int) and isinstance(end, int) and end >= steps:
        del settings["end_at_step"]
    return {key: value for key, value in settings.items() if (key, value) not in _USUAL}


@dataclass(frozen=True, slots=True)
class Networks:
    """The files a sampler's networks came from, and what was done to them on the way."""

    checkpoint: str | None = None
    loras: tuple[str, ...] = ()
    last_layer: object = None
    rescale: object = None
    zero_terminal_snr: bool = False
    others: tuple[Node, ...] = ()

    @classmethod
    def of(cls, graph: Graph, holder: Node, encoder: Node | None) -> Self:
        """Follow the denoiser from the sampler, and the text encoder from the prompt."""
        nodes = list(graph.line(holder, "model"))
        if encoder is not None:
            nodes += graph.line(encoder, "clip")
        nodes = list(dict.fromkeys(nodes))
        values = {node.kind: node for node in reversed(nodes)}
        layer, rescale = values.get("CLIPSetLastLayer"), values.get("RescaleCFG")
        levels = values.get("ModelSamplingDiscrete")
        return cls(
            checkpoint=next((name for node in nodes if (name := _file(graph, node))), None),
            loras=tuple(name for node in nodes for name in _loras(graph, node)),
            last_layer=graph.value(layer, "stop_at_clip_layer") if layer else None,
            rescale=graph.value(rescale, "multiplier") if rescale else None,
            zero_terminal_snr=levels is not None and graph.value(levels, "zsnr") is True,
            others=tuple(node for node in nodes if not _is_understood(graph, node)),
        )


_UNDERSTOOD = frozenset({"CLIPSetLastLayer", "RescaleCFG", "ModelSamplingDiscrete", "Reroute"})


def _is_understood(graph: Graph, node: Node) -> bool:
    return (
        node.kind in _UNDERSTOOD
        or _file(graph, node) is not None
        or "clip_name" in node.inputs
        or any(True for _ in _loras(graph, node))
    )


def _file(graph: Graph, node: Node) -> str | None:
    for key in ("ckpt_name", "unet_name"):
        name = graph.value(node, key)
        if isinstance(name, str):
            return name
    return None


def _loras(graph: Graph, node: Node) -> Iterator[str]:
    """The LoRAs of a loader, with their weights; rgthree's holds several, each an object."""
    name = graph.value(node, "lora_name")
    if isinstance(name, str) and name != "None":
        yield lora(name, graph.value(node, "strength_model"))
    for value in node.inputs.values():
        fields = as_object(value)
        name = fields.get("lora")
        if isinstance(name, str) and fields.get("on") is True:
            yield lora(name, fields.get("strength"))
