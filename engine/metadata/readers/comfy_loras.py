"""The LoRAs that nodes of a ComfyUI graph load, and the nodes that read tags in prompts.

Inputs are those of ComfyUI's `LoraLoader` and `LoraLoaderModelOnly`, and of the loaders and stacks
of rgthree-comfy, efficiency-nodes, Comfyroll, Easy-Use, Nunchaku and ComfyUI-Lora-Manager, and of
Inspire's loader with weights of blocks.
"""

from collections.abc import Iterator

from engine.api.lora import LoraChoice
from engine.metadata.json_text import as_list, as_object
from engine.metadata.readers.comfy_graph import Graph, Node
from engine.metadata.readers.loras import lora_choice

# Nodes that load the LoRAs of tags such as `<lora:name:1:0.5>`: the denoiser's strength is first.
TAG_READERS = frozenset(
    {
        "ImpactWildcardEncode", "LoraTagLoader", "Power Prompt (rgthree)",
        "SDXL Power Prompt - Positive (rgthree)",
    }
)  # fmt: skip
# Nodes that do nothing else, even without a LoRA: one whose LoRAs are all off changes nothing.
LORA_LOADERS = frozenset(
    {
        "LoraLoader", "LoraLoaderModelOnly", "LoraLoader|pysssss", "CR Load LoRA",
        "CR Apply LoRA Stack", "Power Lora Loader (rgthree)", "Lora Loader Stack (rgthree)",
    }
)  # fmt: skip
_MODEL_STRENGTHS = ("strength_model", "lora_model_strength", "strength", "lora_strength")
_CLIP_STRENGTHS = ("strength_clip", "lora_clip_strength")
_MOST = 50
# The inputs of one entry of a stack: its name, the strength of both, and the strengths apart.
_STACKS = (
    ("lora_name_{}", ("lora_wt_{}", "lora_strength_{}"), ("model_str_{}", "model_weight_{}"),
     ("clip_str_{}", "clip_weight_{}")),
    ("lora_{}_name", ("lora_{}_strength",), ("lora_{}_model_strength",),
     ("lora_{}_clip_strength",)),
    ("lora_0{}", ("strength_0{}",), (), ()),
)  # fmt: skip
# How many entries of a stack count, and whether their strengths are one or two.
_COUNTS, _MODES = ("lora_count", "num_loras"), ("input_mode", "mode")
_OFF = ("Off", "off", False, "False")


def loras_of(graph: Graph, node: Node) -> Iterator[LoraChoice]:
    """Yield the LoRAs of a node and of the stacks that are linked to it."""
    for loader in (node, *graph.line(node, "lora_stack")):
        for found in (*_loader(graph, loader), *_stack(graph, loader), *_objects(loader)):
            if found is not None:
                yield found


def is_bypassed(graph: Graph, node: Node) -> bool:
    """Return whether a loader passes on what it is given, as Inspire's can."""
    return "lora_name" in node.inputs and graph.value(node, "bypass") is True


def has_block_weights(graph: Graph, node: Node) -> bool:
    """Return whether a loader weighs its LoRA by blocks, which a request's LoRAs do otherwise."""
    vector = graph.value(node, "block_vector")
    if not isinstance(vector, str):
        return False
    if graph.value(node, "inverse") is True:
        return True
    # A name before a colon is that of the preset that the weights are from.
    return any(weight.strip() not in {"1", "1.0"} for weight in vector.split(":")[-1].split(","))


def _loader(graph: Graph, node: Node) -> Iterator[LoraChoice | None]:
    """Yield the LoRA of a node that loads one."""
    name = graph.value(node, "lora_name")
    # pythongosssss' loader has an object with the name and a picture.
    name = as_object(name).get("content", name)
    if graph.value(node, "switch") in _OFF or is_bypassed(graph, node):
        return
    clip = _first(graph, node, _CLIP_STRENGTHS)
    if node.kind.endswith("ModelOnly"):
        clip = 0.0
    yield lora_choice(name, _first(graph, node, _MODEL_STRENGTHS), clip)


def _stack(graph: Graph, node: Node) -> Iterator[LoraChoice | None]:
    """Yield the LoRAs of a node with numbered inputs."""
    if graph.value(node, "toggle") in _OFF:
        return
    counted = next((graph.value(node, key) for key in _COUNTS if key in node.inputs), None)
    count = counted if isinstance(counted, int) else _MOST
    mode = next((graph.value(node, key) for key in _MODES if key in node.inputs), None)
    for name, both, model, clip in _STACKS:
        for number in range(1, min(count, _MOST) + 1):
            if name.format(number) not in node.inputs:
                continue
            if graph.value(node, f"switch_{number}") in _OFF:
                continue
            apart = tuple(key.format(number) for key in model)
            simple = mode == "simple" or node.inputs.keys().isdisjoint(apart)
            own = tuple(key.format(number) for key in both) if simple else apart
            text = () if simple else tuple(key.format(number) for key in clip)
            yield lora_choice(
                graph.value(node, name.format(number)),
                _first(graph, node, own),
                _first(graph, node, text),
            )


def _objects(node: Node) -> Iterator[LoraChoice | None]:
    """Yield the LoRAs of nodes whose inputs are objects or a list of them."""
    for value in node.inputs.values():
        fields = as_object(value)
        if fields.get("on") is True:
            # rgthree's Power Lora Loader.
            yield lora_choice(fields.get("lora"), fields.get("strength"), fields.get("strengthTwo"))
    listed = node.inputs.get("loras")
    for entry in map(as_object, as_list(as_object(listed).get("__value__", listed))):
        # ComfyUI-Lora-Manager.
        if entry.get("active") is not False:
            yield lora_choice(entry.get("name"), entry.get("strength"), entry.get("clipStrength"))


def _first(graph: Graph, node: Node, keys: tuple[str, ...]) -> object:
    return next((graph.value(node, key) for key in keys if key in node.inputs), None)
