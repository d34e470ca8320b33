"""LoRAs of other tools' pictures come into the request, by name, strengths and hash."""

import json
from typing import Any

import msgspec
import pytest

from engine.api.conventions import convention_of
from engine.api.lora import MAX_LORAS, LoraChoice, LoraHash, LoraReport
from engine.api.prompt_rules import NetworkTags
from engine.api.request import GenerateRequest
from engine.api.weight_suffixes import WEIGHT_SUFFIXES
from engine.metadata.readers import import_record
from engine.metadata.readers.loras import lora_choice
from engine.metadata.readers.named_files import file_name
from engine.metadata.record import find_record, record_chunks
from engine.text.lora_strengths import RunLength
from engine.text.lora_tags import lora_tags
from tests.metadata.readers.graphs import TEXT_TO_PICTURE, node, with_inputs, with_nodes
from tests.metadata.readers.pictures import recognised
from tests.metadata.readers.samples import INVOKE, SWARM
from tests.metadata.records import PLAIN, PLAIN_REQUEST


def choice(
    file: str, strength: float = 1.0, text: float | None = None, digits: str | None = None
) -> LoraChoice:
    return LoraChoice(file=file, strength=strength, text_strength=text, hash=digits)


# --- AUTOMATIC1111's text ---

LINE = "Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 123, Size: 512x512"


def a1111(more: str, prompt: str = "a house") -> GenerateRequest:
    return recognised(("parameters", f"{prompt}\n{LINE}, {more}")).request


def test_tags_stay_in_the_prompt_and_hashes_come_beside() -> None:
    prompt = "a house <lora:add_detail:0.8> <lora:ink, fine:1>"
    request = a1111(
        'Lora hashes: "add_detail: 7c6bad76eb54, ink fine: 0123456789AB", Version: v1.10.1', prompt
    )
    assert request.prompt == prompt
    assert request.loras == ()
    assert request.lora_hashes == (
        LoraHash(name="add_detail", hash="7c6bad76eb54"),
        LoraHash(name="ink fine", hash="0123456789ab"),
    )


def test_hashes_of_civitais_extension_are_read() -> None:
    every = json.dumps({"vae": "735e4c3a44", "lora:ink": "A5F2A3E9F1", "model": "6ce0161689"})
    request = a1111(f"Hashes: {json.dumps(every)}, Version: v1.6.0", "a <lora:ink:1>")
    assert request.lora_hashes == (LoraHash(name="ink", hash="a5f2a3e9f1"),)


def test_hashes_that_are_none_are_left_out() -> None:
    assert a1111('Lora hashes: "a: xyz, b, : 0123456789ab, c: 12"').lora_hashes == ()


def test_additional_networks_are_read() -> None:
    found = recognised(
        (
            "parameters",
            f"ink painting\n{LINE}, AddNet Enabled: True, AddNet Module 1: LoRA, "
            "AddNet Model 1: Moxin_Shukezouma11(494301de3d6e), AddNet Weight A 1: 0.7, "
            "AddNet Weight B 1: 0.6, AddNet Module 2: LoRA, AddNet Model 2: war_glamv1.1"
            "(89a1046c2322), AddNet Weight A 2: 0.3, AddNet Weight B 2: 0.3",
        )
    )
    assert found.request.loras == (
        choice("Moxin_Shukezouma11", 0.7, 0.6, "494301de3d6e"),
        choice("war_glamv1.1", 0.3, 0.3, "89a1046c2322"),
    )
    assert found.warnings == ()
    assert found.unmapped == ()


RESOURCES = json.dumps(
    [
        {"type": "checkpoint", "modelVersionId": 128713, "modelName": "DreamShaper"},
        {"type": "lora", "weight": 0.7, "modelVersionId": 87153, "modelName": "Add More Details"},
        {"type": "embed", "weight": 1, "modelName": "EasyNegative"},
    ]
)


def test_resources_of_civitais_generator_are_named() -> None:
    assert a1111(f"Civitai resources: {json.dumps(RESOURCES)}").loras == (
        choice("Add More Details", 0.7),
    )
    assert a1111(f"Civitai resources: {json.dumps(RESOURCES)}", "<lora:ink:1>").loras == ()


