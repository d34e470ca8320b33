"""Finds the sampler of a ComfyUI graph that made a picture, and the nodes before and after it.

A graph may save several pictures, each with the whole graph; the file's name tells the pictures
apart.
"""

import re
from collections.abc import Callable, Iterator

import msgspec

from engine.metadata.readers.comfy_graph import Graph, Node

# Nodes of extensions with a sampler's inputs are samplers under other names.
_IN_ONE = frozenset({"latent_image", "sampler_name", "steps"})
_CUSTOM = frozenset({"latent_image", "sampler", "sigmas"})
# Nodes that hold a sampler's settings and sample themselves, or configure another.
_SETTINGS = frozenset({"sampler_name", "scheduler", "steps", "cfg", "seed"})
# Inputs that give the size of an empty latent as one text.
SIZES_IN_WORDS = ("dimensions", "resolution", "size", "image_size_preset")
# Those of loaders that make an empty latent, too (efficiency-nodes, Easy-Use).
LOADERS_SIZE = ("empty_latent_width", "empty_latent_height")
# What loaders call the VAE of the checkpoint itself.
_OWN_VAE = "baked vae"
# Each ending and each pass costs a walk over the graph.
_MAX_ENDINGS, _MAX_PASSES = 8, 16
_MAX_PREFIX = 1000
# Inputs that a sampler starts from: a latent, or a picture to be redrawn.
_STARTS = ("latent_image", "image", "image_to_latent")
# Bundles may hold an empty latent (Easy-Use, tinyterraNodes).
_BUNDLED = ("pipe",)
# Inputs of the nodes before a sampler through which no latent comes: a size may be that of a map,
# and a loader may have ControlNets.
_NO_STARTS = frozenset(
    {
        *LOADERS_SIZE, *SIZES_IN_WORDS, "width", "height", "batch_size", "model", "clip", "vae",
        "positive", "negative", "lora_stack", "cnet_stack",
    }
)  # fmt: skip
# Nodes between a sampler and the file that change nothing.
_PLAIN = ("VAEDecode", "SaveImage", "PreviewImage", "Reroute")


class Sampling(msgspec.Struct, frozen=True):
    """The first of a chain of samplers that made the picture, and the nodes around it.

    `latent` is the node that gave the size; `others` are nodes that a request cannot express.
    `is_guessed` means that other samplers of the graph made pictures as well, and that nothing
    shows which of them made this one.
    """

    sampler: Node
    # The samplers after it, in the order of drawing.
    later: tuple[Node, ...] = ()
    latent: Node | None = None
    batch_index: int | None = None
    has_init: bool = False
    vae: str | None = None
    others: tuple[Node, ...] = ()
    is_guessed: bool = False


Size = tuple[int, int]


def find_sampling(graph: Graph, name: str = "", size: Size | None = None) -> Sampling | None:
    """Return the sampler of the saved picture; of a chain of samplers, the first.

    If several pictures are saved, it is the one by the node whose prefix starts the file's `name`,
    and which has the picture's `size`; then of those that begin with the same sampler the one with
    the most passes. A picture of a preview holds the graph, too.
    """
    saving = _saving(graph, name)
    for is_kind in (_is_sampler, _has_settings):
        saved = _samplings(graph, saving, is_kind)
        shown = _samplings(graph, _previews(graph), is_kind)
        candidates = saved or shown or _samplings(graph, _last(graph, is_kind), is_kind)
        if candidates:
            return _likeliest(_of_size(graph, candidates, shown, size))
    return None


def _of_size(
    graph: Graph, candidates: list[Sampling], shown: list[Sampling], size: Size | None
) -> list[Sampling]:
    """Return the candidates of this size; those that are `shown` if none can be of it, else all."""
    sizes = [_size(graph, sampling) for sampling in candidates]
    fitting = [sampling for sampling, own in zip(candidates, sizes, strict=True) if own == size]
    if size is None or (not fitting and None in sizes):
        return candidates
    shown = [sampling for sampling in shown if _size(graph, sampling) == size]
    return fitting or shown or candidates


def _likeliest(candidates: list[Sampling]) -> Sampling:
    first = candidates[0].sampler
    alike = (sampling for sampling in candidates if sampling.sampler is first)
    chains = {
        (sampling.sampler.name, *(node.name for node in sampling.later)) for sampling in candidates
    }
    return msgspec.structs.replace(
        max(alike, key=lambda sampling: len(sampling.later)), is_guessed=len(chains) > 1
    )


