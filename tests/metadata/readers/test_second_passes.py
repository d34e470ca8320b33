"""Second passes in the texts of other tools, and in ours as theirs."""

import msgspec
import pytest

from engine.api.record import SecondPassReport
from engine.api.second_passes import SecondPass
from engine.api.values import SamplerName, ScheduleName
from engine.metadata.infotext import parse_infotext
from engine.metadata.readers.a1111 import import_infotext
from engine.metadata.readers.imported import ImportedRequest
from engine.metadata.record_text import record_infotext
from tests.metadata.records import PLAIN

FIRST = "a house\nSteps: 20, Sampler: Euler a, Schedule type: Automatic, Seed: 1, Size: 512x768, "


def read(pairs: str, version: str = "v1.10.1") -> ImportedRequest:
    return import_infotext(parse_infotext(f"{FIRST}{pairs}, Version: {version}"))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (
            "Denoising strength: 0.55, Hires upscale: 1.5, Hires steps: 10, "
            "Hires upscaler: Latent (bicubic antialiased)",
            SecondPass(scale=1.5, strength=0.55, steps=10, upscaler="Latent (bicubic antialiased)"),
        ),
        (
            "Denoising strength: 0.7, Hires resize: 1024x1024, Hires upscaler: None",
            SecondPass(width=1024, height=1024, upscaler="lanczos"),
        ),
        (
            "Denoising strength: 0.7, Hires resize: 1024x0, Hires upscaler: Lanczos",
            SecondPass(width=1024, height=1536, upscaler="lanczos"),
        ),
        (
            "Denoising strength: 0.3, Hires upscale: 2, Hires sampler: DPM++ 2M, "
            "Hires schedule type: Karras, Hires CFG Scale: 4, "
            'Hires prompt: "a castle, at night", Hires negative prompt: rain',
            SecondPass(
                strength=0.3,
                sampler=SamplerName.DPMPP_2M,
                schedule=ScheduleName.KARRAS,
                guidance=4,
                prompt="a castle, at night",
                negative_prompt="rain",
            ),
        ),
        (
            # "Automatic" is that of the second sampler.
            "Denoising strength: 0.7, Hires upscale: 2, Hires sampler: DPM++ 2M",
            SecondPass(sampler=SamplerName.DPMPP_2M, schedule=ScheduleName.KARRAS),
        ),
    ],
)
def test_a1111s_hires_fix_is_a_second_pass(pairs: str, expected: SecondPass) -> None:
    found = read(pairs)
    assert found.request.second_passes == (expected,)
    assert (found.request.width, found.request.height) == (512, 768)
    assert found.request.strength is None
    assert found.warnings == ()


def test_files_of_a_second_pass_are_named() -> None:
    found = read(
        "Denoising strength: 0.7, Hires upscale: 2, Hires upscaler: C:\\\\models\\\\4x-Ultra, "
        "Hires checkpoint: soft [0123456789]"
    )
    (second,) = found.request.second_passes
    # Never a path: the file is looked for in the user's folders.
    assert second.upscaler == "4x-Ultra"
    assert second.checkpoint is None
    assert found.warnings == (
        'It was enlarged with the upscaler "4x-Ultra", which your folders must have.',
        'Its second pass was drawn with the model "soft [0123456789]"; choose it to match.',
    )


def test_a_text_without_a_second_pass_has_none() -> None:
    assert read("Denoising strength: 0.7").request.second_passes == ()


@pytest.mark.parametrize(
    "second",
    [
        SecondPass(scale=1.5, strength=0.4, steps=12, upscaler="Latent (nearest)"),
        SecondPass(width=1024, height=768, upscaler="lanczos", guidance=3.5),
        SecondPass(
            prompt="a castle, at night",
            negative_prompt="rain",
            sampler=SamplerName.HEUN,
            schedule=ScheduleName.KARRAS,
            upscaler="area",
        ),
        SecondPass(upscaler="4x-Ultra"),
    ],
)
def test_our_text_tells_a_second_pass_as_a1111_does(second: SecondPass) -> None:
    request = msgspec.structs.replace(PLAIN.request, second_passes=(second,))
    info = record_infotext(msgspec.structs.replace(PLAIN, request=request))
    assert import_infotext(info).request.second_passes == (second,)


def test_our_text_names_the_files_of_a_second_pass() -> None:
    second = SecondPass(upscaler="/models/4x-Ultra.pth", checkpoint="/models/soft.safetensors")
    request = msgspec.structs.replace(PLAIN.request, second_passes=(second,))
    report = SecondPassReport(width=1024, height=1024, checkpoint_sha256="0123456789abcdef")
    record = msgspec.structs.replace(PLAIN, request=request, second_passes=(report,))
    info = record_infotext(record)
    assert info.get("Hires upscaler") == "4x-Ultra"
    assert info.get("Hires checkpoint") == "soft [0123456789]"
    assert info.get("Denoising strength") == "0.7"


def test_our_text_is_silent_on_several_second_passes() -> None:
    request = msgspec.structs.replace(PLAIN.request, second_passes=(SecondPass(), SecondPass()))
    info = record_infotext(msgspec.structs.replace(PLAIN, request=request))
    assert info.get("Hires upscale") is None