def test_resources_without_quotes_and_by_their_addresses_are_named() -> None:
    """Civitai's generator writes plain JSON, and its pictures by ComfyUI no types."""
    by_address = [
        {"modelName": "Lazy, best: words", "air": "urn:air:sdxl:embedding:civitai:1@2"},
        {"modelName": "Ink, Steps: 99", "weight": 0.4, "air": "urn:air:sdxl:lora:civitai:3@4"},
    ]
    hashes = {"model": "0123456789", "lora:ink": "a5f2a3e9f1"}
    for resources, name, strength in (
        (json.loads(RESOURCES), "Add More Details", 0.7),
        (by_address, "Ink, Steps: 99", 0.4),
    ):
        written = json.dumps(resources, separators=(",", ":"))
        request = a1111(
            f"Civitai resources: {written}, Civitai metadata: {{}}, Hashes: {json.dumps(hashes)}"
        )
        assert request.loras == (choice(name, strength),)
        assert request.lora_hashes == (LoraHash(name="ink", hash="a5f2a3e9f1"),)
        assert request.steps == 20


# --- JSON of other tools ---


def swarm(parameters: dict[str, Any], **document: Any) -> GenerateRequest:
    parameters = SWARM["sui_image_params"] | parameters
    text = json.dumps({"sui_image_params": parameters, **document})
    return recognised(("parameters", text)).request


def test_a_lora_of_swarmui_that_is_confined_to_a_part_is_told_of() -> None:
    def remarks(*parts: str) -> tuple[str, ...]:
        given = {"loras": ["ink", "line"], "lorasectionconfinement": list(parts)}
        parameters = SWARM["sui_image_params"] | given
        found = recognised(("parameters", json.dumps({"sui_image_params": parameters})))
        return tuple(warning for warning in found.warnings if "confinement" in warning)

    assert remarks("0", "0") == remarks() == ()
    assert remarks("0", "1") == ('"lorasectionconfinement: 2 values" was not taken over.',)


@pytest.mark.parametrize("suffix", WEIGHT_SUFFIXES)
def test_swarmuis_hash_of_a_lora_is_found_whatever_its_format(suffix: str) -> None:
    files = [{"name": f"flux/ink{suffix}", "param": "loras", "hash": "0xa53c55a0"}]
    assert swarm({"loras": ["flux/ink"]}, sui_models=files).loras == (
        choice("flux/ink", digits="a53c55a0"),
    )


def test_swarmuis_loras_have_weights_for_both_networks_and_hashes() -> None:
    files = [
        {"name": "x.safetensors", "param": "model", "hash": "0x84fc41ea0821fa0a"},
        {"name": "flux/Gemma_V1-000002.safetensors", "param": "loras", "hash": "0xa53c55a0"},
        {"name": "line.safetensors", "param": "loras", "hash": None},
    ]
    given = {
        "loras": ["flux/Gemma_V1-000002", "line", "dot"],
        "loraweights": ["1.1", "0.4"],
        "loratencweights": ["0.5"],
    }
    assert swarm(given, sui_models=files).loras == (
        choice("flux/Gemma_V1-000002", 1.1, 0.5, "a53c55a0"),
        choice("line", 0.4),
        choice("dot"),
    )


@pytest.mark.parametrize(
    ("digits", "kept"), [(f"sha256:{'ab' * 32}", "ab" * 32), (f"blake3:{'ab' * 32}", None)]
)
def test_invokeais_hash_counts_where_it_is_sha256(digits: str, kept: str | None) -> None:
    model = {"key": "f2", "name": "ink", "hash": digits}
    fields = INVOKE | {"loras": [{"model": model, "weight": 0.75}]}
    request = recognised(("invokeai_metadata", json.dumps(fields))).request
    assert request.loras == (choice("ink", 0.75, digits=kept),)


def test_ruinedfooocus_packs_a_hash_a_weight_and_a_path() -> None:
    fields = {
        "Prompt": "a dog", "Negative": "ugly", "steps": 24, "cfg": 4.5, "seed": 7,
        "sampler_name": "dpmpp_2m", "scheduler": "simple",
        "loras": [["BFA3BB4FBE", "0.6 - moi\\helios-beasts.safetensors"], "0.5 - ink"],
    }  # fmt: skip
    assert recognised(("parameters", json.dumps(fields))).request.loras == (
        choice("moi/helios-beasts.safetensors", 0.6, digits="bfa3bb4fbe"),
        choice("ink", 0.5),
    )


# --- ComfyUI's graphs ---


def graph(*loaders: dict[str, Any], clip: bool = True, **nodes: dict[str, Any]) -> GenerateRequest:
    """The request of a graph in which these loaders follow each other."""
    made = dict(TEXT_TO_PICTURE)
    model, text = ["4", 0], ["4", 1]
    for number, loader in enumerate(loaders, start=20):
        inputs = loader["inputs"] | {"model": model} | ({"clip": text} if clip else {})
        made[str(number)] = loader | {"inputs": inputs}
        model, text = [str(number), 0], [str(number), 1] if clip else text
    sampler, encoder = made["3"], made["6"]
    made["3"] = sampler | {"inputs": sampler["inputs"] | {"model": model}}
    made["6"] = encoder | {"inputs": encoder["inputs"] | {"clip": text}}
    made |= {name.removeprefix("n"): further_node for name, further_node in nodes.items()}
    return recognised(("prompt", json.dumps(made))).request


