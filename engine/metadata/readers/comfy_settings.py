"""The settings of a ComfyUI graph's sampler, and its networks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Self

import msgspec

from engine.api.lora import LoraChoice
from engine.metadata.json_text import as_object
from engine.metadata.readers.comfy_graph import TRANSPARENT, Graph, Node
from engine.metadata.readers.comfy_loras import (
    LORA_LOADERS,
    TAG_READERS,
    has_block_weights,
    is_bypassed,
    loras_of,
)
from engine.metadata.readers.comfy_outputs import LOADERS_SIZE, SIZES_IN_WORDS, Sampling
from engine.metadata.readers.denoiser_settings import (
    UNDERSTOOD_NODES,
    is_unusual,
    settings_of_nodes,
)
from engine.metadata.readers.loras import chosen
from engine.metadata.size_text import read_size

# Nodes of `nodes_custom_sampler.py` that are a single sampler with options.
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
    # Evenly spaced times, whose shift by size and steps every schedule of FLUX.2 has here.
    "Flux2Scheduler": "simple",
}
_UNDERSTOOD_SIGMAS = frozenset({*_SCHEDULE_NODES, "BasicScheduler"})


def sampler_settings(
    graph: Graph, sampling: Sampling, holder: Node
) -> tuple[dict[str, object], tuple[Node, ...]]:
    """Return a sampler's settings by KSampler's input names, and the nodes not understood.

    `holder` is the sampler, or its guider if it has one.
    """
    sampler = sampling.sampler
    nodes = [sampler, holder, graph.source(sampler, "noise"), sampling.latent]
    drawn, changing = _drawn(graph, sampler)
    sigmas, changed = _sigmas(graph, sampler)
    unread = (source for node in (*nodes, drawn, sigmas) for source in _unread(graph, node))
    others = (*changing, *changed, *unread)
    settings: dict[str, object] = {}
    for node in (*nodes, drawn, sigmas):
        for key in _setting_keys(graph, node) if node else ():
            if node is not None:
                settings.setdefault(_KEYS.get(key, key), graph.value(node, key))
    settings |= _by_kind(drawn, sigmas)
    settings |= _size_in_words(graph, sampling.latent)
    if sampling.batch_index is not None:
        settings["batch_index"] = sampling.batch_index
    return _without_usual(settings), others


# Inputs that are networks, prompts and the like, or that control the program.
_LINKS = frozenset(
    {
        "model", "positive", "negative", "conditioning", "latent_image", "noise", "guider",
        "sampler", "sigmas", "vae", "clip", "control_after_generate", "model_type",
        "preview_method", "vae_decode", "script",
    }
)  # fmt: skip
_KEYS = {"noise_seed": "seed", **dict(zip(LOADERS_SIZE, ("width", "height"), strict=True))}
_SIZE_KEYS = frozenset({*LOADERS_SIZE, *SIZES_IN_WORDS, "width", "height", "batch_size"})


def _setting_keys(graph: Graph, node: Node) -> Iterator[str]:
    """Yield the inputs of a node that are settings; of a loader of files only those of the size."""
    is_loader = _file(graph, node) is not None
    return (key for key in node.inputs if (key in _SIZE_KEYS if is_loader else key not in _LINKS))


# The scripts of efficiency-nodes draw again, or change how a sampler draws.
_SCRIPT = "script"
_NEEDED = frozenset(
    {"seed", "noise_seed", "steps", "cfg", "sampler_name", "scheduler", "denoise", _SCRIPT}
)


def _unread(graph: Graph, node: Node | None) -> Iterator[Node]:
    """Yield the nodes that state or change a setting in a way that is not known."""
    if node is None:
        return
    for key in filter(_NEEDED.__contains__, node.inputs):
        source = graph.source(node, key)
        if source is not None and (key == _SCRIPT or graph.value(node, key) is None):
            yield source


def _drawn(graph: Graph, sampler: Node) -> tuple[Node | None, tuple[Node, ...]]:
    """Return the node that is the method of sampling, and the nodes that change it."""
    changing: list[Node] = []
    node = graph.source(sampler, "sampler")
    while node is not None and node not in changing:
        before = graph.source(node, "sampler")
        if before is None:
            return node, tuple(changing)
        changing.append(node)
        node = before
    return None, tuple(changing)


def _sigmas(graph: Graph, sampler: Node) -> tuple[Node | None, tuple[Node, ...]]:
    """Return the node that made the sigmas, and the nodes that changed them afterwards."""
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
    """Return the settings that follow from the classes of the sampler and sigma nodes."""
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


# Inputs with values that change nothing.
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


_RATIO_KEYS = ("aspect_ratio", "swap_dimensions", "upscale_factor", "prescale_factor")


def _size_in_words(graph: Graph, latent: Node | None) -> dict[str, object]:
    """Return width and height of an empty latent's text such as "1216 x 832 (landscape)"."""
    if latent is None:
        return {}
    if {"width", "height"} <= latent.inputs.keys():
        return _chosen_size(graph, latent)
    for key in SIZES_IN_WORDS:
        size = _told_size(graph.value(latent, key))
        if size is not None:
            return {"width": size[0], "height": size[1], key: None}
    return {}


def _told_size(text: object) -> tuple[int, int] | None:
    """Return the size that a text is, or ends with: "3:4 portrait 896x1152"."""
    if not isinstance(text, str):
        return None
    return read_size(text) or read_size(text.rpartition(" ")[2])


