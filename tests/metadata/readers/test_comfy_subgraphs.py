"""Workflows with subgraphs: the nodes inside them count as if they stood in the workflow."""

import json
from typing import Any

import pytest

from engine.api import SamplerName
from engine.metadata.json_text import as_list, as_object
from engine.metadata.readers import ImportedRequest, recognise
from engine.metadata.readers.comfy_subgraphs import expanded, named_values
from engine.metadata.texts import TextChunk

Fields = dict[str, Any]
INNER = "8f0e4b52-0000-4000-8000-000000000001"


def part(number: int, kind: str, values: list[Any], **inputs: int | None) -> Fields:
    """A node as the window writes them; inputs called `w_...` are those of a control."""
    entries: list[Fields] = []
    for key, link in inputs.items():
        name = key.removeprefix("w_")
        entries.append({"name": name, "link": link, "type": "*"})
        if key != name:
            entries[-1]["widget"] = {"name": name}
    return {"id": number, "type": kind, "inputs": entries, "widgets_values": values}


def between(number: int, *ends: int) -> Fields:
    """A link inside a subgraph."""
    keys = ("origin_id", "origin_slot", "target_id", "target_slot")
    return {"id": number, **dict(zip(keys, ends, strict=True)), "type": "*"}


# Inputs: the text, the seed, the model's name; output: the picture.
SUBGRAPH: Fields = {
    "id": INNER,
    "nodes": [
        part(1, "UNETLoader", ["inside.safetensors", "default"], w_unet_name=30),
        part(2, "CLIPLoader", ["qwen.safetensors", "lumina2", "default"]),
        part(3, "CLIPTextEncode", ["words inside"], clip=31, w_text=32),
        part(4, "EmptySD3LatentImage", [768, 1024, 1]),
        part(
            5,
            "KSampler",
            [1, "randomize", 8, 1.5, "euler", "simple", 1.0],
            model=33,
            positive=34,
            negative=34,
            latent_image=35,
            w_seed=36,
        ),
        part(6, "VAEDecode", [], samples=37),
    ],
    "links": [
        between(30, -10, 2, 1, 0),
        between(31, 2, 0, 3, 0),
        between(32, -10, 0, 3, 1),
        between(33, 1, 0, 5, 0),
        between(34, 3, 0, 5, 1),
        between(35, 4, 0, 5, 3),
        between(36, -10, 1, 5, 4),
        between(37, 5, 0, 6, 0),
        between(38, 6, 0, -20, 0),
    ],
}


def workflow(*nodes: Fields, links: list[list[Any]], subgraphs: list[Fields]) -> Fields:
    return {"nodes": [*nodes], "links": links, "definitions": {"subgraphs": subgraphs}}


def placed(values: list[Any], mode: int = 0, **properties: object) -> Fields:
    """A workflow whose words come from outside, and whose picture is saved there."""
    instance = part(20, INNER, values, w_text=1, w_seed=None, w_unet_name=None)
    return workflow(
        instance | {"mode": mode, "properties": properties},
        part(21, "PrimitiveStringMultiline", ["words outside"]),
        part(22, "SaveImage", ["ComfyUI"], images=2),
        links=[[1, 21, 0, 20, 0, "STRING"], [2, 20, 0, 22, 0, "IMAGE"]],
        subgraphs=[SUBGRAPH],
    )


def read(document: Fields) -> ImportedRequest | None:
    return recognise((TextChunk("workflow", json.dumps(document)),))


def facts(found: ImportedRequest | None) -> tuple[Any, ...]:
    assert found is not None
    request = found.request
    return request.prompt, request.seed, found.model, request.width, request.steps


def test_the_sampler_of_a_subgraph_is_read_with_what_comes_from_outside() -> None:
    found = read(placed([]))
    assert facts(found) == ("words outside", 1, "inside.safetensors", 768, 8)
    assert found is not None
    assert found.request.sampler is SamplerName.EULER
    assert found.unmapped == ()


