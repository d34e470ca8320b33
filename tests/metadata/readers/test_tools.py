"""The tools with JSON or text of their own: what each writes, as a request.

Fooocus' and Easy Diffusion's pictures, and InvokeAI's oldest, are what the tools' own code wrote
(`tests/metadata/freeze.py`). The others follow the source that each test names.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.conventions import CONVENTIONS, BatchSeeds, RandomSource, convention_of
from engine.api.request import GuidanceOptions, SamplerOptions, ScheduleOptions, SeedOptions
from engine.api.values import ConventionName
from engine.metadata.readers import ImportedRequest, read_request, recognise
from engine.metadata.readers.novelai import as_weights
from engine.metadata.record import record_chunks
from engine.metadata.texts import TextChunk
from tests.metadata.frozen import frozen
from tests.metadata.readers.graphs import TEXT_TO_PICTURE, prompt
from tests.metadata.readers.pictures import exif, imported, jpeg, user_comment, webp
from tests.metadata.records import PLAIN, PNG


def recognised(*texts: tuple[str, str]) -> ImportedRequest:
    found = recognise(tuple(TextChunk(*text) for text in texts))
    assert found is not None
    return found


# SwarmUI: the keys of the example in its docs/Image Metadata Format.md.
SWARM: dict[str, Any] = {
    "sui_image_params": {
        "prompt": "a photo of a cat",
        "model": "OfficialStableDiffusion/sd_xl_base_1.0",
        "seed": 1,
        "steps": 20,
        "cfgscale": 7.0,
        "aspectratio": "1:1",
        "width": 1024,
        "height": 768,
        "automaticvae": True,
        "negativeprompt": "",
        "swarm_version": "0.9.3.1",
    },
    "sui_extra_data": {"date": "2025-01-25"},
    "sui_models": [{"name": "sd_xl_base_1.0.safetensors", "param": "model", "hash": None}],
}


def test_swarm() -> None:
    found = recognised(("parameters", json.dumps(SWARM, indent=2)))
    convention = msgspec.structs.replace(
        CONVENTIONS[ConventionName.COMFY], batch_seeds=BatchSeeds.SUCCESSIVE
    )
    assert found.request == GenerateRequest(
        prompt="a photo of a cat",
        width=1024,
        height=768,
        steps=20,
        guidance=7.0,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.NORMAL,
        seed=1,
        convention=convention,
        expand_wildcards=False,
    )
    assert found.tool == "SwarmUI"
    assert found.unmapped == ()
    assert len(found.warnings) == 1


def test_swarm_with_options_as_text() -> None:
    parameters = SWARM["sui_image_params"] | {
        "steps": "25",
        "sampler": "dpmpp_2m_sde_gpu",
        "scheduler": "karras",
        "clipstopatlayer": -2,
        "variationseed": 9,
        "variationseedstrength": "0.5",
        "samplersigmamin": 0.05,
        "samplerrho": 5,
        "rescalecfgmultiplier": 0.6,
        "loras": "ink,line",
        "loraweights": ["0.8"],
        "vae": "soft",
        "refinermodel": "other",
    }
    found = recognised(("exif:UserComment", json.dumps({"sui_image_params": parameters})))
    request = found.request
    assert (request.steps, request.clip_skip) == (25, 2)
    assert (request.sampler, request.schedule) == ("dpmpp_2m_sde", "karras")
    assert convention_of(request.convention).step_source is RandomSource.CUDA
    assert request.seed_options == SeedOptions(variation_seed=9, variation_strength=0.5)
    assert request.schedule_options == ScheduleOptions(sigma_min=0.05, rho=5.0)
    assert request.guidance_options == GuidanceOptions(rescale=0.6)
    assert found.warnings[1:] == (
        'It was made with the VAE "soft"; choose it to match.',
        "It was made with LoRAs: ink (0.8), line (1).",
        "Not taken over: refinermodel.",
    )


@pytest.mark.parametrize("scheme", ["a1111", "fooocus"])
def test_fooocus(scheme: str) -> None:
    text = frozen("fooocus")["written"][scheme]
    found = recognised(("parameters", text), ("fooocus_scheme", scheme))
    assert found.request == GenerateRequest(
        prompt="cinematic still a red house . emotional, a red house, glowing",
        negative_prompt="anime, cartoon, rain",
        width=896,
        height=1152,
        steps=30,
        guidance=4.0,
        sampler=SamplerName.DPMPP_2M_SDE,
        schedule=ScheduleName.KARRAS,
        seed=4067887243,
        clip_skip=2,
        convention=ConventionName.COMFY,
        expand_wildcards=False,
    )
    assert found.tool == "Fooocus"
    assert found.warnings[:2] == (
        'It was made with the checkpoint "juggernautXL"; choose it to match.',
        "It was made with LoRAs: ink (0.1).",
    )
    assert {pair.key for pair in found.unmapped} >= {"sharpness", "adm_guidance"}


def test_fooocus_in_jpeg(tmp_path: Path) -> None:
    # `get_exif`: UserComment and MakerNote in the first directory, as text.
    text = frozen("fooocus")["written"]["fooocus"].encode()
    data = exif({0x9286: (2, text + b"\0"), 0x927C: (2, b"fooocus\0")}, {})
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg((0xE1, b"Exif\0\0" + data)))
    assert read_request(path).request.seed == 4067887243


# NovelAI: the keys of a Comment that its third network wrote.
NOVELAI: dict[str, Any] = {
    "prompt": "{granblue}, [[house]] (sea), 1girl",
    "steps": 28,
    "height": 1216,
    "width": 832,
    "scale": 5.0,
    "uncond_scale": 1.0,
    "cfg_rescale": 0.2,
    "seed": 3816166865,
    "n_samples": 1,
    "hide_debug_overlay": False,
    "noise_schedule": "karras",
    "sampler": "k_euler_ancestral",
    "controlnet_strength": 1.0,
    "controlnet_model": None,
    "dynamic_thresholding": False,
    "dynamic_thresholding_percentile": 0.999,
    "dynamic_thresholding_mimic_scale": 10.0,
    "sm": True,
    "sm_dyn": False,
    "skip_cfg_below_sigma": 0.0,
    "lora_unet_weights": None,
    "uc": "nsfw, {bad}",
    "request_type": "PromptGenerateRequest",
}


def novelai(source: str) -> tuple[tuple[str, str], ...]:
    return (
        ("Title", "AI generated image"),
        ("Description", "{granblue}, [[house]] (sea), 1girl"),
        ("Software", "NovelAI"),
        ("Source", source),
        ("Comment", json.dumps(NOVELAI)),
    )


def test_novelai() -> None:
    found = recognised(*novelai("Stable Diffusion XL C1E1DE52"))
    request = found.request
    assert request.prompt == "(granblue:1.05), (house:0.907029) \\(sea\\), 1girl"
    assert request.negative_prompt == "nsfw, (bad:1.05)"
    assert (request.width, request.height, request.steps) == (832, 1216, 28)
    assert (request.sampler, request.schedule) == ("euler_a", "karras")
    assert (request.seed, request.guidance) == (3816166865, 5.0)
    assert request.guidance_options == GuidanceOptions(rescale=0.2)
    assert request.clip_skip is None
    convention = convention_of(request.convention)
    assert (convention.random_source, convention.step_source) == (RandomSource.CUDA,) * 2
    assert found.warnings == (
        'It was made with NovelAI\'s "Stable Diffusion XL C1E1DE52", which there is no file of.',
        "Not taken over: sm.",
    )


def test_novelais_first_network_is_read_as_a1111_does() -> None:
    request = recognised(*novelai("Stable Diffusion 81274D13")).request
    assert request.clip_skip == 2
    assert request.seed_options.eta_seed_delta == 31337


def test_novelais_fourth_network_has_captions() -> None:
    caption: dict[str, Any] = {"caption": {"base_caption": "whole words", "char_captions": []}}
    comment = json.dumps(NOVELAI | {"v4_prompt": caption})
    texts = (
        ("Software", "NovelAI"),
        ("Source", "NovelAI Diffusion V4 37442FCA"),
        ("Comment", comment),
    )
    assert recognised(*texts).request.prompt == "whole words"


@pytest.mark.parametrize(
    ("text", "weighted"),
    [
        ("a cat", "a cat"),
        ("{{a}} b", "(a:1.1025) b"),
        ("{a [b] c}", "(a :1.05)b( c:1.05)"),
        # A bracket that lacks its other half counts all the same; white space has no weight.
        ("a} {b", "a b"),
        ("{" * 5000 + "a", "(a:18.6792)"),
        ("\\(a)", "\\\\\\(a\\)"),
        ("{ }", " "),
    ],
)
def test_brackets_become_weights(text: str, weighted: str) -> None:
    assert as_weights(text) == weighted


# InvokeAI: CoreMetadataInvocation of invocations/metadata.py.
INVOKE: dict[str, Any] = {
    "generation_mode": "txt2img",
    "positive_prompt": "a red house++",
    "negative_prompt": "rain",
    "width": 512,
    "height": 640,
    "seed": 2885716361,
    "rand_device": "cpu",
    "cfg_scale": 7.5,
    "cfg_rescale_multiplier": 0.1,
    "steps": 30,
    "scheduler": "dpmpp_2m_sde_k",
    "seamless_x": False,
    "seamless_y": False,
    "clip_skip": 1,
    "model": {"key": "f1", "hash": "blake3:00", "name": "dream", "base": "sd-1", "type": "main"},
    "loras": [{"model": {"key": "f2", "name": "ink", "base": "sd-1"}, "weight": 0.75}],
    "vae": {"key": "f3", "name": "soft"},
    "app_version": "6.0.0",
}


def test_invoke() -> None:
    found = recognised(("invokeai_metadata", json.dumps(INVOKE)), ("invokeai_graph", "{}"))
    assert found.request == GenerateRequest(
        prompt="a red house++",
        negative_prompt="rain",
        width=512,
        height=640,
        steps=30,
        guidance=7.5,
        sampler=SamplerName.DPMPP_2M_SDE,
        schedule=ScheduleName.KARRAS,
        seed=2885716361,
        clip_skip=2,
        convention=ConventionName.INVOKE,
        guidance_options=GuidanceOptions(rescale=0.1),
        expand_wildcards=False,
    )
    assert found.warnings == (
        'It was made with the checkpoint "dream"; choose it to match.',
        'It was made with the VAE "soft"; choose it to match.',
        "It was made with LoRAs: ink (0.75).",
    )


def test_invoke_of_version_3_and_on_a_card() -> None:
    fields = INVOKE | {
        "rand_device": "cuda",
        "scheduler": "ddim",
        "model": {"model_name": "dream", "base_model": "sd-1"},
        "loras": [{"lora": {"model_name": "ink", "base_model": "sd-1"}, "weight": 1}],
        "vae": None,
        "hrf_enabled": True,
        "strength": 0.6,
        "init_image": "x.png",
    }
    found = recognised(("invokeai_metadata", json.dumps(fields)))
    assert convention_of(found.request.convention).random_source is RandomSource.CUDA
    assert (found.request.sampler, found.request.schedule) == ("ddim", "ddim")
    assert found.request.strength == 0.6
    assert found.warnings == (
        'It was made with the checkpoint "dream"; choose it to match.',
        "It was made with LoRAs: ink (1).",
        "It was made from another picture, which is not in the file.",
        "Not taken over: hrf_enabled.",
    )


def test_samplers_of_invoke_that_are_not_ours_are_said() -> None:
    found = recognised(("invokeai_metadata", json.dumps(INVOKE | {"scheduler": "dpmpp_2s_k"})))
    assert (found.request.sampler, found.request.schedule) == (None, None)
    assert found.warnings[0] == '"scheduler: dpmpp_2s_k" was not taken over.'
    other = recognised(("invokeai_metadata", json.dumps(INVOKE | {"rand_device": "xpu"})))
    assert "card of another kind" in other.warnings[-1]


def test_invoke_before_version_3() -> None:
    # `InvokeAIMetadataParser.parse_meta_tag_sd_metadata`.
    fields = {
        "model": "stable diffusion",
        "model_weights": "stable-diffusion-1.5",
        "app_version": "2.3.0",
        "image": {
            "prompt": [{"prompt": "a red house [rain] [snow, ]", "weight": 1}],
            "steps": 50, "cfg_scale": 7.5, "sampler": "k_euler_a", "seed": 5, "width": 512,
            "height": 640, "threshold": 0, "perlin": 0, "variations": [], "type": "txt2img",
        },
    }  # fmt: skip
    found = recognised(("Dream", "older"), ("sd-metadata", json.dumps(fields)))
    request = found.request
    assert (request.prompt, request.negative_prompt) == ("a red house", "rain, snow")
    assert (request.sampler, request.steps, request.seed) == ("euler_a", 50, 5)
    assert convention_of(request.convention).random_source is RandomSource.CUDA
    assert found.unmapped == ()


def test_invokes_first_pictures() -> None:
    dream = frozen("invoke")["written"]["dream"]
    # The seed was added by whoever called it: `-S`.
    request = recognised(("Dream", dream + " -S42")).request
    assert (request.prompt, request.negative_prompt) == ("a red house", "rain")
    assert (request.width, request.height, request.steps) == (512, 768, 50)
    assert (request.sampler, request.guidance, request.seed) == ("lms", 7.5, 42)


EASY = GenerateRequest(
    prompt="a red house",
    negative_prompt="rain",
    width=512,
    height=768,
    steps=25,
    guidance=7.5,
    sampler=SamplerName.DPMPP_2M,
    schedule=ScheduleName.KARRAS,
    seed=42,
    clip_skip=2,
    convention=msgspec.structs.replace(
        CONVENTIONS[ConventionName.A1111],
        random_source=RandomSource.CUDA,
        step_source=RandomSource.CUDA,
    ),
    expand_wildcards=False,
)
EASY_SAYS = (
    'It was made with the checkpoint "sd15/dream"; choose it to match.',
    'It was made with the VAE "soft"; choose it to match.',
    "It was made with LoRAs: ink (0.5), line (0.8).",
)


@pytest.mark.parametrize("form", ["embed", "txt"])
def test_easy_diffusion_in_png(form: str) -> None:
    # sdkit's `save_dicts`: a text for each entry, as Python prints it.
    entries: dict[str, Any] = frozen("easy_diffusion")["written"][form]
    found = recognised(*((key, str(value)) for key, value in entries.items()))
    assert found.request == EASY
    assert found.warnings == EASY_SAYS
    assert found.tool == "Easy Diffusion"


@pytest.mark.parametrize("suffix", [".jpeg", ".webp"])
def test_easy_diffusion_in_other_files(tmp_path: Path, suffix: str) -> None:
    comment = user_comment(json.dumps(frozen("easy_diffusion")["written"]["embed"]))
    path = tmp_path / f"a{suffix}"
    whole = jpeg((0xE1, b"Exif\0\0" + comment)) if suffix == ".jpeg" else webp((b"EXIF", comment))
    path.write_bytes(whole)
    found = read_request(path)
    assert (found.request, found.warnings) == (EASY, EASY_SAYS)


@pytest.mark.parametrize("suffix", [".txt", ".json"])
def test_easy_diffusion_beside_the_picture(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(PNG)
    written = frozen("easy_diffusion")["written"]
    if suffix == ".json":
        text = json.dumps(written["embed"], indent=2)
    else:
        text = "".join(f"{key}: {value}\n" for key, value in written["txt"].items())
    path.with_suffix(suffix).write_text(text)
    found = read_request(path)
    assert (found.request, found.warnings) == (EASY, EASY_SAYS)


def test_a1111s_text_beside_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(PNG)
    path.with_suffix(".txt").write_text("a cat\nSteps: 7, Sampler: Euler, Seed: 1\n")
    assert read_request(path).request.steps == 7


# stable-diffusion.cpp: examples/common/common.cpp, get_image_params.
SDCPP = (
    "a red house <lora:ink:0.8>, 猫\nNegative prompt: rain\nSteps: 20, CFG scale: 7.000000, "
    "Guidance: 3.500000, Eta: inf, Seed: 42, Size: 512x768, Model: dream.safetensors, RNG: cuda, "
    "Sampler: euler_a karras, VAE: soft.safetensors, Clip skip: 2, Version: stable-diffusion.cpp, "
    'SDCPP: {"schema":"sdcpp.image.params/v1","prompt":{"positive":"a, b: c"}}'
)


def stable_diffusion_cpp(text: str) -> ImportedRequest:
    """PNG: UTF-8 in a chunk of Latin-1."""
    return recognised(("parameters", text.encode().decode("latin-1")))


def test_stable_diffusion_cpp() -> None:
    found = stable_diffusion_cpp(SDCPP)
    assert found.request == GenerateRequest(
        prompt="a red house <lora:ink:0.8>, 猫",
        negative_prompt="rain",
        width=512,
        height=768,
        steps=20,
        guidance=7.0,
        sampler=SamplerName.EULER_ANCESTRAL,
        schedule=ScheduleName.KARRAS,
        seed=42,
        clip_skip=2,
        convention=EASY.convention,
        expand_wildcards=False,
    )
    assert found.tool == "stable-diffusion.cpp"
    assert found.unmapped == ()
    assert [warning[:24] for warning in found.warnings] == ["It was made with the che",
        "It was made with the VAE", "It was made with LoRAs: "]  # fmt: skip


@pytest.mark.parametrize(
    ("sampler", "eta", "expected"),
    [
        ("euler_a karras", "0.500000", SamplerOptions(eta=0.5)),
        ("euler_a karras", "0.000000", SamplerOptions(eta=0.0)),
        ("euler karras", "0.000000", SamplerOptions()),
        ("dpm++2m discrete", "1.000000", SamplerOptions()),
    ],
)
def test_eta_counts_where_the_sampler_has_one(
    sampler: str, eta: str, expected: SamplerOptions
) -> None:
    text = SDCPP.replace("euler_a karras", sampler).replace("inf", eta)
    assert stable_diffusion_cpp(text).request.sampler_options == expected
    old = text.partition(", SDCPP")[0]
    if eta == "0.000000":
        assert stable_diffusion_cpp(old).request.sampler_options == SamplerOptions()


@pytest.mark.parametrize(
    ("sampler", "name", "schedule"),
    [("dpm++2m", "dpmpp_2m", "normal"), ("ddim_trailing", "ddim", None), ("lms ays", "lms",
     "align_your_steps")],
)  # fmt: skip
def test_schedules_it_chooses_itself(sampler: str, name: str, schedule: str | None) -> None:
    request = stable_diffusion_cpp(SDCPP.replace("euler_a karras", sampler)).request
    assert (request.sampler, request.schedule) == (name, schedule)


def test_its_librarys_noise_is_said() -> None:
    found = stable_diffusion_cpp(SDCPP.replace("RNG: cuda", "RNG: std_default"))
    assert "Its noise is its C++ library's; the picture will differ." in found.warnings
    cpu = stable_diffusion_cpp(SDCPP.replace("RNG: cuda", "RNG: cpu")).request
    assert cpu.convention is ConventionName.A1111


def test_stable_diffusion_cpp_in_other_files(tmp_path: Path) -> None:
    wanted = stable_diffusion_cpp(SDCPP).request
    # `stbi_write_jpg_core` and `build_webp_xmp_packet`.
    comment = jpeg((0xFE, b"parameters\0" + SDCPP.encode() + b"\0\xff"))
    escaped = SDCPP.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    packet = f"<x:xmpmeta><sdcpp:parameters>{escaped.replace(chr(34), '&quot;')}</sdcpp:parameters>"
    for name, content in (("a.jpg", comment), ("a.webp", webp((b"XMP ", packet.encode())))):
        path = tmp_path / name
        path.write_bytes(content)
        assert read_request(path).request == wanted


def test_a_tools_own_notation_comes_before_the_common_text(tmp_path: Path) -> None:
    """Nodes of ComfyUI write AUTOMATIC1111's text beside the graph; we write it beside ours."""
    common = TextChunk("parameters", "common\nSteps: 9, Sampler: Euler, Seed: 8")
    assert imported(tmp_path, common, prompt(TEXT_TO_PICTURE)).tool == "ComfyUI"
    own = record_chunks(PLAIN)
    assert imported(tmp_path, common, prompt(TEXT_TO_PICTURE), *own).tool == "Safelight"
    assert imported(tmp_path, common).tool == "AUTOMATIC1111"


