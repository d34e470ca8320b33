"""Our common text before AUTOMATIC1111's own reader, and our reading of its texts beside its own.

`frozen/a1111.json` holds what its code answered; see `freeze.py`.
"""

import math
from typing import Any

import msgspec
import pytest

from engine.api.conventions import CONVENTIONS, convention_of
from engine.api.noise_rules import InitialNoise, RandomSource
from engine.api.prompt_rules import Emphasis
from engine.api.values import ConventionName
from engine.metadata.infotext import Infotext, format_infotext, parse_infotext
from engine.metadata.readers import recognise
from engine.metadata.readers.names import A1111_SAMPLERS, A1111_SCHEDULES, sampler_of, schedule_of
from engine.metadata.record_text import record_infotext
from engine.metadata.size_text import read_size
from engine.metadata.texts import TextChunk
from tests.metadata.cases import OURS, RECORDS_BY_NAME, TEXTS
from tests.metadata.frozen import frozen
from tests.metadata.records import PLAIN

A1111 = frozen("a1111")
A1111_EMPHASES = (Emphasis.ORIGINAL, Emphasis.NO_NORM, Emphasis.NONE, Emphasis.LITERAL)
# What its reader adds where the text says nothing, and the keys that it splits.
ADDED = {
    "Clip skip", "Hires resize-1", "Hires resize-2", "Hires sampler", "Hires schedule type",
    "Hires checkpoint", "Hires prompt", "Hires negative prompt", "Mask mode", "Masked content",
    "Inpaint area", "Masked area padding", "RNG", "Schedule type", "Schedule max sigma",
    "Schedule min sigma", "Schedule rho", "VAE Encoder", "VAE Decoder", "FP8 weight", "Emphasis",
    "Refiner switch by sampling steps", "Downcast alphas_cumprod", "Pad conds v0",
    "Prompt", "Negative prompt",
}  # fmt: skip


def test_every_text_was_read_by_a1111() -> None:
    assert [answer["text"] for answer in A1111["answers"]] == list(TEXTS)
    assert {name: answer["text"] for name, answer in A1111["ours"].items()} == OURS


def in_its_form(info: Infotext) -> dict[str, str]:
    """Pairs as its reader gives them: sizes split, empty values dropped."""
    pairs: dict[str, str] = {}
    for pair in info.parameters:
        size = read_size(pair.value)
        if size is not None:
            pairs |= {f"{pair.key}-1": str(size[0]), f"{pair.key}-2": str(size[1])}
        elif pair.value:
            pairs[pair.key] = pair.value
    return pairs


@pytest.mark.parametrize("answer", A1111["answers"], ids=lambda answer: repr(answer["text"][:20]))
def test_texts_are_read_as_by_a1111(answer: dict[str, Any]) -> None:
    info = parse_infotext(answer["text"])
    parsed = {key: str(value) for key, value in answer["parsed"].items()}
    assert (info.prompt, info.negative_prompt) == (parsed["Prompt"], parsed["Negative prompt"])
    ours = in_its_form(info)
    if "First pass size-1" not in ours:
        assert {key: value for key, value in parsed.items() if key in ours} == ours
        assert parsed.keys() - ours.keys() <= ADDED
    imported = recognise((TextChunk("parameters", answer["text"]),))
    assert imported is not None
    if "Size-1" in parsed:
        size = (str(imported.request.width), str(imported.request.height))
        assert size == (parsed["Size-1"], parsed["Size-2"])


@pytest.mark.parametrize("answer", A1111["answers"], ids=lambda answer: repr(answer["text"][:20]))
def test_samplers_are_chosen_as_by_a1111(answer: dict[str, Any]) -> None:
    if "Sampler" not in answer["parsed"]:
        return
    imported = recognise((TextChunk("parameters", answer["text"]),))
    assert imported is not None
    sampler, schedule = answer["sampler"]
    wanted = sampler_of(A1111_SAMPLERS, sampler)
    assert imported.request.sampler is wanted
    if schedule != "Automatic" and wanted is not None:
        assert imported.request.schedule is schedule_of(A1111_SCHEDULES, schedule)