def _size(graph: Graph, sampling: Sampling) -> Size | None:
    """Return the size that a picture has by the last node that states one; None without one."""
    last = sampling.later[-1] if sampling.later else sampling.sampler
    before = (node for node, _ in graph.upstream(last, _STARTS, _NO_STARTS))
    for node in (*sampling.others, *before):
        width, height = graph.value(node, "width"), graph.value(node, "height")
        if isinstance(width, int) and isinstance(height, int):
            return width, height
        if _is_sampler(node) or "scale" in node.kind.casefold():
            return None
    return None


Kind = Callable[[Node], bool]


def _samplings(graph: Graph, endings: list[Node], is_kind: Kind) -> list[Sampling]:
    found: list[Sampling] = []
    for ending in endings[:_MAX_ENDINGS]:
        way = _nearest(graph, ending, is_kind)
        if way is not None:
            found.append(_sampling(graph, ending, way, is_kind))
    return found


def _saving(graph: Graph, name: str) -> list[Node]:
    """Return the nodes that save pictures, or only the one whose prefix best matches the file."""
    nodes = [node for node in graph.nodes.values() if "save" in node.kind.casefold()]
    # ComfyUI's own node first: only some of the others save pictures.
    nodes.sort(key=lambda node: node.kind != "SaveImage")
    lengths = {
        node: len(prefix) for node in nodes if name.startswith(prefix := _prefix(graph, node))
    }
    longest = max(lengths.values(), default=0)
    return [node for node in nodes if lengths.get(node) == longest] if longest else nodes


def _prefix(graph: Graph, node: Node) -> str:
    """Return the constant beginning of a node's file names, without folders."""
    prefix = graph.value(node, "filename_prefix")
    text = prefix if isinstance(prefix, str) else ""
    return re.split(r"[/\\]", text)[-1].partition("%")[0] if len(text) <= _MAX_PREFIX else ""


def _previews(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes.values() if "preview" in node.kind.casefold()]


def _last(graph: Graph, is_kind: Kind) -> list[Node]:
    """Return the last sampler of the graph, if it has one."""
    return [node for node in graph.nodes.values() if is_kind(node)][-1:]


def _has_settings(node: Node) -> bool:
    return node.inputs.keys() >= _SETTINGS


def _is_sampler(node: Node) -> bool:
    return node.inputs.keys() >= _IN_ONE or node.inputs.keys() >= _CUSTOM


def _nearest(graph: Graph, ending: Node, is_kind: Kind) -> Node | None:
    if is_kind(ending):
        return ending
    return next((node for node, _ in graph.upstream(ending) if is_kind(node)), None)


def _sampling(graph: Graph, ending: Node, sampler: Node, is_kind: Kind) -> Sampling:
    seen = {sampler.name}
    others = list(_between(graph, ending, sampler))
    # A node that is not a sampler by its inputs may do more than sample.
    if not _is_sampler(sampler):
        others.append(sampler)
    later: list[Node] = []
    for _ in range(_MAX_PASSES):
        before = graph.upstream(sampler, _STARTS, _NO_STARTS)
        earlier = next((node for node, _ in before if is_kind(node)), None)
        if earlier is None or earlier.name in seen:
            break
        seen.add(earlier.name)
        later.insert(0, sampler)
        sampler = earlier
    nodes = [node for node, _ in graph.upstream(sampler, _STARTS, _NO_STARTS)]
    bundled = (node for node, _ in graph.upstream(sampler, _BUNDLED, _NO_STARTS))
    latent = next((node for node in (*nodes, *bundled) if _has_size(node)), None)
    has_init = any(node.kind.startswith(("LoadImage", "VAEEncode")) for node in nodes)
    picked = next((node for node in nodes if node.kind == "LatentFromBatch"), None)
    index = graph.value(picked, "batch_index") if picked else None
    return Sampling(
        sampler=sampler,
        later=tuple(later),
        latent=None if has_init else latent,
        batch_index=index if isinstance(index, int) else None,
        has_init=has_init,
        vae=_vae(graph, ending),
        others=tuple(others),
    )


def _has_size(node: Node) -> bool:
    keys = node.inputs.keys()
    named = {"width", "height"} <= keys or {*LOADERS_SIZE} <= keys
    return named or any(isinstance(node.inputs.get(key), str) for key in SIZES_IN_WORDS)


def _between(graph: Graph, ending: Node, sampler: Node) -> Iterator[Node]:
    """Yield the nodes between the sampler and the file that may change the picture.

    Follows the inputs that carry pictures and latents.
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
    """Return the file of the VAE that decoded the picture; None if it came with the checkpoint."""
    for node, _ in graph.upstream(ending):
        if node.kind.startswith("VAEDecode"):
            loader = graph.source(node, "vae")
            name = graph.value(loader, "vae_name") if loader else None
            if not isinstance(name, str) or name.casefold() == _OWN_VAE:
                return None
            return name
    return None
