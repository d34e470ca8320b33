"""ComfyUI's subgraphs, laid out as nodes of the workflow that uses them.

The `definitions` of a workflow have the nodes of each subgraph once. A node whose class is the id
of a subgraph stands for all of them: inside, links from the node -10 bring its inputs, and links to
-20 are its outputs (`ExecutableNodeDTO.ts` of ComfyUI_frontend 1.48). Both become reroutes here, or
a node with the value that was set on the outside.
"""

from collections.abc import Iterator, Mapping, Sequence

from engine.metadata.json_text import as_list, as_object

# Modes of nodes that are not run: muted, and passing on their inputs.
OFF, BYPASSED = 2, 4
_INPUTS, _OUTPUTS = "-10", "-20"
# Subgraphs may hold each other, in files of unknown origin also themselves.
_MOST_SUBGRAPHS, _MOST_LEVELS, _MOST_PARTS = 1_000, 16, 50_000
_MOST_CHARACTERS = 64
# Values after that of a seed, without names of their own.
_AFTER_GENERATING = frozenset({"fixed", "increment", "decrement", "randomize"})

Fields = Mapping[str, object]


def expanded(workflow: Fields) -> Fields:
    """Return a workflow's nodes and links with the nodes of its subgraphs in their place.

    Names of nodes and links within a subgraph begin with the name of the node for it.
    """
    listed = as_list(as_object(workflow.get("definitions")).get("subgraphs"))
    subgraphs = {str(subgraph.get("id")): subgraph for subgraph in map(as_object, listed)}
    nodes: list[object] = []
    links: list[object] = []
    parts = 0
    waiting: list[tuple[str, Fields]] = [("", workflow)]
    for _ in range(_MOST_SUBGRAPHS):
        if not waiting or parts > _MOST_PARTS:
            break
        prefix, graph = waiting.pop()
        parts += _extent(graph)
        inner: dict[str, Fields] = {}
        for fields in map(as_object, as_list(graph.get("nodes"))):
            name = f"{prefix}{_number(fields.get('id'))}"
            subgraph = subgraphs.get(str(fields.get("type")))
            if subgraph is None or fields.get("mode") in (OFF, BYPASSED):
                inputs = [_renamed(entry, prefix) for entry in as_list(fields.get("inputs"))]
                nodes.append({**fields, "id": name, "inputs": inputs})
                continue
            inner[name] = subgraph
            nodes += _entries(fields, name, prefix)
        for link in as_list(graph.get("links")):
            links += _link(link, prefix, inner)
            nodes += _exits(link, prefix)
        if prefix.count(":") < _MOST_LEVELS:
            waiting += [(f"{name}:", subgraph) for name, subgraph in inner.items()]
    return {"nodes": nodes, "links": links}


def _extent(graph: Fields) -> int:
    """Return the number of parts that are laid out for a graph, of its nodes' inputs at least."""
    nodes = map(as_object, as_list(graph.get("nodes")))
    inputs = sum(1 + len(as_list(node.get("inputs"))) for node in nodes)
    return inputs + len(as_list(graph.get("links")))


def _number(value: object) -> str:
    """Return the number of a node or a link, in files of unknown origin anything, as a name."""
    return str(value)[:_MOST_CHARACTERS] if isinstance(value, int | str) else ""


def _renamed(entry: object, prefix: str) -> Fields:
    """Return a node's input with the name of its link in the whole workflow."""
    fields = as_object(entry)
    link = fields.get("link")
    return {**fields, "link": None if link is None else f"{prefix}{_number(link)}"}


def _entries(fields: Fields, name: str, prefix: str) -> Iterator[Fields]:
    """Yield the nodes that bring a subgraph's inputs; one without link or value has none."""
    values = _values_outside(fields)
    for slot, entry in enumerate(as_list(fields.get("inputs"))):
        own = _renamed(entry, prefix)
        place = {"id": f"{name}:{_INPUTS}:{slot}"}
        if own["link"] is not None:
            yield {**place, "type": "Reroute", "inputs": [own]}
        elif (key := str(own.get("name"))) in values:
            yield {**place, "type": "PrimitiveNode", "widgets_values": [values[key]]}


def _values_outside(fields: Fields) -> Fields:
    """Return the values that the node for a subgraph has of its own, by the subgraph's inputs.

    `proxyWidgets` lists them from version 1.28 to 1.42, those of nodes inside as well.
    """
    values = as_list(fields.get("widgets_values"))
    pairs = [
        as_list(pair) for pair in as_list(as_object(fields.get("properties")).get("proxyWidgets"))
    ]
    if not pairs:
        return named_values(widget_names(fields), values)
    if len(pairs) != len(values):
        pairs = [pair for pair in pairs if pair[:1] == ["-1"]]
    return {
        str(pair[1]): value
        for pair, value in zip(pairs, values, strict=False)
        if len(pair) == 2 and pair[0] == "-1"
    }


def widget_names(fields: Fields) -> list[str]:
    """Return the names of a node's values that its inputs tell: of all of them since 2025."""
    widgets = (as_object(as_object(entry).get("widget")) for entry in as_list(fields.get("inputs")))
    return [str(widget["name"]) for widget in widgets if "name" in widget]


def named_values(names: Sequence[str], values: Sequence[object]) -> dict[str, object]:
    """Return values by their names; none if there are more or fewer of them than names.

    What becomes of a seed after each picture is left out, if it has no name.
    """
    left = len(values) - len(names)
    kept: list[object] = []
    for value in values:
        if left > 0 and kept and isinstance(value, str) and value in _AFTER_GENERATING:
            left -= 1
        else:
            kept.append(value)
    return dict(zip(names, kept, strict=True)) if len(kept) == len(names) else {}


def _link(value: object, prefix: str, inner: Mapping[str, Fields]) -> Iterator[list[object]]:
    """Yield a link as a list: its name, the node and the output that it comes from."""
    parts = _parts(value)
    if parts is None:
        return
    number, origin, slot = parts[:3]
    name = f"{prefix}{_number(origin)}"
    if str(origin) == _INPUTS:
        name, slot = f"{name}:{_number(slot)}", 0
    elif name in inner:
        name, slot = f"{name}:{_OUTPUTS}:{_number(slot)}", 0
    yield [f"{prefix}{_number(number)}", name, slot]


def _exits(value: object, prefix: str) -> Iterator[Fields]:
    """Yield the node for an output of a subgraph, if a link leads to one."""
    parts = _parts(value)
    if parts is not None and str(parts[3]) == _OUTPUTS:
        link = {"link": f"{prefix}{_number(parts[0])}"}
        yield {"id": f"{prefix}{_OUTPUTS}:{_number(parts[4])}", "type": "Reroute", "inputs": [link]}


def _parts(value: object) -> list[object] | None:
    """Return a link's number, origin, output, target and input; None for something else.

    Links are lists in a workflow, and objects in a subgraph.
    """
    fields = as_object(value)
    keys = ("id", "origin_id", "origin_slot", "target_id", "target_slot")
    parts = [fields.get(key) for key in keys] if fields else as_list(value)
    return parts if len(parts) >= len(keys) else None
