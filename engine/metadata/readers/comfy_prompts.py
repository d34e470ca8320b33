"""The prompts of a ComfyUI graph: from a sampler's input back to the text that was encoded."""

from dataclasses import dataclass

from engine.metadata.readers.comfy_graph import Graph, Node

_MAX_HOPS = 256
# The words of text encoders' inputs; the first that is there counts.
_TEXTS = ("text", "text_g", "prompt", "text_l", "clip_l", "t5xxl")
# By which input a node's conditioning comes in, the first one where it joins several.
_CONDITIONINGS = (
    "conditioning", "conditioning_to", "conditioning_1", "conditioning1", "cond", "cond1",
)  # fmt: skip
_ENCODERS = frozenset({"CLIPTextEncode", "CLIPTextEncodeSDXL"})
# They hand on what they get.
_TRANSPARENT = frozenset({"Reroute"})


@dataclass(frozen=True, slots=True)
class EncodedPrompt:
    """A text, the node that encoded it, and the nodes on the way that a request has no place for.

    No text where it was put together by nodes that are not understood.
    """

    text: str | None = None
    encoder: Node | None = None
    others: tuple[Node, ...] = ()


def find_prompt(graph: Graph, sampler: Node, role: str, key: str) -> EncodedPrompt:
    """Follow an input of a sampler to its text; `role` is "positive" or "negative"."""
    others: list[Node] = []
    holder = sampler
    for _ in range(_MAX_HOPS):
        output = graph.output(holder, key)
        node = graph.source(holder, key)
        if node is None:
            break
        if node.kind == "ConditioningZeroOut":
            return EncodedPrompt("", None, (*others, node))
        texts = [name for name in (role, *_TEXTS) if _is_text(graph, node, name)]
        if texts:
            if node.kind not in _ENCODERS or _differ(graph, node, texts):
                others.append(node)
            text = graph.value(node, texts[0])
            return EncodedPrompt(text if isinstance(text, str) else None, node, tuple(others))
        if node.kind not in _TRANSPARENT:
            others.append(node)
        onward = _onward(graph, node, output)
        if onward is None:
            break
        holder, key = node, onward
    return EncodedPrompt(None, None, tuple(others))


def _is_text(graph: Graph, node: Node, name: str) -> bool:
    """Whether an input is a text, and not a conditioning that is called the same."""
    if name not in node.inputs:
        return False
    if isinstance(node.inputs[name], str):
        return True
    # A text that comes from another node: only encoders have a `clip` beside it.
    return "clip" in node.inputs and name in _TEXTS and graph.source(node, name) is not None


def _differ(graph: Graph, node: Node, texts: list[str]) -> bool:
    """Whether an encoder of several texts got different ones; the first is taken."""
    return len({str(graph.value(node, name)) for name in texts}) > 1


def _onward(graph: Graph, node: Node, output: int) -> str | None:
    """The input by which the conditioning came in; of a pair, that of the same place."""
    pair = ("positive", "negative")
    if output < 2 and graph.source(node, pair[output]) is not None:
        return pair[output]
    linked = (key for key in node.inputs if graph.source(node, key) is not None)
    return next((key for key in (*_CONDITIONINGS, *linked) if graph.source(node, key)), None)
