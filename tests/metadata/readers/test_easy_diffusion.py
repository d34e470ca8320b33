"""Easy Diffusion's entries, as its own code made them, wherever they are written."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.conventions import CONVENTIONS
from engine.api.lora import LoraChoice
from engine.api.noise_rules import RandomSource
from engine.api.values import ConventionName
from engine.metadata.readers import read_request
from tests.metadata.frozen import frozen
from tests.metadata.readers.pictures import jpeg, recognised, user_comment, webp
from tests.metadata.records import PNG

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
    loras=(LoraChoice(file="ink", strength=0.5), LoraChoice(file="line", strength=0.8)),
    expand_wildcards=False,
)
EASY_SAYS = (
    'It was made with the model "sd15/dream"; choose it to match.',
    'It was made with the VAE "soft"; choose it to match.',
)


def test_easy_diffusions_guidance_of_flux_is_apart_from_cfg() -> None:
    entries: dict[str, Any] = frozen("easy_diffusion")["written"]["embed"]
    flux = {
        "use_stable_diffusion_model": "flux1-dev-bnb-nf4",
        "guidance_scale": 1.0,
        "distilled_guidance_scale": 2.5,
    }
    found = recognised(*((key, str(value)) for key, value in (entries | flux).items()))
    assert found.request.guidance == 2.5
    assert found.request.guidance_options.true_cfg == 1.0


@pytest.mark.parametrize("form", ["embed", "txt"])
def test_easy_diffusions_png_texts_are_read(form: str) -> None:
    # sdkit's `save_dicts`: a text for each entry, as Python prints it.
    entries: dict[str, Any] = frozen("easy_diffusion")["written"][form]
    found = recognised(*((key, str(value)) for key, value in entries.items()))
    assert found.request == EASY
    assert found.warnings == EASY_SAYS
    assert found.tool == "Easy Diffusion"


@pytest.mark.parametrize("suffix", [".jpeg", ".webp"])
def test_easy_diffusions_jpeg_and_webp_comments_are_read(tmp_path: Path, suffix: str) -> None:
    comment = user_comment(json.dumps(frozen("easy_diffusion")["written"]["embed"]))
    path = tmp_path / f"a{suffix}"
    whole = jpeg((0xE1, b"Exif\0\0" + comment)) if suffix == ".jpeg" else webp((b"EXIF", comment))
    path.write_bytes(whole)
    found = read_request(path)
    assert (found.request, found.warnings) == (EASY, EASY_SAYS)


@pytest.mark.parametrize("suffix", [".txt", ".json"])
def test_easy_diffusions_file_next_to_the_picture_is_read(tmp_path: Path, suffix: str) -> None:
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


def test_a1111s_text_file_next_to_the_picture_is_read(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(PNG)
    path.with_suffix(".txt").write_text("a cat\nSteps: 7, Sampler: Euler, Seed: 1\n")
    assert read_request(path).request.steps == 7


@pytest.mark.parametrize("name", ["unipc_snr", "unipc_snr_2", "unipc_tu", "unipc_tu_2", "unipc_tq"])
def test_a_unipc_with_other_timesteps_gives_a_warning(name: str) -> None:
    found = recognised(
        ("prompt", "a"),
        ("num_inference_steps", "9"),
        ("guidance_scale", "7"),
        ("sampler_name", name),
    )
    assert found.request.sampler in (SamplerName.UNIPC, SamplerName.UNIPC_BH2)
    (said,) = (warning for warning in found.warnings if name in warning)
    assert said.endswith("; the picture will differ.")


def test_words_left_out_after_a_hash_give_a_warning() -> None:
    found = recognised(("prompt", "a #b"), ("num_inference_steps", "9"), ("guidance_scale", "7"))
    assert any("What follows a # in its prompts" in warning for warning in found.warnings)


def test_an_enlargement_by_easy_diffusion_is_told() -> None:
    entries: dict[str, Any] = frozen("easy_diffusion")["written"]["embed"]
    enlarged = entries | {"use_upscale": "RealESRGAN_x4plus", "upscale_amount": 2}
    found = recognised(*((key, str(value)) for key, value in enlarged.items()))
    assert found.request == EASY
    assert (
        'It was enlarged 2 times with "RealESRGAN_x4plus" after it was made; use Upscale on the '
        "picture for that."
    ) in found.warnings
    assert found.unmapped == ()
