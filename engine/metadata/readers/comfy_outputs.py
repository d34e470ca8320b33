"""Which of a ComfyUI graph's samplers made the picture, what came before it and what after.

A graph may save several pictures, and writes itself into each: the file's name tells which.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from engine.metadata.readers.comfy_graph import Graph, Node

# Nodes with a sampler's inputs that are named otherwise are samplers of extensions.
_IN_ONE = frozenset({"latent_image", "sampler_name", "steps"})
_CUSTOM = frozenset({"latent_image", "sampler", "sigmas"})
# They hold a sampler's settings and sample themselves, or tell others how to.
_SETTINGS = frozenset({"sampler_name", "scheduler", "steps", "cfg", "seed"})
# How the size of an empty latent is said where it is one text.
SIZES_IN_WORDS = ("dimensions", "resolution", "size", "image_size_preset")
# Each is a walk over the graph.
_MAX_ENDINGS, _MAX_PASSES = 8, 16
_MAX_PREFIX = 1000
# By which inputs it begins with something: a latent, or a picture that it draws anew.
_STARTS = ("latent_image", "image")
# Between a sampler and the file, these change nothing.
_PLAIN = ("VAEDecode", "SaveImage", "PreviewImage", "Reroute")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The first of the samplers in a row that made the picture; what came before and after it.

    `latent` is the node that gave the size; `others` are nodes a request has no place for.
    `is_guessed`: the graph saves pictures of other samplers, too, and nothing tells which it is.
    """

    sampler: Node
    passes: int = 1
    latent: Node | None = None
    batch_index: int | None = None
    has_init: bool = False
    vae: str | None = None
    others: tuple[Node, ...] = ()
    is_guessed: bool = False


def find_sampling(graph: Graph, name: str = "") -> Sampling | None:
    """The sampler that leads to the saved picture, back to the first where one follows another.

    Where several pictures are saved, the node counts whose prefix the file's `name` begins with,
    else the first.
    """
    saving = _saving(graph, name)
    for is_kind in (_is_sampler, _has_settings):
        candidates = _samplings(graph, saving, is_kind)
        if candidates:
            differ = len({one.sampler.name for one in candidates}) > 1
            return replace(candidates[0], is_guessed=differ)
        others = _samplings(graph, list(_showing(graph, is_kind)), is_kind)
        if others:
            return others[0]
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
    """The nodes that save pictures; of those whose prefix a file begins with, the longest one's."""
    nodes = [node for node in graph.nodes.values() if "save" in node.kind.casefold()]
    # ComfyUI's own first: of others only some save pictures.
    nodes.sort(key=lambda node: node.kind != "SaveImage")
    lengths = {
        node: len(prefix) for node in nodes if name.startswith(prefix := _prefix(graph, node))
    }
    longest = max(lengths.values(), default=0)
    return [node for node in nodes if lengths.get(node) == longest] if longest else nodes


def _prefix(graph: Graph, node: Node) -> str:
    """How its files' names begin, as far as that is the same for all; folders are left out."""
    prefix = graph.value(node, "filename_prefix")
    text = prefix if isinstance(prefix, str) else ""
    return re.split(r"[/\\]", text)[-1].partition("%")[0] if len(text) <= _MAX_PREFIX else ""


def _showing(graph: Graph, is_kind: Kind) -> Iterator[Node]:
    """Nodes that show pictures; a graph without any is walked from its last sampler itself."""
    nodes = graph.nodes.values()
    yield from (node for node in nodes if "preview" in node.kind.casefold())
    yield from [node for node in nodes if is_kind(node)][-1:]


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
    # Samplers that are none by their inputs may do more than that.
    if not _is_sampler(sampler):
        others.append(sampler)
    for _ in range(_MAX_PASSES):
        before = graph.upstream(sampler, _STARTS)
        earlier = next((node for node, _ in before if is_kind(node)), None)
        if earlier is None or earlier.name in seen:
            break
        seen.add(earlier.name)
        others.append(sampler)
        sampler = earlier
    nodes = [node for node, _ in graph.upstream(sampler, _STARTS)]
    latent = next((node for node in nodes if _has_size(node)), None)
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


def _has_size(node: Node) -> bool:
    named = {"width", "height"} <= node.inputs.keys()
    return named or any(isinstance(node.inputs.get(key), str) for key in SIZES_IN_WORDS)


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
