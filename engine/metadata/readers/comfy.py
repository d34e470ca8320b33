"""ComfyUI's pictures: the settings of the sampler that made them, read from the executed graph.

After `nodes.py`, `comfy/samplers.py` and `comfy_extras/nodes_custom_sampler.py` of ComfyUI 0.3.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest, SamplerName
from engine.api.conventions import CONVENTIONS, Convention, choice_of, convention_of
from engine.api.noise_rules import RandomSource
from engine.api.prompt_rules import Chunking, Emphasis, NetworkTags, PromptFeature, PromptGrammar
from engine.api.request import GuidanceOptions, SamplerOptions, SeedOptions
from engine.metadata.infotext import Parameter
from engine.metadata.json_text import as_object, parse_object
from engine.metadata.readers.comfy_controls import controls_of
from engine.metadata.readers.comfy_graph import Graph, Node, read_graph
from engine.metadata.readers.comfy_loras import TAG_READERS
from engine.metadata.readers.comfy_outputs import Sampling, find_sampling
from engine.metadata.readers.comfy_parts import PART_KEYS, last_steps
from engine.metadata.readers.comfy_prompts import OTHER_PARSERS, EncodedPrompt, find_prompt
from engine.metadata.readers.comfy_searge import from_searge
from engine.metadata.readers.comfy_second_passes import read_second_passes, upscaler_of
from engine.metadata.readers.comfy_settings import (
    Networks,
    sampler_settings,
)
from engine.metadata.readers.denoiser_settings import (
    node_attention_guidance,
    node_denoiser_options,
)
from engine.metadata.readers.guidance import (
    USUAL,
    guidance_of_nodes,
    takes_guidance,
    with_stated,
)
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    MADE_WITH_REFERENCES,
    ImportedRequest,
    enlarged_afterwards,
    left_over,
    made_with_checkpoint,
    made_with_vae,
    plain,
)
from engine.metadata.readers.names import COMFY_SAMPLERS, COMFY_SCHEDULES, sampler_of, schedule_of
from engine.metadata.readers.options import read_schedule_options
from engine.metadata.readers.values import Values
from engine.metadata.size_text import read_size
from engine.metadata.texts import FILE_NAME, FILE_SIZE, TextChunk

_MAX_BATCH = 4096
# The node that shows Flux.1 Kontext, FLUX.2 and others a picture (`nodes_edit_model.py`).
_REFERENCE = "ReferenceLatent"
# `nodes_images.py` writes a label before the JSON in EXIF data; Save Image Extended writes it with
# a capital letter.
_MARK = re.compile(r"prompt:\s*(?={)", re.IGNORECASE)
# smZ's "CLIP Text Encode++" reads prompts as AUTOMATIC1111 does with these parsers.
_A1111_PARSERS = frozenset({"A1111", "full"})
_SMZ_FEATURES = (PromptFeature.CHANGES, PromptFeature.COMPOSITION, PromptFeature.BREAKS)


def from_comfy(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of the graph in a picture; None if no graph has a known sampler."""
    for chunk in texts:
        imported = import_graph(_document(chunk), texts)
        if imported is not None:
            return imported
    return None


def import_graph(
    document: Mapping[str, object], texts: tuple[TextChunk, ...] = ()
) -> ImportedRequest | None:
    """Return the request of an executed graph; None if it has no sampler.

    The file's name and size in `texts` distinguish the pictures that one graph saves.
    """
    graph = read_graph(document)
    if graph is None:
        return None
    facts = {chunk.keyword: chunk.text for chunk in texts}
    size = read_size(facts.get(FILE_SIZE, ""))
    sampling = find_sampling(graph, facts.get(FILE_NAME, ""), size)
    if sampling is None or sampling.sampler.inputs.keys() >= {"sampler_preset"}:
        return from_searge(graph)
    return _import(graph, sampling)


def holds_graph(texts: tuple[TextChunk, ...]) -> bool:
    """True if a picture has a graph, with or without a known sampler."""
    return any(read_graph(_document(chunk)) for chunk in texts)


def _document(chunk: TextChunk) -> Mapping[str, object]:
    """Return the graph in a text, under any keyword that saving nodes use; empty if none."""
    if chunk.keyword == "prompt":
        return parse_object(chunk.text)
    if not chunk.keyword.startswith("exif:"):
        return {}
    mark = _MARK.match(chunk.text)
    if mark is not None:
        return parse_object(chunk.text[mark.end() :])
    # SaveImagePlus writes an object of both, or the text of each; Civitai the graph itself.
    document = parse_object(chunk.text if chunk.text.startswith("{") else None)
    written = document.get("prompt", document)
    return parse_object(written) if isinstance(written, str) else as_object(written)


