"""SwarmUI's pictures: JSON with the parameters of its page.

After `docs/Image Metadata Format.md`, `Text2Image/T2IParamTypes.cs` and its ComfyUI node
`SwarmKSampler.py`: one picture at a time, with noise from the processor. A start picture is redrawn
in the last of all its steps, from `round(steps * (1 - creativity))`.
"""

from collections.abc import Mapping
from itertools import islice, zip_longest
from typing import Any, Self

import msgspec

from engine.api import ConventionName, GenerateRequest
from engine.api.conventions import CONVENTIONS, Convention, RedrawSteps, choice_of
from engine.api.embeddings import EmbeddingHash
from engine.api.lora import LoraChoice
from engine.api.noise_rules import BatchSeeds, RandomSource
from engine.api.request import GuidanceOptions, SeedOptions
from engine.api.weight_suffixes import without_weight_suffix
from engine.metadata.json_text import as_list, as_object, parse_object
from engine.metadata.readers.controls import PICTURES_MISSING
from engine.metadata.readers.denoiser_settings import swarm_attention, swarm_denoiser
from engine.metadata.readers.embeddings import (
    embedding_hash,
    embedding_remarks,
    listed_hashes,
)
from engine.metadata.readers.guidance import USUAL, takes_guidance, with_stated
from engine.metadata.readers.imported import (
    MADE_FROM_A_PICTURE,
    ImportedRequest,
    made_with_checkpoint,
    made_with_vae,
)
from engine.metadata.readers.loras import chosen, lora_choice
from engine.metadata.readers.options import read_schedule_options
from engine.metadata.readers.swarm_layers import swarm_controls, swarm_image_prompts
from engine.metadata.readers.swarm_refining import refining, share_of
from engine.metadata.readers.values import Values
from engine.metadata.texts import TextChunk

_KEYWORDS = frozenset({"parameters", "exif:UserComment", "exif:Model"})
_DESCRIPTIVE = (
    "swarm_version", "aspectratio", "automaticvae", "images", "batchsize", "personalnote",
    "donotsave", "nopreviews", "imageformat", "modelspecificenhancements", "sidelength",
    "wildcardseed", "noseedincrement", "date", "originalprompt",
)  # fmt: skip
_GUIDANCE = "fluxguidancescale"
# The schedules of kinds of models, by words of their names (`CreateKSampler`): a file tells those
# that were chosen. FLUX.2's own is the simple one here.
_SCHEDULES = {
    "chroma": "beta", "flux": "simple", "klein": "simple", "z_image": "simple",
    "z-image": "simple", "zimage": "simple",
}  # fmt: skip
# The most characters of a list of LoRAs.
_MAX_LISTED = 10_000
# The parts of the prompt and the passes that LoRAs are confined to, by numbers.
_CONFINEMENT, _EVERYWHERE = "lorasectionconfinement", "0"
# The lists of embeddings among the files of a picture.
_EMBEDDING_LISTS = ("used_embeddings", "embeddings")


def from_swarm(texts: tuple[TextChunk, ...]) -> ImportedRequest | None:
    """Return the request of SwarmUI's parameters; None if there are none."""
    for chunk in texts:
        if chunk.keyword in _KEYWORDS and '"sui_image_params"' in chunk.text:
            document = parse_object(chunk.text)
            parameters = as_object(document.get("sui_image_params"))
            if parameters:
                return _import(Values(parameters), _ToldFiles.of(document))
    return None


class _ToldFiles(msgspec.Struct, frozen=True):
    """The hashes of files: LoRAs' by their names without suffix, others' by their parameters."""

    loras: Mapping[str, object]
    parameters: Mapping[str, object]
    embeddings: tuple[EmbeddingHash, ...]

    @classmethod
    def of(cls, document: Mapping[str, object]) -> Self:
        """Return what a document tells of the files."""
        files = [as_object(file) for file in as_list(document.get("sui_models"))]
        loras = {
            without_weight_suffix(str(file.get("name"))): file.get("hash")
            for file in files
            if file.get("param") == "loras"
        }
        parameters = {str(file.get("param")): file.get("hash") for file in files}
        return cls(loras, parameters, _embeddings(document))


