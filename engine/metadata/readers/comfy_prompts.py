"""The prompts of a ComfyUI graph: from a sampler's input back to the encoded text."""

import msgspec

from engine.metadata.readers.comfy_graph import TRANSPARENT, Graph, Node
from engine.metadata.readers.comfy_texts import read_text

_MAX_HOPS = 256
# Text inputs of text encoders; the first that exists counts.
_TEXTS = ("populated_text", "text", "text_g", "prompt", "text_l", "clip_l", "t5xxl")
# Inputs that carry a node's conditioning; of a node that joins several, the first is used.
_CONDITIONINGS = (
    "conditioning", "conditioning_to", "conditioning_1", "conditioning1", "cond", "cond1",
)  # fmt: skip
# "Text to Conditioning" is WAS' name for CLIPTextEncode.
_ENCODERS = frozenset(
    {"CLIPTextEncode", "CLIPTextEncodeSDXL", "CLIPTextEncodeFlux", "Text to Conditioning"}
)
# Flux reads the words by T5; CLIP gives it a single vector.
_T5_FIRST, _T5 = "CLIPTextEncodeFlux", "t5xxl"
OTHER_PARSERS = frozenset({"smZ CLIPTextEncode"})


class EncodedPrompt(msgspec.Struct, frozen=True):
    """A text, the node that encoded it, and nodes in between that a request cannot express.

    The text is None if it is not in the graph; `changers` may have changed it.
    """

    text: str | None = None
    encoder: Node | None = None
    others: tuple[Node, ...] = ()
    changers: tuple[Node, ...] = ()


def find_prompt(graph: Graph, sampler: Node, role: str) -> EncodedPrompt:
    """Follow a sampler's conditioning to its text; `role` is "positive" or "negative"."""
    others: list[Node] = []
    holder = sampler
    key = _first_key(graph, sampler, role)
    for _ in range(_MAX_HOPS):
        node = graph.source(holder, key) if key is not None else None
        if node is None:
            break
        if node.kind == "ConditioningZeroOut":
            return EncodedPrompt("", None, (*others, node))
        texts = [name for name in (role, *_TEXTS) if _is_text(graph, node, name)]
        # A node that adds words to a conditioning, as GLIGEN's boxes do, did not encode the prompt.
        if any(graph.source(node, name) is not None for name in _CONDITIONINGS):
            texts = []
        if node.kind == _T5_FIRST:
            texts.sort(key=lambda name: name != _T5)
        if texts:
            read = read_text(graph, node, texts[0])
            if not _is_understood(graph, node, texts):
                others.append(node)
            return EncodedPrompt(read.text, node, tuple(others), read.changers)
        if node.kind not in TRANSPARENT:
            others.append(node)
        holder, key = node, _onward(graph, node, role)
    return EncodedPrompt(None, None, tuple(others))


def _first_key(graph: Graph, sampler: Node, role: str) -> str | None:
    """Return the input for a role; a guider's only or first prompt is called "conditioning"."""
    key = graph.input_of(sampler, role)
    if key is not None or role == "negative":
        return key
    return next((name for name in _CONDITIONINGS if name in sampler.inputs), None)


def _is_understood(graph: Graph, node: Node, texts: list[str]) -> bool:
    """True if a node is smZ's encoder, or a known encoder whose texts are all equal."""
    if node.kind in OTHER_PARSERS:
        return True
    is_one = len({read_text(graph, node, name).text for name in texts}) == 1
    return node.kind in _ENCODERS and is_one


def _is_text(graph: Graph, node: Node, name: str) -> bool:
    """True if an input is a text, and not a conditioning of the same name."""
    if name not in node.inputs:
        return False
    if isinstance(node.inputs[name], str):
        return True
    # The text of another node: only encoders have a `clip` input too.
    return "clip" in node.inputs and name in _TEXTS and graph.source(node, name) is not None


def _onward(graph: Graph, node: Node, role: str) -> str | None:
    """Return the input that carries the conditioning; the first if there are several."""
    named = graph.input_of(node, role)
    linked = [key for key in node.inputs if graph.source(node, key) is not None]
    return named or next((key for key in (*_CONDITIONINGS, *linked) if key in linked), None)