def _import(graph: Graph, sampling: Sampling) -> ImportedRequest:
    holder, guided = _guider(graph, sampling.sampler)
    positive = find_prompt(graph, holder, "positive")
    negative = find_prompt(graph, holder, "negative")
    networks = Networks.of(graph, holder, positive.encoder)
    settings, others = sampler_settings(graph, sampling, holder)
    values = Values(_as_redrawn(graph, sampling, settings) | networks.settings)
    request = _request(values, sampling, guided=guided)
    # With a scale of 1 the negative prompt is not looked at.
    prompting = (*positive.others, *(negative.others if request.guidance != 1 else ()))
    seconds = read_second_passes(graph, sampling, request)
    values.skip(*seconds.told)
    controls = controls_of(graph, positive.others, graph.line(holder, "model"))
    request = msgspec.structs.replace(
        request,
        prompt=positive.text or "",
        negative_prompt=negative.text or "",
        zero_terminal_snr=True if networks.zero_terminal_snr else None,
        convention=_as_encoded(convention_of(request.convention), positive.encoder, networks),
        loras=networks.loras,
        controls=controls.controls,
        image_prompts=controls.image_prompts,
        refiner=seconds.refiner,
        second_passes=seconds.passes,
    )
    request = _with_guidance(graph, values, request, positive, networks)
    enlarged = {node: file for node in sampling.others if (file := upscaler_of(graph, node))}
    told = _remarks(values, sampling, networks, (positive, negative))
    told += tuple(map(enlarged_afterwards, enlarged.values()))
    remarks = (*controls.remarks, *told, *seconds.remarks)
    nodes = (*prompting, *networks.others, *others, *sampling.others, *seconds.others)
    understood = controls.nodes | enlarged.keys()
    unmapped = (*values.unmapped(), *_left_nodes(nodes, understood))
    return ImportedRequest(
        request,
        (*values.warnings, *remarks, *left_over(unmapped)),
        tool="ComfyUI",
        unmapped=unmapped,
    )


def _left_nodes(nodes: Iterable[Node], understood: Set[Node]) -> Iterator[Parameter]:
    for node in dict.fromkeys(nodes):
        if node not in understood and node.kind not in ("FluxGuidance", _REFERENCE):
            yield Parameter(node.kind, f"node {node.name}")


def _as_redrawn(graph: Graph, sampling: Sampling, settings: dict[str, object]) -> dict[str, object]:
    """Return the settings with the strength of a sampler that redraws with its last steps."""
    part = last_steps(graph, sampling.sampler) if sampling.has_init else None
    if part is None:
        return settings
    whole = {key: value for key, value in settings.items() if key not in PART_KEYS}
    return {**whole, "steps": part[0], "denoise": part[1]}


def _guider(graph: Graph, sampler: Node) -> tuple[Node, bool]:
    """Return the node with prompts and model, and True if it uses a negative prompt."""
    guider = graph.source(sampler, "guider") or sampler
    return guider, guider.kind != "BasicGuider"


def _with_guidance(
    graph: Graph,
    values: Values,
    request: GenerateRequest,
    positive: EncodedPrompt,
    networks: Networks,
) -> GenerateRequest:
    """Return the request with the guidance that its denoiser took as an input, if it took any."""
    encoder, model = positive.encoder, networks.checkpoint
    nodes = (*positive.others, *([encoder] if encoder else ()))
    clip = graph.line(encoder, "clip") if encoder else ()
    stated = guidance_of_nodes(graph, nodes, clip)
    if stated is None and takes_guidance(model, request.guidance):
        stated = USUAL
    own = Values({"guidance": stated})
    request = with_stated(request, own, "guidance", model)
    values.warnings += own.warnings
    return request