def test_a1111_reads_our_fields_back() -> None:
    """Every field that a text of ours has, as its reader answers it, is the record's."""
    for name, record in RECORDS_BY_NAME.items():
        request, parsed = record.request, A1111["ours"][name]["parsed"]
        assert parsed["Prompt"] == request.prompt
        assert parsed["Negative prompt"] == request.negative_prompt
        assert int(parsed["Steps"]) == request.steps
        assert A1111["ours"][name]["sampler"] == [request.sampler.label, request.schedule.label]
        assert float(parsed["CFG scale"]) == request.guidance
        assert int(parsed["Seed"]) == request.seed
        assert (int(parsed["Size-1"]), int(parsed["Size-2"])) == (request.width, request.height)
        assert int(parsed["Clip skip"]) == request.clip_skip
        source = {RandomSource.CPU: "CPU", RandomSource.CUDA: "NV"}
        assert parsed["RNG"] == source[request.convention.random_source]
        # Nothing is said that it does not know, beside our version and what it has no key for.
        assert parsed.keys() - ADDED <= KNOWN


KNOWN = {
    "Steps", "Sampler", "CFG scale", "Seed", "Size-1", "Size-2", "Model", "Version",
    "Variation seed", "Variation seed strength", "Seed resize from-1", "Seed resize from-2",
    "Denoising strength", "ENSD", "Eta", "Eta DDIM", "Sigma churn", "Sigma tmin", "Sigma tmax",
    "Sigma noise", "Discard penultimate sigma", "SGM noise multiplier", "Noise Schedule",
    "Skip Early CFG", "CFG Rescale",
}  # fmt: skip


def test_a1111_reads_every_option_back() -> None:
    parsed = A1111["ours"]["every option"]["parsed"]
    request = RECORDS_BY_NAME["every option"].request
    seeds, sampler, levels = request.seed_options, request.sampler_options, request.schedule_options
    assert (int(parsed["Variation seed"]), float(parsed["Variation seed strength"])) == (
        seeds.variation_seed,
        seeds.variation_strength,
    )
    resized = (int(parsed["Seed resize from-1"]), int(parsed["Seed resize from-2"]))
    assert resized == seeds.resize_from
    assert int(parsed["ENSD"]) == seeds.eta_seed_delta
    assert float(parsed["Denoising strength"]) == request.strength
    assert float(parsed["Sigma churn"]) == sampler.churn
    assert float(parsed["Sigma tmin"]) == sampler.churn_from
    assert float(parsed["Sigma tmax"]) == sampler.churn_to
    assert float(parsed["Sigma noise"]) == sampler.noise_scale
    assert float(parsed["Schedule min sigma"]) == levels.sigma_min
    assert float(parsed["Schedule max sigma"]) == levels.sigma_max
    assert float(parsed["Schedule rho"]) == levels.rho
    start = request.guidance_options.range[0]
    assert float(parsed["Skip Early CFG"]) == math.nextafter(start, 0)
    assert parsed["Discard penultimate sigma"] == parsed["SGM noise multiplier"] == "True"
    assert parsed["Emphasis"] == "No norm"
    assert parsed["Noise Schedule"] == "Zero Terminal SNR"
    others = A1111["ours"]
    assert float(others["eta"]["parsed"]["Eta"]) == 0.67
    assert others["eta"]["parsed"]["Emphasis"] == "Ignore"
    assert float(others["eta of DDIM"]["parsed"]["Eta DDIM"]) == 0.5


