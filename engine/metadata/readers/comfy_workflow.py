"""Pictures that hold only ComfyUI's workflow, which is converted to the graph.

A workflow has values without names, in the order of a class' controls. Muted nodes are left out,
and a bypassed node passes on its input of the same type, as in `graphToPrompt`; so do nodes that
are in the window alone: reroutes, and KJNodes' that set and get a value by name.
"""

import re
from collections.abc import Mapping

import msgspec

from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.comfy import import_graph
from engine.metadata.readers.comfy_subgraphs import (
    BYPASSED,
    OFF,
    expanded,
    named_values,
    widget_names,
)
from engine.metadata.readers.comfy_widgets import CONTROLS
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.texts import TextChunk

_MARK = re.compile(r"workflow:\s*(?={)", re.IGNORECASE)
_MAX_HOPS = 64
_REROUTES = frozenset({"Reroute", "Reroute (rgthree)"})
_SETTERS = {"GetNode": "SetNode", "easy getNode": "easy setNode"}


def from_workflow(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of a workflow; None if there is none with a known sampler."""
    for chunk in texts:
        imported = import_graph(_graph(workflow_of(chunk)), texts)
        if imported is not None:
            remark = (
                "It holds a workflow, not the graph that was run: what was set by chance or "
                "changed since is another."
            )
            return msgspec.structs.replace(imported, warnings=(*imported.warnings, remark))
    return None


def workflow_of(chunk: TextChunk) -> Mapping[str, object]:
    """Return the workflow in a text; empty if it is something else."""
    mark = _MARK.match(chunk.text) if chunk.keyword.startswith("exif:") else None
    if mark is None and chunk.keyword != "workflow":
        return {}
    document = parse_object(chunk.text[mark.end() :] if mark else chunk.text)
    return document if "nodes" in document else {}


class _Link(msgspec.Struct, frozen=True):
    """The node and the output that a link comes from."""

    node: str
    output: int


def _graph(workflow: Mapping[str, object]) -> Mapping[str, object]:
    workflow = expanded(workflow)
    nodes = {
        str(fields["id"]): fields
        for value in as_list(workflow.get("nodes"))
        if "id" in (fields := as_object(value))
    }
    links = {
        str(number): _Link(str(node), output)
        for number, node, output in map(as_list, as_list(workflow.get("links")))
        if isinstance(output, int)
    }
    passed = _passed_on(nodes)
    return {
        name: {"class_type": fields.get("type"), "inputs": _inputs(fields, nodes, links, passed)}
        for name, fields in nodes.items()
        if fields.get("mode") not in (OFF, BYPASSED) and name not in passed
    }


Nodes = Mapping[str, Mapping[str, object]]


def _inputs(
    fields: Mapping[str, object],
    nodes: Nodes,
    links: Mapping[str, _Link],
    passed: Mapping[str, object],
) -> object:
    controls = CONTROLS.get(str(fields.get("type")), ())
    values = fields.get("widgets_values")
    if controls[:1] == ("seed",) and isinstance(next(iter(as_list(values)), None), str):
        # The first versions of efficiency-nodes have a state before it.
        controls = ("sampler_state", *controls)
    # Some classes name their values.
    inputs: dict[str, object] = dict(as_object(values))
    inputs |= zip(controls, as_list(values), strict=False)
    inputs |= named_values(widget_names(fields), as_list(values))
    for value in as_list(fields.get("inputs")):
        entry = as_object(value)
        link = _resolved(entry.get("link"), nodes, links, passed)
        if link is not None:
            inputs[str(entry.get("name"))] = [link.node, link.output]
    return inputs


def _resolved(
    number: object, nodes: Nodes, links: Mapping[str, _Link], passed: Mapping[str, object]
) -> _Link | None:
    """Return the origin of a link, followed through nodes that pass it on."""
    for _ in range(_MAX_HOPS):
        link = links.get(number) if isinstance(number, str) else None
        source = nodes.get(link.node) if link else None
        if link is None or source is None or source.get("mode") == OFF:
            return None
        if link.node in passed:
            number = passed[link.node]
            continue
        if source.get("mode") != BYPASSED:
            return link
        outputs = as_list(source.get("outputs"))
        kind = (
            as_object(outputs[link.output]).get("type") if 0 <= link.output < len(outputs) else None
        )
        alike = (as_object(entry) for entry in as_list(source.get("inputs")))
        number = next((place.get("link") for place in alike if place.get("type") == kind), None)
    return None


def _passed_on(nodes: Nodes) -> dict[str, object]:
    """Return the links into nodes of the window alone, by the names of these nodes.

    What a node gets comes from the node that sets a value of the same name.
    """
    kinds = {name: str(node.get("type")) for name, node in nodes.items()}
    found = {name: _first_link(nodes[name]) for name, kind in kinds.items() if kind in _REROUTES}
    setters = {
        (kind, _first_value(nodes[name])): _first_link(nodes[name])
        for name, kind in kinds.items()
        if kind in _SETTERS.values()
    }
    for name, kind in kinds.items():
        if kind in _SETTERS:
            found[name] = setters.get((_SETTERS[kind], _first_value(nodes[name])))
    return found


def _first_link(node: Mapping[str, object]) -> object:
    return next((as_object(place).get("link") for place in as_list(node.get("inputs"))), None)


def _first_value(node: Mapping[str, object]) -> str:
    return next(map(str, as_list(node.get("widgets_values"))), "")
