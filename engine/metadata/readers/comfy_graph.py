"""ComfyUI's executed graph, of unknown origin: nodes by name, and walks along their links.

Format: the "prompt" text of `SaveImage` (`nodes.py`): an object of nodes by name, each with its
`class_type` and its `inputs`, a value or a link [name, output]. There may be cycles, dangling links
and hundreds of thousands of nodes: a walk visits each node once.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec

from engine.metadata.json_text import as_list, as_object

# Inputs of nodes that only hold or pass on a value.
HELD = (
    "value", "text", "string", "prompt", "seed", "noise_seed", "int", "float", "number", "Value",
    "Number", "any", "anything", "Text", "STRING", "str", "Value_Int", "Value_Float",
)  # fmt: skip
# rgthree's contexts, and their outputs, which are called like their inputs (`context_utils.py`).
CONTEXTS = frozenset(
    {
        "Context (rgthree)", "Context Big (rgthree)", "Context Switch (rgthree)",
        "Context Switch Big (rgthree)",
    }
)  # fmt: skip
_CONTEXT_OUTPUTS = (
    "base_ctx", "model", "clip", "vae", "positive", "negative", "latent", "images", "seed",
    "steps", "step_refiner", "cfg", "ckpt_name", "sampler", "scheduler", "clip_width",
    "clip_height", "text_pos_g", "text_pos_l", "text_neg_g", "text_neg_l", "mask", "control_net",
)  # fmt: skip
# Nodes that pass on their inputs.
TRANSPARENT = CONTEXTS | frozenset(
    {
        "Reroute", "ToBasicPipe", "FromBasicPipe", "FromBasicPipe_v2", "EditBasicPipe",
        "ToDetailerPipe", "FromDetailerPipe", "FromDetailerPipe_v2", "BasicPipeToDetailerPipe",
        "DetailerPipeToBasicPipe", "easy pipeIn", "easy pipeOut",
    }
)  # fmt: skip
_WORD = re.compile(r"[a-z]+")
# Inputs that bundle several values under their names.
_BUNDLES = frozenset({"pipe", "ctx", "context", "bus", "tuple"})
# Words that change the meaning of an input's name: `upscale_model`, `clip_vision`.
_OTHER_THINGS = frozenset(
    {
        "upscale", "vision", "control", "net", "style", "gligen", "sam", "name", "type", "skip",
        "bbox", "segm", "detailer", "inpaint", "refiner", "window", "layer", "g", "l",
    }
)  # fmt: skip
_MAX_HOPS = 64


class Node(msgspec.Struct, frozen=True, eq=False):
    """A node: its name in the graph, its class and its inputs. Equal only to itself."""

    name: str
    kind: str
    inputs: Mapping[str, object]


class Graph(msgspec.Struct, frozen=True):
    """All nodes by name, in the order of the file.

    `passed` are the links that reroutes and switches pass on, by the names of these nodes.
    """

    nodes: Mapping[str, Node]
    passed: Mapping[str, list[object]]

    def source(self, node: Node, key: str) -> Node | None:
        """Return the node that an input is linked to; None for a value or a dangling link.

        Reroutes and switches are passed.
        """
        link = self._link(node, key)
        return self.nodes.get(str(link[0])) if len(link) == 2 else None

    def output(self, node: Node, key: str) -> int:
        """Return the index of the linked node's output; 0 if the link does not state it."""
        link = self._link(node, key)
        return link[1] if len(link) == 2 and isinstance(link[1], int) else 0

    def _link(self, node: Node, key: str) -> list[object]:
        """Return an input's link, followed through reroutes and switches; empty for a value."""
        link = as_list(node.inputs.get(key))
        for _ in range(_MAX_HOPS):
            before = self.passed.get(str(link[0])) if len(link) == 2 else None
            if before is None:
                break
            link = before
        return link

    def input_of(self, node: Node, role: str) -> str | None:
        """Return the linked input's name for a role ("model", "negative"); None if there is none.

        Inputs are found by name, because each class numbers its outputs differently: an input
        called like the role, then one with that word in it (`opt_clip`), then a bundle
        (`basic_pipe`, `base_ctx`).
        """
        if self.source(node, role) is not None:
            return role
        words = {
            key: frozenset(_WORD.findall(key.casefold()))
            for key in node.inputs
            if self.source(node, key) is not None
        }
        alike = (key for key, found in words.items() if role in found and not found & _OTHER_THINGS)
        bundles = (key for key, found in words.items() if found & _BUNDLES)
        return next(alike, None) or next(bundles, None)

    def value(self, node: Node, key: str) -> object:
        """Return an input's value, found through nodes that hold or pass it on; None if unknown."""
        for _ in range(_MAX_HOPS):
            source = self.source(node, key)
            if source is None:
                value = node.inputs.get(key)
                # A dangling link is not a value.
                return None if isinstance(value, list) else value
            if source.kind in CONTEXTS:
                place = self.in_context(node, key)
                if place is None:
                    return None
                node, key = place
                continue
            source = self._unbundled(source, key)
            held = next((name for name in (key, *HELD) if name in source.inputs), None)
            if held is None:
                return None
            node, key = source, held
        return None

    def in_context(self, node: Node, key: str) -> tuple[Node, str] | None:
        """Return the context and its input that an input linked to a context gets; else None."""
        context, output = self.source(node, key), self.output(node, key)
        if not 0 <= output < len(_CONTEXT_OUTPUTS):
            return None
        name = _CONTEXT_OUTPUTS[output]
        for _ in range(_MAX_HOPS):
            if context is None or context.kind not in CONTEXTS:
                return None
            if name in context.inputs:
                return context, name
            here = context
            before = (self.source(here, key) for key in here.inputs if "ctx" in key)
            context = next(filter(None, before), None)
        return None

    def _unbundled(self, node: Node, key: str) -> Node:
        """Return the node that put the value `key` into a bundle; else the node itself."""
        for _ in range(_MAX_HOPS):
            if any(name in node.inputs for name in (key, *HELD)):
                break
            bundles = (
                self.source(node, name)
                for name in node.inputs
                if not _BUNDLES.isdisjoint(_WORD.findall(name.casefold()))
            )
            before = next(filter(None, bundles), None)
            if before is None:
                break
            node = before
        return node

    def upstream(
        self, start: Node, keys: tuple[str, ...] = (), without: frozenset[str] = frozenset()
    ) -> Iterator[tuple[Node, int]]:
        """Yield the nodes that feed a node, nearest first, each once, with their distance.

        With `keys`, only those connected through these inputs; inputs called as in `without` are
        not followed.
        """
        seen = {start.name}
        waiting = deque([(start, 0)])
        while waiting:
            node, distance = waiting.popleft()
            if distance:
                yield node, distance
            for key in keys if keys and not distance else node.inputs:
                source = None if key in without else self.source(node, key)
                if source is not None and source.name not in seen:
                    seen.add(source.name)
                    waiting.append((source, distance + 1))

    def line(self, start: Node, role: str) -> Iterator[Node]:
        """Yield the nodes along one role, such as a model's patches and then its loader."""
        seen = {start.name}
        node = start
        while (key := self.input_of(node, role)) is not None:
            source = self.source(node, key)
            if source is None or source.name in seen:
                return
            seen.add(source.name)
            yield source
            node = source