KEYWORDS = st.sampled_from(
    [
        "parameters", "fooocus_scheme", "Software", "Source", "Comment", "Description", "prompt",
        "invokeai_metadata", "sd-metadata", "Dream", "exif:UserComment", "exif:MakerNote",
        "exif:Model", "jpeg:comment", "xmp:parameters", "num_inference_steps", "guidance_scale",
        "Sampler", "LoRA model", "safelight",
    ]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6),
    st.sampled_from(["a1111", "fooocus", "NovelAI", "512x512", "(512, 512)", "1e999", "k_euler_k"]),
)  # fmt: skip
WHOLE = [SWARM, NOVELAI, INVOKE, frozen("easy_diffusion")["written"]["embed"]]
KEYS = st.sampled_from(
    sorted({key for one in WHOLE for key in (*one, *one.get("sui_image_params", ()))})
)
OBJECTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=12)),
    max_leaves=25,
)


def _changed(whole: dict[str, Any], changes: dict[str, Any]) -> str:
    return json.dumps(whole | changes)


CONTENTS = st.one_of(
    OBJECTS.map(json.dumps),
    st.builds(_changed, st.sampled_from(WHOLE), st.dictionaries(KEYS, OBJECTS, max_size=4)),
    st.text(max_size=20),
    st.sampled_from(["a1111", "fooocus", "NovelAI", "[" * 5000, '{"a":' * 5000, SDCPP]),
)


@settings(deadline=None)
@given(st.lists(st.builds(TextChunk, KEYWORDS, CONTENTS), max_size=5))
def test_any_texts_give_a_request_within_bounds_or_none(texts: list[TextChunk]) -> None:
    found = recognise(tuple(texts))
    if found is None:
        return
    request = found.request
    assert isinstance(request.prompt, str)
    assert request.steps is None or 1 <= request.steps <= 1000
    assert request.guidance is None or 0 <= request.guidance <= 100
    assert request.seed is None or 0 <= request.seed < 2**64
    assert request.width is None or 64 <= request.width <= 8192
    assert request.strength is None or 0 <= request.strength <= 1
    assert all(warning.isprintable() and len(warning) < 300 for warning in found.warnings)