LOADER = node("LoraLoader", lora_name="a\\ink.safetensors", strength_model=0.8, strength_clip=0.5)
STACK = {
    "lora_name_1": "ink.safetensors", "lora_wt_1": 0.3, "model_str_1": 0.8, "clip_str_1": 0.5,
    "lora_name_2": "None", "lora_wt_2": 1.0, "model_str_2": 1.0, "clip_str_2": 1.0,
    "lora_name_3": "line.safetensors", "lora_wt_3": 0.4, "model_str_3": 0.7, "clip_str_3": 0.2,
}  # fmt: skip


@pytest.mark.parametrize(
    ("loader", "wanted"),
    [
        (LOADER, [choice("a/ink.safetensors", 0.8, 0.5)]),
        (
            node("LoraLoader|pysssss", lora_name={"content": "ink.safetensors", "image": None},
                 strength_model=0.8, strength_clip=1),
            [choice("ink.safetensors", 0.8, 1.0)],
        ),
        (
            node("CR Load LoRA", switch="Off", lora_name="ink.safetensors", strength_model=1),
            [],
        ),
        (
            node(
                "Power Lora Loader (rgthree)",
                lora_1={"on": True, "lora": "b.safetensors", "strength": 0.5, "strengthTwo": 0.1},
                lora_2={"on": False, "lora": "c.safetensors", "strength": 1},
                lora_3={"on": True, "lora": "d.safetensors", "strength": 2, "strengthTwo": None},
            ),
            [choice("b.safetensors", 0.5, 0.1), choice("d.safetensors", 2.0)],
        ),
        (
            node("Lora Loader Stack (rgthree)", lora_01="ink.safetensors", strength_01=0.8,
                 lora_02="None", strength_02=1),
            [choice("ink.safetensors", 0.8)],
        ),
        (
            node("NunchakuFluxLoraLoader", lora_name="ink.safetensors", lora_strength=0.6),
            [choice("ink.safetensors", 0.6)],
        ),
        (
            node("NunchakuFluxLoraStack", lora_name_1="ink.safetensors", lora_strength_1=-0.5,
                 lora_name_2="None", lora_strength_2=1.0),
            [choice("ink.safetensors", -0.5)],
        ),
        (
            node(
                "Lora Loader (LoraManager)",
                text="<lora:ink:0.8>",
                loras={"__value__": [
                    {"name": "ink", "strength": 0.8, "clipStrength": "0.35", "active": True},
                    {"name": "line", "strength": 1, "clipStrength": 1, "active": False},
                ]},
            ),
            [choice("ink", 0.8, 0.35)],
        ),
    ],
)  # fmt: skip
def test_loaders_of_comfyui_are_read(loader: dict[str, Any], wanted: list[LoraChoice]) -> None:
    request = graph(loader)
    assert list(request.loras) == wanted
    assert request.prompt == "a red house, (sea:1.2)"


def test_a_loader_for_the_model_alone_leaves_the_text_encoder() -> None:
    only = node("LoraLoaderModelOnly", lora_name="ink.safetensors", strength_model=0.8)
    assert graph(only, clip=False).loras == (choice("ink.safetensors", 0.8, 0.0),)
    # The text encoder is linked to the checkpoint, past the loader.
    assert graph(LOADER, clip=False).loras == (choice("a/ink.safetensors", 0.8, 0.0),)


@pytest.mark.parametrize(
    ("stack", "wanted"),
    [
        (
            node("LoRA Stacker", input_mode="simple", lora_count=3, **STACK),
            [choice("ink.safetensors", 0.3), choice("line.safetensors", 0.4)],
        ),
        (
            node("LoRA Stacker", input_mode="advanced", lora_count=2, **STACK),
            [choice("ink.safetensors", 0.8, 0.5)],
        ),
        (
            node("CR LoRA Stack", switch_1="On", lora_name_1="ink.safetensors", model_weight_1=0.8,
                 clip_weight_1=0.5, switch_2="Off", lora_name_2="line.safetensors",
                 model_weight_2=1.0, clip_weight_2=1.0),
            [choice("ink.safetensors", 0.8, 0.5)],
        ),
        (
            node("easy loraStack", toggle=True, mode="advanced", num_loras=1,
                 lora_1_name="ink.safetensors", lora_1_strength=1.0, lora_1_model_strength=0.8,
                 lora_1_clip_strength=0.5, lora_2_name="line.safetensors"),
            [choice("ink.safetensors", 0.8, 0.5)],
        ),
        (node("easy loraStack", toggle=False, num_loras=1, lora_1_name="ink.safetensors"), []),
    ],
)  # fmt: skip
def test_stacks_of_loras_are_read(stack: dict[str, Any], wanted: list[LoraChoice]) -> None:
    applied = node("CR Apply LoRA Stack", lora_stack=["40", 0])
    assert list(graph(applied, n40=stack).loras) == wanted