@pytest.mark.parametrize(
    ("values", "properties"),
    [
        (["unused", 7, "outside.safetensors"], {}),
        (["unused", 7, "fixed", "outside.safetensors"], {}),
        (
            ["outside.safetensors", 7],
            {"proxyWidgets": [["-1", "unet_name"], ["-1", "seed"], ["5", "steps"]]},
        ),
    ],
)
def test_values_that_are_set_outside_count(values: list[Any], properties: Fields) -> None:
    found = read(placed(values, **properties))
    assert facts(found) == ("words outside", 7, "outside.safetensors", 768, 8)


def test_a_subgraph_in_another_one_is_read() -> None:
    outer = {
        "id": "outer",
        "nodes": [part(9, INNER, [], w_text=50, w_seed=None, w_unet_name=None)],
        "links": [between(50, -10, 0, 9, 0), between(51, 9, 0, -20, 0)],
    }
    document = placed([])
    document["nodes"][0] |= {"type": "outer"}
    document["definitions"]["subgraphs"].append(outer)
    assert facts(read(document)) == ("words outside", 1, "inside.safetensors", 768, 8)


def test_a_muted_subgraph_is_not_run() -> None:
    assert read(placed([], mode=2)) is None


def test_subgraphs_that_hold_themselves_end() -> None:
    twice = [part(1, "outer", []), part(2, "outer", [])]
    document = workflow(
        part(1, "outer", []), links=[], subgraphs=[{"id": "outer", "nodes": twice, "links": []}]
    )
    assert read(document) is None
    assert len(as_list(expanded(document)["nodes"])) < 100_000


def test_many_inputs_are_laid_out_once() -> None:
    """A subgraph that is named a thousand times over has ten thousand inputs each time."""
    wide = part(1, "KSampler", [], **{f"i{place}": place for place in range(10_000)})
    inner = {"id": INNER, "nodes": [wide], "links": []}
    document = workflow(
        *(part(number, INNER, []) for number in range(1000)), links=[], subgraphs=[inner]
    )
    nodes = [node for node in as_list(expanded(document)["nodes"]) if as_object(node)["inputs"]]
    assert len(nodes) < 20


def test_names_that_are_no_numbers_are_cut() -> None:
    instance = part(1, INNER, []) | {"id": "x" * 1_000_000}
    inner = {"id": INNER, "nodes": [part(2, "KSampler", [])] * 100, "links": []}
    nodes = as_list(expanded(workflow(instance, links=[], subgraphs=[inner]))["nodes"])
    assert len(json.dumps(nodes)) < 100_000


ODD: list[Any] = [
    7,
    {"subgraphs": 7},
    {"subgraphs": [7, {"id": INNER, "nodes": [8], "links": [9, {}, []]}]},
]


@pytest.mark.parametrize("definitions", ODD)
def test_odd_definitions_are_read_or_refused(definitions: object) -> None:
    read({**placed([]), "definitions": definitions})


def test_values_have_the_names_of_their_controls() -> None:
    assert named_values(["seed", "steps"], [3, "fixed", 20]) == {"seed": 3, "steps": 20}
    assert named_values(["text", "mode"], ["fixed", "fixed"]) == {"text": "fixed", "mode": "fixed"}
    assert named_values(["seed"], [3, 20]) == {}


@pytest.mark.parametrize("state", [[], ["Sample"]])
def test_a_sampler_of_efficiency_nodes_is_read_with_a_state_or_without(state: list[Any]) -> None:
    values = [*state, 5, "randomize", 12, 6.5, "euler", "karras", 1.0, "auto"]
    document = {
        "nodes": [
            part(1, "Efficient Loader", []),
            part(2, "EmptyLatentImage", [512, 768, 1]),
            part(3, "KSampler (Efficient)", values, model=1, latent_image=2),
            part(4, "SaveImage", ["x"], images=3),
        ],
        "links": [[1, 1, 0, 3, 0, "*"], [2, 2, 0, 3, 1, "*"], [3, 3, 5, 4, 0, "*"]],
    }
    found = read(document)
    assert found is not None
    request = found.request
    assert (request.seed, request.steps, request.guidance) == (5, 12, 6.5)