def _chosen_size(graph: Graph, latent: Node) -> dict[str, object]:
    """Return the size of Comfyroll's aspect ratios, in the latent or linked to its sides.

    The nodes' own width and height count for the choice "custom" alone
    (`nodes_aspect_ratio.py`).
    """
    node = graph.source(latent, "width") or latent
    if not {"aspect_ratio", "swap_dimensions", "width", "height"} <= node.inputs.keys():
        return {}
    own = graph.value(node, "width"), graph.value(node, "height")
    sides = _told_size(graph.value(node, "aspect_ratio")) or own
    scale = graph.value(node, "prescale_factor")
    if isinstance(scale, int | float) and scale != 1:
        sides = tuple(int(side * scale) if isinstance(side, int) else side for side in sides)
    # The first output is the width.
    turned = node is not latent and graph.output(latent, "width") == 1
    if (graph.value(node, "swap_dimensions") == "On") is not turned:
        sides = sides[::-1]
    return {**dict.fromkeys(_RATIO_KEYS), "width": sides[0], "height": sides[1]}


def _without_usual(settings: dict[str, object]) -> dict[str, object]:
    steps, end = settings.get("steps"), settings.get("end_at_step")
    if isinstance(steps, int) and isinstance(end, int) and end >= steps:
        del settings["end_at_step"]
    return {key: value for key, value in settings.items() if (key, value) not in _USUAL}


class Networks(msgspec.Struct, frozen=True):
    """The files of a sampler's networks, and the changes made to these networks."""

    checkpoint: str | None = None
    loras: tuple[LoraChoice, ...] = ()
    # True if a node read the LoRAs of tags in the prompt.
    reads_tags: bool = False
    last_layer: object = None
    rescale: object = None
    zero_terminal_snr: bool = False
    # The settings of nodes that change the denoiser, by the names of the request's fields.
    changes: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    others: tuple[Node, ...] = ()

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the nodes on the way, by their inputs' or the request's names."""
        own = {"stop_at_clip_layer": self.last_layer, "multiplier": self.rescale}
        return {**own, **self.changes}

    @classmethod
    def of(cls, graph: Graph, holder: Node, encoder: Node | None) -> Self:
        """Return the files and changes on the links to the denoiser and the text encoder."""
        model = tuple(graph.line(holder, "model"))
        clip = tuple(graph.line(encoder, "clip")) if encoder is not None else None
        nodes = list(dict.fromkeys((*model, *(clip or ()))))
        values = {node.kind: node for node in reversed(nodes)}
        rescale = values.get("RescaleCFG")
        levels = values.get("ModelSamplingDiscrete")
        return cls(
            checkpoint=next((name for node in nodes if (name := _file(graph, node))), None),
            loras=chosen(
                # A loader that encodes the prompt itself has its LoRAs in its own text encoder.
                _on_its_lines(
                    lora,
                    denoiser=node in model,
                    text=clip is None or node in clip or node is encoder,
                )
                for node in nodes
                for lora in loras_of(graph, node)
            ),
            reads_tags=not TAG_READERS.isdisjoint(node.kind for node in nodes),
            last_layer=_last_layer(graph, (*(clip or ()), *model)),
            rescale=graph.value(rescale, "multiplier") if rescale else None,
            changes=settings_of_nodes(graph, nodes),
            zero_terminal_snr=levels is not None and graph.value(levels, "zsnr") is True,
            others=tuple(node for node in nodes if not _is_understood(graph, node)),
        )


_UNDERSTOOD = (
    TRANSPARENT
    | UNDERSTOOD_NODES
    | LORA_LOADERS
    | {"CLIPSetLastLayer", "RescaleCFG", "ModelSamplingDiscrete"}
)


def _is_understood(graph: Graph, node: Node) -> bool:
    return (
        (node.kind in _UNDERSTOOD and not is_unusual(graph, node))
        or _file(graph, node) is not None
        or any(key.startswith("clip_name") for key in node.inputs)
        or is_bypassed(graph, node)
        or (any(True for _ in loras_of(graph, node)) and not has_block_weights(graph, node))
    )


def _last_layer(graph: Graph, nodes: Iterable[Node]) -> object:
    """Return the last layer of CLIP, from the nearest node that chooses it; loaders may, too."""
    for node in nodes:
        key = "stop_at_clip_layer" if node.kind == "CLIPSetLastLayer" else "clip_skip"
        layer = graph.value(node, key)
        if isinstance(layer, int) and layer < 0:
            return layer
    return None


# Those of ComfyUI, of efficiency-nodes, and of loaders of GGUF and Nunchaku files.
_FILES = ("ckpt_name", "unet_name", "base_ckpt_name", "gguf_name", "model_path")


def _file(graph: Graph, node: Node) -> str | None:
    for key in _FILES:
        name = graph.value(node, key)
        # pythongosssss' loader has an object with the name and a picture.
        name = as_object(name).get("content", name)
        if isinstance(name, str):
            return name
    return None


def _on_its_lines(lora: LoraChoice, *, denoiser: bool, text: bool) -> LoraChoice:
    """Return a LoRA with strength 0 where the loader's output is not used."""
    given = lora.strength if lora.text_strength is None else lora.text_strength
    if denoiser and text:
        return lora
    return msgspec.structs.replace(
        lora, strength=lora.strength if denoiser else 0.0, text_strength=given if text else 0.0
    )