@pytest.mark.parametrize("name", RECORDS_BY_NAME)
def test_our_fields_are_read_back(name: str) -> None:
    record = RECORDS_BY_NAME[name].request
    imported = recognise((TextChunk("parameters", OURS[name]),))
    assert imported is not None
    request = imported.request
    same = (
        "prompt", "negative_prompt", "width", "height", "steps", "guidance", "sampler", "seed",
        "sampler_options", "schedule_options", "seed_options", "guidance_options",
    )  # fmt: skip
    for field in same:
        assert getattr(request, field) == getattr(record, field), field
    assert bool(request.zero_terminal_snr) == record.zero_terminal_snr
    assert (request.clip_skip or 1) == record.clip_skip


@pytest.mark.parametrize("emphasis", A1111_EMPHASES)
def test_the_emphasis_is_read_back(emphasis: Emphasis) -> None:
    record = RECORDS_BY_NAME["plain"]
    convention = msgspec.structs.replace(CONVENTIONS[ConventionName.A1111], emphasis=emphasis)
    request = msgspec.structs.replace(record.request, convention=convention)
    infotext = record_infotext(msgspec.structs.replace(record, request=request))
    imported = recognise((TextChunk("parameters", format_infotext(infotext)),))
    assert imported is not None
    assert convention_of(imported.request.convention) == convention


def test_a_text_written_by_a1111_is_read() -> None:
    imported = recognise((TextChunk("parameters", A1111["written"]["everything"]),))
    assert imported is not None
    request, convention = imported.request, imported.request.convention
    assert request.prompt == "a cat, (masterpiece:1.2) <lora:foo:0.8>\nby the sea"
    assert request.negative_prompt == "blurry, (bad:1.2)"
    assert (request.sampler, request.schedule) == ("euler_a", "normal")
    assert (request.steps, request.guidance, request.seed) == (20, 7.0, 965400086)
    assert (request.clip_skip, request.strength) == (2, 0.45)
    assert (request.sampler_options.eta, request.sampler_options.noise_scale) == (0.67, 1.003)
    assert request.schedule_options.sigma_min == 0.1
    assert (request.seed_options.variation_seed, request.seed_options.variation_strength) == (
        7,
        0.25,
    )
    assert request.seed_options.eta_seed_delta == 31337
    assert not isinstance(convention, str)
    assert convention.random_source is RandomSource.CPU
    assert convention.emphasis is Emphasis.NO_NORM
    assert convention.initial_noise is InitialNoise.VARIANCE
    assert request.sampler in convention.discards_next_to_last
    assert request.zero_terminal_snr is True
    assert request.mask_options.blur == 4
    assert imported.unmapped == ()


@pytest.mark.parametrize("name", ["plain", "everything"])
def test_a_text_written_by_a1111_is_written_again_unchanged(name: str) -> None:
    text = A1111["written"][name]
    assert format_infotext(parse_infotext(text)) == text


def test_keys_are_in_the_order_of_a1111() -> None:
    """Ours follow each other as in the text that its `create_infotext` wrote."""
    its = [pair.key for pair in parse_infotext(A1111["written"]["everything"]).parameters]
    main = its[: its.index("RNG") + 1]
    record = msgspec.structs.replace(
        RECORDS_BY_NAME["every option"], checkpoint_sha256=PRUNED_EMAONLY
    )
    ours = [pair.key for pair in record_infotext(record).parameters]
    assert "Model hash" in ours
    common = [key for key in ours if key in main]
    assert common == [key for key in main if key in ours]


# As published with the file: https://huggingface.co/stable-diffusion-v1-5/stable-diffusion-v1-5
PRUNED_EMAONLY = "6ce0161689b3853acaa03779ec93eafe75a02f4ced659bee03f50797806fa2fa"


def test_the_model_hash_equals_a1111s_for_the_same_file() -> None:
    record = msgspec.structs.replace(PLAIN, checkpoint_sha256=PRUNED_EMAONLY)
    its = parse_infotext(A1111["written"]["plain"])
    assert its.get("Model") == "v1-5-pruned-emaonly"
    assert record_infotext(record).get("Model hash") == its.get("Model hash")
    assert record_infotext(PLAIN).get("Model hash") is None
