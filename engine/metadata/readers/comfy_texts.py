"""The texts that the nodes of a ComfyUI graph hold, pass on or join.

After `nodes_string.py` of ComfyUI and `WAS_Node_Suite.py`; other nodes by the names of their
inputs.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from engine.metadata.readers.comfy_graph import CONTEXTS, HELD, Graph, Node

# A graph may join a text with itself repeatedly.
_MAX_NODES, _MAX_CHARACTERS = 256, 2_000_000
# Nodes that show or pass on a text.
_PLAIN = frozenset(
    {
        "Reroute", "ShowText|pysssss", "Text to Console", "Display Any (rgthree)", "PreviewAny",
        "easy showAnything", "Text Multiline", "String Literal", "Text _O", "Any Switch (rgthree)",
        "CR Text", "ttN text", "DF_Text_Box", "PrimitiveString", "PrimitiveStringMultiline",
        "JjkText", "ShowText", "ConvertStringToComboNode", "Note",
    }
)  # fmt: skip
# Nodes whose n-th output is the n-th of these inputs.
_BY_PLACE = {
    "Text String": ("text", "text_b", "text_c", "text_d"),
    "easy positive": ("positive",),
    "easy negative": ("negative",),
}
# A node with a seed may draw or write a text, but does not hold the seed as one.
_HOLDING = tuple(key for key in HELD if "seed" not in key)
# Inputs that hold the result of a wildcard or random text, next to its template.
_WRITTEN_OUT = ("populated_text", "processed_text", "result_text", "text_result")


class ReadText(msgspec.Struct, frozen=True):
    """A text, or None if it is not in the graph; `changers` may have changed it."""

    text: str | None
    changers: tuple[Node, ...] = ()


def read_text(graph: Graph, node: Node, key: str) -> ReadText:
    """Return the text of a node's input."""
    reading = _Reading(graph)
    text = reading.of(node, key)
    return ReadText(text, tuple(dict.fromkeys(reading.changers)))


class _Reading(msgspec.Struct):
    graph: Graph
    changers: list[Node] = msgspec.field(default_factory=list[Node])
    visited: int = 0
    # The nodes being read: a text that leads back to itself has no value.
    inside: set[str] = msgspec.field(default_factory=set[str])

    def of(self, node: Node, key: str) -> str | None:
        source = self.graph.source(node, key)
        if source is None:
            value = node.inputs.get(key)
            is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
            return str(value) if is_text else None
        self.visited += 1
        if self.visited > _MAX_NODES or source.name in self.inside:
            return None
        if source.kind in CONTEXTS:
            place = self.graph.in_context(node, key)
            return None if place is None else self.of(*place)
        self.inside.add(source.name)
        text = self._made_by(source, self.graph.output(node, key))
        self.inside.discard(source.name)
        return text if text is None or len(text) <= _MAX_CHARACTERS else None

    def _made_by(self, node: Node, output: int) -> str | None:
        join = _JOINS.get(node.kind)
        if join is not None:
            return self._joined(node, join)
        places = _BY_PLACE.get(node.kind)
        if places is not None:
            return self.of(node, places[output]) if 0 <= output < len(places) else None
        for key in _WRITTEN_OUT:
            if isinstance(node.inputs.get(key), str) and node.inputs[key]:
                return str(node.inputs[key])
        key = next((key for key in _HOLDING if key in node.inputs), None)
        if key is None:
            self.changers.append(node)
            return None
        # A node with a text most likely outputs it, unless the text is drawn from.
        is_drawn = any("seed" in name for name in node.inputs) and len(node.inputs) > 1
        if node.kind not in _PLAIN and (is_drawn or self.graph.source(node, key) is not None):
            self.changers.append(node)
        return self.of(node, key)

    def _joined(self, node: Node, join: "Join") -> str | None:
        texts = {key: self.of(node, key) for key in join.parts(node.inputs)}
        if any(text is None for text in texts.values()):
            self.changers.append(node)
        known = {key: text for key, text in texts.items() if text is not None}
        return join.join(node.inputs, known) if known else None


class Join(msgspec.Struct, frozen=True):
    """A class of nodes that joins texts: `parts` lists the inputs with texts, `join` joins."""

    parts: Callable[[Mapping[str, object]], Iterator[str]]
    join: Callable[[Mapping[str, object], Mapping[str, str]], str]


def _named(*names: str) -> Callable[[Mapping[str, object]], Iterator[str]]:
    return lambda inputs: (name for name in names if name in inputs)


def _text_at(inputs: Mapping[str, object], key: str, usual: str) -> str:
    value = inputs.get(key, usual)
    return value if isinstance(value, str) else usual


def _with(delimiter: str, usual: str) -> Callable[[Mapping[str, object], Mapping[str, str]], str]:
    return lambda inputs, texts: _text_at(inputs, delimiter, usual).join(texts.values())


_WAS_PARTS = _named("text_a", "text_b", "text_c", "text_d")


def _was(inputs: Mapping[str, object], texts: Mapping[str, str]) -> str:
    """Join texts as WAS' "Text Concatenate" does.

    The node has a delimiter; older versions have a switch for a line break.
    """
    if "linebreak_addition" in inputs:
        separator = "\n" if inputs["linebreak_addition"] == "true" else ""
        return separator.join(texts.values())
    delimiter = _text_at(inputs, "delimiter", ", ").replace("\\n", "\n")
    parts = texts.values()
    if inputs.get("clean_whitespace") == "true":
        parts = [part.strip() for part in parts]
    return delimiter.join(part for part in parts if part)


_JOINS: Mapping[str, Join] = {
    "StringConcatenate": Join(_named("string_a", "string_b"), _with("delimiter", "")),
    "Text Concatenate": Join(_WAS_PARTS, _was),
    "JoinStrings": Join(_named("string1", "string2"), _with("delimiter", " ")),
    "CR Text Concatenate": Join(_named("text1", "text2"), _with("separator", "")),
    "ttN concat": Join(_named("text1", "text2", "text3"), _with("delimiter", ",")),
}
