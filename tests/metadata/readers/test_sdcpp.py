"""stable-diffusion.cpp's text, wherever it is written."""

from pathlib import Path

import msgspec
import pytest

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.conventions import CONVENTIONS, convention_of
from engine.api.noise_rules import RandomSource
from engine.api.prompt_rules import PromptFeature
from engine.api.request import SamplerOptions
from engine.api.values import ConventionName
from engine.metadata.readers import ImportedRequest, read_request
from tests.metadata.readers.pictures import jpeg, recognised, webp
from tests.metadata.readers.samples import SDCPP

ON_CARD = msgspec.structs.replace(
    CONVENTIONS[ConventionName.A1111],
    random_source=RandomSource.CUDA,
    step_source=RandomSource.CUDA,
    prompt_features=(PromptFeature.NETWORKS, PromptFeature.BREAKS),
)


def stable_diffusion_cpp(text: str) -> ImportedRequest:
    """PNG: UTF-8 in a chunk of Latin-1."""
    return recognised(("parameters", text.encode().decode("latin-1")))


def test_stable_diffusion_cpps_text_is_read() -> None:
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
        convention=ON_CARD,
        expand_wildcards=False,
    )
    assert found.tool == "stable-diffusion.cpp"
    assert found.unmapped == ()
    assert [warning[:24] for warning in found.warnings] == ["It was made with the mod",
        "It was made with the VAE"]  # fmt: skip


def test_stable_diffusion_cpps_flux_has_a_guidance_and_a_file_of_its_own() -> None:
    text = SDCPP.replace("CFG scale: 7.000000", "CFG scale: 1.000000")
    text = text.replace("Model: dream.safetensors", "Model: ")
    text = text.replace(", Version:", ", Unet: flux1-dev-q4_0.gguf, Version:")
    found = stable_diffusion_cpp(text)
    assert found.request.guidance == 3.5
    assert found.request.guidance_options.true_cfg == 1
    assert found.model == "flux1-dev-q4_0.gguf"
    assert found.unmapped == ()


@pytest.mark.parametrize(
    ("sampler", "eta", "expected"),
    [
        ("euler_a karras", "0.500000", SamplerOptions(eta=0.5)),
        ("euler_a karras", "0.000000", SamplerOptions(eta=0.0)),
        ("euler karras", "0.000000", SamplerOptions()),
        ("dpm++2m discrete", "1.000000", SamplerOptions()),
    ],
)
def test_eta_is_read_only_if_the_sampler_has_one(
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
def test_schedules_that_the_tool_chooses_itself_are_read(
    sampler: str, name: str, schedule: str | None
) -> None:
    request = stable_diffusion_cpp(SDCPP.replace("euler_a karras", sampler)).request
    assert (request.sampler, request.schedule) == (name, schedule)


def test_noise_of_the_tools_own_library_gives_a_warning() -> None:
    found = stable_diffusion_cpp(SDCPP.replace("RNG: cuda", "RNG: std_default"))
    assert "Its noise is its C++ library's; the picture will differ." in found.warnings
    cpu = stable_diffusion_cpp(SDCPP.replace("RNG: cuda", "RNG: cpu")).request
    assert convention_of(cpu.convention).random_source is RandomSource.CPU


def test_stable_diffusion_cpps_jpeg_and_webp_are_read(tmp_path: Path) -> None:
    wanted = stable_diffusion_cpp(SDCPP).request
    # `stbi_write_jpg_core` and `build_webp_xmp_packet`.
    comment = jpeg((0xFE, b"parameters\0" + SDCPP.encode() + b"\0\xff"))
    escaped = SDCPP.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    packet = f"<x:xmpmeta><sdcpp:parameters>{escaped.replace(chr(34), '&quot;')}</sdcpp:parameters>"
    for name, content in (("a.jpg", comment), ("a.webp", webp((b"XMP ", packet.encode())))):
        path = tmp_path / name
        path.write_bytes(content)
        assert read_request(path).request == wanted