def test_stacks_may_follow_each_other() -> None:
    applied = node("CR Apply LoRA Stack", lora_stack=["40", 0])
    first = node("LoRA Stacker", input_mode="simple", lora_count=1, **STACK)
    second = node(
        "LoRA Stacker", input_mode="simple", lora_count=1, lora_name_1="x", lora_wt_1=0.9,
        lora_stack=["41", 0],
    )  # fmt: skip
    assert graph(applied, n40=second, n41=first).loras == (
        choice("x", 0.9),
        choice("ink.safetensors", 0.3),
    )


def test_a_loader_that_encodes_the_prompt_has_its_loras_in_both_networks() -> None:
    loader = node(
        "Efficient Loader", ckpt_name="x.ckpt", positive="good", negative="bad",
        lora_name="ink.safetensors", lora_model_strength=0.7, lora_clip_strength=0.6,
        lora_stack=["41", 0],
    )  # fmt: skip
    stack = node("LoRA Stacker", input_mode="simple", lora_count=1, **STACK)
    links = {"model": ["4", 0], "positive": ["4", 1], "negative": ["4", 2]}
    found = with_inputs(with_nodes(TEXT_TO_PICTURE, n4=loader, n41=stack), "3", **links)
    request = recognised(("prompt", json.dumps(found))).request
    assert request.loras == (choice("ink.safetensors", 0.7, 0.6), choice("ink.safetensors", 0.3))


def test_a_loader_whose_loras_are_off_is_not_told_of() -> None:
    off = {"on": False, "lora": "ink.safetensors", "strength": 1}
    loader = node("Power Lora Loader (rgthree)", model=["4", 0], clip=["4", 1], lora_1=off)
    found = with_inputs(with_nodes(TEXT_TO_PICTURE, n60=loader), "3", model=["60", 0])
    read = recognised(("prompt", json.dumps(found)))
    assert (read.request.loras, read.unmapped) == ((), ())


ONES = ",".join("1" * 17)


@pytest.mark.parametrize(
    ("inputs", "loras", "told"),
    [
        ({"block_vector": ONES}, (choice("ink.safetensors", 0.8, 0.6),), False),
        ({"block_vector": f"ALL:{ONES}"}, (choice("ink.safetensors", 0.8, 0.6),), False),
        ({"block_vector": ONES, "inverse": True}, (choice("ink.safetensors", 0.8, 0.6),), True),
        ({"block_vector": f"{ONES},0.5"}, (choice("ink.safetensors", 0.8, 0.6),), True),
        ({"block_vector": f"{ONES},0.5", "bypass": True}, (), False),
    ],
)
def test_inspires_weights_of_blocks_are_told_of(
    inputs: dict[str, Any], loras: tuple[LoraChoice, ...], *, told: bool
) -> None:
    kind = "LoraLoaderBlockWeight //Inspire"
    given = {"lora_name": "ink.safetensors", "strength_model": 0.8, "strength_clip": 0.6, **inputs}
    loader = node(kind, model=["4", 0], clip=["4", 1], **given)
    found = with_inputs(with_nodes(TEXT_TO_PICTURE, n60=loader), "3", model=["60", 0])
    for encoder in ("6", "7"):
        found = with_inputs(found, encoder, clip=["60", 1])
    read = recognised(("prompt", json.dumps(found)))
    assert read.request.loras == loras
    assert (kind in str(read.unmapped)) == told


def test_tags_are_read_only_where_a_node_did() -> None:
    request = graph(node("ImpactWildcardEncode", populated_text="a <lora:ink:0.8:0.5>"))
    assert convention_of(request.convention).network_tags is NetworkTags.DENOISER_FIRST
    assert convention_of(graph(LOADER).convention).network_tags is NetworkTags.TEXT