def _embeddings(document: Mapping[str, object]) -> tuple[EmbeddingHash, ...]:
    """Return the embeddings that the prompts name by `<embed:name>`, with their hashes."""
    files = map(as_object, as_list(document.get("sui_models")))
    return listed_hashes(
        embedding_hash(without_weight_suffix(str(file.get("name"))), file.get("hash"))
        for file in files
        if file.get("param") in _EMBEDDING_LISTS
    )


def _import(values: Values, told: _ToldFiles) -> ImportedRequest:
    values.skip(*_DESCRIPTIVE)
    model = values.get("model")
    sampler, schedule = values.comfy_method("sampler", ("euler", _usual_schedule(model)))
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
            **values.read(GuidanceOptions, rescale="rescalecfgmultiplier"),
            **swarm_attention(values),
        ),
        denoiser_options=swarm_denoiser(values),
        loras=_loras(values, told.loras),
        embedding_hashes=told.embeddings,
        controls=swarm_controls(values, told.parameters),
        image_prompts=swarm_image_prompts(values),
        expand_wildcards=False,
    )
    request = _with_shares(values, request)
    request = _with_guidance(values, request, model)
    remarks = _remarks(values, request)
    return values.imported(request, remarks, "SwarmUI")


def _usual_schedule(model: object) -> str:
    name = str(model).casefold()
    return next((schedule for word, schedule in _SCHEDULES.items() if word in name), "normal")


def _with_guidance(values: Values, request: GenerateRequest, model: object) -> GenerateRequest:
    """Return the request with the guidance that its denoiser took; a usual one is not written."""
    if values.get(_GUIDANCE) is None and takes_guidance(model, request.guidance):
        values = Values({_GUIDANCE: USUAL})
    return with_stated(request, values, _GUIDANCE, model)


def _with_shares(values: Values, request: GenerateRequest) -> GenerateRequest:
    """Return the request with what is redrawn in a share of the steps."""
    strength = request.strength
    if strength is not None and request.steps:
        strength = share_of(request.steps, strength)
    second_passes = refining(values, request)
    return msgspec.structs.replace(request, strength=strength, second_passes=second_passes)


def _seed_options(values: Values) -> SeedOptions:
    strength = values.read(SeedOptions, variation_strength="variationseedstrength")
    if not strength["variation_strength"]:
        return SeedOptions()
    return SeedOptions(**strength, **values.read(SeedOptions, variation_seed="variationseed"))


def _convention(sampler: str) -> ConventionName | Convention:
    base = CONVENTIONS[ConventionName.COMFY]
    changes: dict[str, Any] = {
        "batch_seeds": BatchSeeds.SUCCESSIVE,
        "redraw_steps": RedrawSteps.DIFFUSERS,
    }
    if "sde" in sampler:
        on_card = sampler.endswith("_gpu")
        changes["step_source"] = RandomSource.CUDA if on_card else RandomSource.CPU
    return choice_of(msgspec.structs.replace(base, **changes))


def _loras(values: Values, hashes: Mapping[str, object]) -> tuple[LoraChoice, ...]:
    """Return the LoRAs; without weights for the text encoders both are the same."""
    names, weights, texts = (
        _listed(values.get(key)) for key in ("loras", "loraweights", "loratencweights")
    )
    if not {*_listed(values.get(_CONFINEMENT))} <= {_EVERYWHERE}:
        values.refuse(_CONFINEMENT)
    rows = islice(zip_longest(names, weights, texts), len(names))
    return chosen(
        lora_choice(name, weight, text, hashes.get(without_weight_suffix(str(name))))
        for name, weight, text in rows
    )


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
    if request.controls or request.image_prompts:
        remarks.append(PICTURES_MISSING)
    return tuple(remarks)


def _listed(value: object) -> list[str]:
    """Return a list from JSON, or from text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value[:_MAX_LISTED].split(",")]
    return [str(part) for part in as_list(value) if isinstance(part, str | int | float)]