def _request(values: Values, sampling: Sampling, *, guided: bool) -> GenerateRequest:
    name = values.text("sampler_name") or ""
    sampler = sampler_of(COMFY_SAMPLERS, name)
    schedule_name = values.text("scheduler") or ""
    schedule = schedule_of(COMFY_SCHEDULES, schedule_name)
    if name and sampler is None:
        values.refuse("sampler_name")
    if schedule_name and schedule is None:
        values.refuse("scheduler")
    width, height = values.sides("width", "height")
    denoise = values.strength("denoise")
    if denoise not in (None, 1) and not sampling.has_init:
        values.refuse("denoise")
    numbers = values.read(GenerateRequest, steps="steps", seed="seed")
    numbers |= values.read(GenerateRequest, guidance="cfg") if guided else {"guidance": 1.0}
    return GenerateRequest(
        prompt="",
        width=width,
        height=height,
        **numbers,
        sampler=sampler,
        schedule=schedule,
        clip_skip=values.clip_skip("stop_at_clip_layer"),
        strength=denoise if sampling.has_init else None,
        convention=_convention(name, sampler, is_custom="sigmas" in sampling.sampler.inputs),
        sampler_options=SamplerOptions(
            **values.read(SamplerOptions, eta="eta", noise_scale="s_noise")
        ),
        schedule_options=read_schedule_options(
            values, sigma_min="sigma_min", sigma_max="sigma_max", rho="rho"
        ),
        seed_options=SeedOptions(**values.read(SeedOptions, batch_index="batch_index")),
        guidance_options=GuidanceOptions(
            **values.read(GuidanceOptions, rescale="multiplier"), **node_attention_guidance(values)
        ),
        denoiser_options=node_denoiser_options(values),
        expand_wildcards=False,
    )


def _convention(
    name: str, sampler: SamplerName | None, *, is_custom: bool
) -> ConventionName | Convention:
    """Return ComfyUI's convention; SDE samplers draw on the card only if called "_gpu".

    Only samplers in a single node leave out a level; linked sigmas are used unchanged.
    """
    base = CONVENTIONS[ConventionName.COMFY]
    changes: dict[str, Any] = {}
    if sampler is not None and "sde" in sampler.value:
        on_card = name.endswith("_gpu")
        changes["step_source"] = RandomSource.CUDA if on_card else RandomSource.CPU
    if is_custom:
        changes["discards_next_to_last"] = ()
    return choice_of(msgspec.structs.replace(base, **changes))


def as_smz_reads(convention: Convention, *, normalizes: bool = True) -> Convention:
    """Return the convention changed to read prompts as AUTOMATIC1111 does, by smZ's encoder."""
    return msgspec.structs.replace(
        convention,
        grammar=PromptGrammar.A1111,
        emphasis=Emphasis.ORIGINAL if normalizes else Emphasis.NO_NORM,
        chunking=Chunking.COMMA,
        prompt_features=_SMZ_FEATURES,
    )


def _as_encoded(
    convention: Convention, encoder: Node | None, networks: Networks
) -> ConventionName | Convention:
    """Return the convention with the prompt grammar of the nodes that read the prompt."""
    if networks.reads_tags or (encoder is not None and encoder.kind in TAG_READERS):
        tags = NetworkTags.DENOISER_FIRST
        convention = msgspec.structs.replace(convention, network_tags=tags)
    if encoder is None or encoder.kind not in OTHER_PARSERS:
        return choice_of(convention)
    if encoder.inputs.get("parser") not in _A1111_PARSERS:
        return choice_of(convention)
    return as_smz_reads(
        convention, normalizes=encoder.inputs.get("mean_normalization", True) is not False
    )


def _prompt_remarks(kind: str, prompt: EncodedPrompt) -> Iterator[str]:
    changers = plain(", ".join(dict.fromkeys(node.kind for node in prompt.changers)), 200)
    if prompt.text is None and changers:
        yield f"Its {kind} was made by nodes that are not understood: {changers}."
    elif prompt.text is None and (prompt.others or prompt.encoder):
        yield f"Its {kind} was not found in its graph."
    elif changers:
        yield f"Its {kind} went through nodes that may have changed it: {changers}."


def _remarks(
    values: Values,
    sampling: Sampling,
    networks: Networks,
    prompts: tuple[EncodedPrompt, EncodedPrompt],
) -> tuple[str, ...]:
    remarks: list[str] = []
    for kind, prompt in zip(("prompt", "negative prompt"), prompts, strict=True):
        remarks += _prompt_remarks(kind, prompt)
    if any(node.kind == _REFERENCE for node in prompts[0].others):
        remarks.append(MADE_WITH_REFERENCES)
    if sampling.is_guessed:
        remarks.append(
            "Its graph saves several pictures, and neither the file's name nor its size tells "
            "which of them it is; one is taken."
        )
    if networks.checkpoint:
        remarks.append(made_with_checkpoint(networks.checkpoint))
    if sampling.vae:
        remarks.append(made_with_vae(sampling.vae))
    if sampling.has_init:
        remarks.append(MADE_FROM_A_PICTURE)
    if not sampling.has_init and values.get("width") is None:
        remarks.append("Its size was not found in its graph.")
    batch = values.integer("batch_size", 1, _MAX_BATCH) or 1
    if batch > 1 and not values.get("batch_index"):
        remarks.append(
            f"It is one of {batch} pictures drawn from one seed; the first of them is made."
        )
    return tuple(remarks)
