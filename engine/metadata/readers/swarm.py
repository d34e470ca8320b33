"""SwarmUI's pictures: JSON with the parameters of its page.

After `docs/Image Metadata Format.md`, `Text2Image/T2IParamTypes.cs` and its ComfyUI node
`SwarmKSampler.py`: one picture at a time, with noise from the processor.
"""

from collections.abc import Mapping
from itertools import islice, zip_longest
from typing import Any

import msgspec

from engine.api import ConventionName, GenerateRequest
from engine.api.control import ControlLayer
from engine.api.conventions import CONVENTIONS, BatchSeeds, Convention, RandomSource, choice_of
from engine.api.embeddings import EmbeddingHash
from engine.api.lora import LoraChoice
from engine.api.request import GuidanceOptions, SeedOptions
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.controls import (
    PICTURES_MISSING,
    no_map_of,
    span_of,
    within_bounds,
)
from engine.metadata.readers.embeddings import (
    embedding_hash,
    embedding_remarks,
    listed_hashes,
)
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    made_with_checkpoint,
    made_with_vae,
)
from engine.metadata.readers.loras import chosen, lora_choice
from engine.metadata.readers.named_files import file_name
from engine.metadata.readers.options import read_schedule_options
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_KEYWORDS = frozenset({"parameters", "exif:UserComment", "exif:Model"})
_DESCRIPTIVE = (
    "swarm_version", "aspectratio", "automaticvae", "images", "batchsize", "personalnote",
    "donotsave", "nopreviews", "imageformat", "modelspecificenhancements", "sidelength",
    "wildcardseed", "noseedincrement", "date", "originalprompt",
)  # fmt: skip
# The most characters of a list of LoRAs.
_MAX_LISTED = 10_000
# The lists of embeddings among the files of a picture.
_EMBEDDING_LISTS = ("used_embeddings", "embeddings")


def from_swarm(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of SwarmUI's parameters; None if there are none."""
    for chunk in texts:
        if chunk.keyword in _KEYWORDS and '"sui_image_params"' in chunk.text:
            document = parse_object(chunk.text)
            parameters = as_object(document.get("sui_image_params"))
            if parameters:
                return _import(Values(parameters), _hashes(document), _embeddings(document))
    return None


def _hashes(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return the hashes of LoRA files by their names without suffix."""
    files = map(as_object, as_list(document.get("sui_models")))
    loras = (file for file in files if file.get("param") == "loras")
    return {str(one.get("name")).removesuffix(".safetensors"): one.get("hash") for one in loras}


def _embeddings(document: Mapping[str, object]) -> tuple[EmbeddingHash, ...]:
    """Return the embeddings that the prompts name by `<embed:name>`, with their hashes."""
    files = map(as_object, as_list(document.get("sui_models")))
    return listed_hashes(
        embedding_hash(str(file.get("name")).removesuffix(".safetensors"), file.get("hash"))
        for file in files
        if file.get("param") in _EMBEDDING_LISTS
    )


def _import(
    values: Values, hashes: Mapping[str, object], embeddings: tuple[EmbeddingHash, ...]
) -> ImportedRequest:
    values.skip(*_DESCRIPTIVE)
    sampler, schedule = values.comfy_method("sampler", otherwise="euler")
    width, height = values.sides("width", "height")
    request = GenerateRequest(
        **values.read(
            GenerateRequest,
            prompt="prompt",
            negative_prompt="negativeprompt",
            steps="steps",
            guidance="cfgscale",
            seed="seed",
            strength="initimagecreativity",
        ),
        width=width,
        height=height,
        sampler=sampler,
        schedule=schedule,
        clip_skip=values.clip_skip("clipstopatlayer"),
        convention=_convention(values.text("sampler") or "euler"),
        schedule_options=read_schedule_options(
            values, sigma_min="samplersigmamin", sigma_max="samplersigmamax", rho="samplerrho"
        ),
        seed_options=_seed_options(values),
        guidance_options=GuidanceOptions(
            **values.read(GuidanceOptions, rescale="rescalecfgmultiplier")
        ),
        loras=_loras(values, hashes),
        embedding_hashes=embeddings,
        controls=_controls(values),
        expand_wildcards=False,
    )
    remarks = _remarks(values, request)
    return values.imported(request, remarks, "SwarmUI")


def _seed_options(values: Values) -> SeedOptions:
    strength = values.read(SeedOptions, variation_strength="variationseedstrength")
    if not strength["variation_strength"]:
        return SeedOptions()
    return SeedOptions(**strength, **values.read(SeedOptions, variation_seed="variationseed"))


def _convention(sampler: str) -> ConventionName | Convention:
    base = CONVENTIONS[ConventionName.COMFY]
    changes: dict[str, Any] = {"batch_seeds": BatchSeeds.SUCCESSIVE}
    if "sde" in sampler:
        on_card = sampler.endswith("_gpu")
        changes["step_source"] = RandomSource.CUDA if on_card else RandomSource.CPU
    return choice_of(msgspec.structs.replace(base, **changes))


def _loras(values: Values, hashes: Mapping[str, object]) -> tuple[LoraChoice, ...]:
    """Return the LoRAs; without weights for the text encoders both are the same."""
    names, weights, texts = (
        _listed(values.get(key)) for key in ("loras", "loraweights", "loratencweights")
    )
    rows = islice(zip_longest(names, weights, texts), len(names))
    return chosen(
        lora_choice(name, weight, text, hashes.get(str(name).removesuffix(".safetensors")))
        for name, weight, text in rows
    )


def _controls(values: Values) -> tuple[ControlLayer, ...]:
    """Return the ControlNets, up to three; the pictures are not in the file."""
    found: list[ControlLayer] = []
    for number in ("", "two", "three"):
        network = file_name(values.get(f"controlnet{number}model"))
        strength, start, end, preprocessor = (
            values.get(f"controlnet{number}{key}")
            for key in ("strength", "start", "end", "preprocessor")
        )
        if not network:
            continue
        if preprocessor not in (None, "None"):
            values.warnings.append(no_map_of(str(preprocessor)))
        found.append(
            ControlLayer(
                image="",
                network=network,
                weight=within_bounds(ControlLayer, "weight", strength, 1.0),
                range=span_of(start, end),
            )
        )
    return tuple(found)


def _remarks(values: Values, request: GenerateRequest) -> tuple[str, ...]:
    remarks: list[str] = []
    checkpoint, vae = values.text("model"), values.text("vae")
    if checkpoint is not None:
        remarks.append(made_with_checkpoint(checkpoint))
    if vae is not None:
        remarks.append(made_with_vae(vae))
    remarks += embedding_remarks(request.embedding_hashes)
    if request.strength is not None:
        remarks.append(MADE_FROM_A_PICTURE)
    if request.controls:
        remarks.append(PICTURES_MISSING)
    return tuple(remarks)


def _listed(value: object) -> list[str]:
    """Return a list from JSON, or from text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value[:_MAX_LISTED].split(",")]
    return [str(part) for part in as_list(value) if isinstance(part, str | int | float)]