# --- names of strangers ---


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("ink", "ink"),
        ("sub\\ink.safetensors", "sub/ink.safetensors"),
        ("../../ink", "ink"),
        ("\\\\server\\share\\ink.safetensors", "ink.safetensors"),
        ("//server/share/ink", "ink"),
        ("/etc/passwd", "passwd"),
        ("C:\\loras\\ink.pt", "ink.pt"),
        ("None", ""),
        ("  ", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_names_are_never_paths(name: object, plain: str) -> None:
    assert file_name(name) == plain


@pytest.mark.parametrize("strength", ["strong", None, True, [1], float("nan"), 1e9, "1e999"])
def test_a_strength_that_is_none_is_one(strength: object) -> None:
    found = lora_choice("ink", strength, strength)
    assert found == choice("ink")


def test_no_more_loras_are_taken_than_a_request_has() -> None:
    names = [f"l{number}" for number in range(MAX_LORAS + 50)]
    assert len(swarm({"loras": names}).loras) == MAX_LORAS


# --- our own record ---


def test_our_common_text_has_tags_and_hashes_as_a1111_writes_them() -> None:
    listed = (
        choice("/models/loras/line art.safetensors", 0.8),
        choice("C:\\loras\\a:b.pt", 1.0, 0.5),
    )
    request = msgspec.structs.replace(PLAIN_REQUEST, prompt="a cat <lora:ink, x:1>", loras=listed)
    reports = (
        LoraReport(name=listed[0].file, path=listed[0].file, tensors_hash="ab" * 6),
        LoraReport(name=listed[1].file, path=listed[1].file, sha256="cd" * 32),
        LoraReport(name="ink, x", path="/models/loras/ink, x.safetensors", sha256="ef" * 32),
        LoraReport(name="gone"),
    )
    record = msgspec.structs.replace(PLAIN, request=request, loras=reports)
    text = record_chunks(record)[0].text
    prompt, line = text.split("\nNegative prompt")
    assert prompt == "a cat <lora:ink, x:1>\n<lora:line art:0.8><lora:ab:0.5:1>"
    assert 'Lora hashes: "line art: abababababab, ab: cdcdcdcdcdcd, ink x: efefefefef"' in line
    found = recognised(("parameters", text)).request
    assert [(lora_hash.name, lora_hash.hash) for lora_hash in found.lora_hashes] == [
        ("line art", "ab" * 6),
        ("ab", "cd" * 6),
        ("ink x", "ef" * 5),
    ]
    uses = lora_tags(found.prompt, convention_of(found.convention), RunLength(20)).uses
    assert [(use.name, use.strengths, use.text_strength) for use in uses] == [
        ("ink, x", (1.0,), 1.0),
        ("line art", (0.8,), 0.8),
        ("ab", (1.0,), 0.5),
    ]


def test_our_record_brings_its_loras_back_but_no_paths_of_a_network() -> None:
    local = choice("/models/loras/ink.safetensors", 0.8, digits="ab" * 32)
    away = choice("\\\\server\\share\\line.safetensors", 0.5)
    request = msgspec.structs.replace(PLAIN_REQUEST, loras=(local, away))
    found = import_record(msgspec.structs.replace(PLAIN, request=request))
    assert found.request.loras == (local, choice("line.safetensors", 0.5))
    assert "network path" in found.warnings[0]


def test_our_record_brings_the_hashes_of_the_files_that_were_used() -> None:
    listed = choice("/models/loras/ink.safetensors", 0.8)
    told = LoraHash(name="gone", hash="0123456789ab")
    request = msgspec.structs.replace(
        PLAIN_REQUEST, prompt="<lora:line:1> <lora:gone:1>", loras=(listed,), lora_hashes=(told,)
    )
    reports = (
        LoraReport(name=listed.file, path=listed.file, sha256="ab" * 32),
        LoraReport(name="line", path="/models/loras/line.safetensors", tensors_hash="cd" * 6),
        LoraReport(name="gone"),
    )
    record = msgspec.structs.replace(PLAIN, request=request, loras=reports)
    found = import_record(record).request
    assert found.loras == (choice(listed.file, 0.8, digits="ab" * 32),)
    assert found.lora_hashes == (told, LoraHash(name="line", hash="cd" * 6))


def test_a_record_keeps_what_it_says_of_its_loras() -> None:
    report = LoraReport(
        name="ink", path="/l/ink.safetensors", strength=0.2, text_strength=-1.0,
        points=((0.2, 0.0), (0.8, 0.5)), blocks="INS", sha256="ab" * 32, tensors_hash="cd" * 6,
        applied_keys=3, total_keys=5, rest=("x", "y"),
    )  # fmt: skip
    record = msgspec.structs.replace(PLAIN, loras=(report, LoraReport(name="gone")))
    assert find_record(record_chunks(record)) == record