def _passing(nodes: Mapping[str, Node], node: Node) -> Iterable[str]:
    """Return the inputs of which a node passes on the first that is linked; none of most nodes."""
    match node.kind:
        case "ComfySwitchNode":
            return ("on_true" if _is_on(nodes, node.inputs.get("switch")) else "on_false",)
        case "Reroute":
            return islice(node.inputs, 1)
        case "Any Switch (rgthree)":
            return sorted(node.inputs)
        case "ImpactSwitch":
            return (f"input{node.inputs.get('select')}",)
        case _:
            return ()


def _is_on(nodes: Mapping[str, Node], value: object) -> bool:
    """Tell whether a value is true, or a link to a node that holds one that is."""
    link = as_list(value)
    holder = nodes.get(str(link[0])) if len(link) == 2 else None
    return (holder.inputs.get("value") if holder else value) is True


def read_graph(document: Mapping[str, object]) -> Graph | None:
    """Return the graph of a JSON object; None if it holds no nodes."""
    nodes: dict[str, Node] = {}
    for name, value in document.items():
        fields = as_object(value)
        kind = fields.get("class_type")
        if isinstance(kind, str):
            nodes[name] = Node(name, kind, as_object(fields.get("inputs")))
    passed: dict[str, list[object]] = {}
    for name, node in nodes.items():
        links = (as_list(node.inputs.get(key)) for key in _passing(nodes, node))
        linked = (link for link in links if len(link) == 2 and str(link[0]) in nodes)
        if (link := next(linked, None)) is not None:
            passed[name] = link
    return Graph(nodes, passed) if nodes else None
