"""Second passes in the texts of other tools, and in ours as theirs."""

import msgspec
import pytest

from engine.api.record import SecondPassReport
from engine.api.second_passes import Resampling, SecondPass
from engine.api.values import SamplerName, ScheduleName
from engine.families.chroma.family import Chroma
from engine.families.flux.family import Flux1
from engine.metadata.infotext import parse_infotext
from engine.metadata.readers.a1111 import import_infotext
from engine.metadata.readers.comfy import import_graph
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
        (
            # Versions 1.6 to 1.8 have one name for both.
            "Denoising strength: 0.7, Hires upscale: 2, Hires sampler: DPM++ 2M SDE Exponential",
            SecondPass(sampler=SamplerName.DPMPP_2M_SDE, schedule=ScheduleName.EXPONENTIAL),
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
        'It was enlarged with the upscaler "4x-Ultra", which is looked for in your folders.',
        'Its second pass was drawn with the model "soft [0123456789]"; choose it to match.',
    )


def test_a_text_without_a_second_pass_has_none() -> None:
    assert read("Denoising strength: 0.7").request.second_passes == ()


def test_our_text_tells_a_side_alone_as_a1111_does() -> None:
    request = msgspec.structs.replace(PLAIN.request, second_passes=(SecondPass(height=1024),))
    info = record_infotext(msgspec.structs.replace(PLAIN, request=request))
    assert info.get("Hires resize") == "0x1024"


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
        SecondPass(upscaler="nearest"),
        SecondPass(upscaler="4x-Ultra"),
    ],
)
def test_our_text_tells_a_second_pass_as_a1111_does(second: SecondPass) -> None:
    request = msgspec.structs.replace(PLAIN.request, second_passes=(second,))
    info = record_infotext(msgspec.structs.replace(PLAIN, request=request))
    assert import_infotext(info).request.second_passes == (second,)


def test_our_text_tells_the_guidance_that_flux_takes_in_a_second_pass() -> None:
    second = SecondPass(guidance=2.5)
    options = msgspec.structs.replace(PLAIN.request.guidance_options, true_cfg=2.0)
    request = msgspec.structs.replace(
        PLAIN.request, second_passes=(second,), guidance=3.5, guidance_options=options
    )
    info = record_infotext(msgspec.structs.replace(PLAIN, request=request))
    assert info.get("Hires Distilled CFG Scale") == "2.5"
    found = import_infotext(info).request
    assert (found.guidance, found.guidance_options.true_cfg) == (3.5, 2.0)
    assert found.second_passes == (second,)


@pytest.mark.parametrize(
    ("family", "file", "scales"),
    [
        (Flux1.name, "pretty.safetensors", ("1", "3.5", "2.5")),
        (Flux1.name, "flux1-schnell.safetensors", ("3.5", None, None)),
        (Chroma.name, "flux-chroma.safetensors", ("3.5", None, None)),
        ("sdxl", "flux-look.safetensors", ("3.5", None, None)),
        ("", "Flux1-dev-Q4_0.gguf", ("1", "3.5", "2.5")),
        ("", "dream.safetensors", ("3.5", None, None)),
    ],
)
def test_our_text_tells_guidance_that_is_an_input_as_forge_does(
    family: str, file: str, scales: tuple[str | None, ...]
) -> None:
    """Forge's `create_infotext` names it beside the scale of CFG, which is usually 1."""
    second = SecondPass(guidance=2.5)
    request = msgspec.structs.replace(
        PLAIN.request, guidance=3.5, checkpoint=f"/models/{file}", second_passes=(second,)
    )
    info = record_infotext(msgspec.structs.replace(PLAIN, family=family, request=request))
    keys = ("CFG scale", "Distilled CFG Scale", "Hires Distilled CFG Scale")
    assert tuple(map(info.get, keys)) == scales
    found = import_infotext(info).request
    assert (found.guidance, found.guidance_options.true_cfg) == (3.5, 1.0)
    assert found.second_passes == (second,)


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


def sampler(latent: str, **inputs: object) -> dict[str, object]:
    """A KSampler of ComfyUI that begins with a node's latents."""
    usual: dict[str, object] = {
        "model": ["loader", 0],
        "positive": ["good", 0],
        "negative": ["bad", 0],
        "latent_image": [latent, 0],
        "seed": 5,
        "steps": 20,
        "cfg": 7.0,
        "sampler_name": "euler",
        "scheduler": "karras",
        "denoise": 1.0,
    }
    return {"class_type": "KSampler", "inputs": usual | inputs}


def node(kind: str, **inputs: object) -> dict[str, object]:
    return {"class_type": kind, "inputs": inputs}


def graph(between: dict[str, dict[str, object]], **second: object) -> ImportedRequest:
    """A graph of two samplers with some nodes between them, of which the last is called `last`."""
    found = import_graph(
        {
            "loader": node("CheckpointLoaderSimple", ckpt_name="base.safetensors"),
            "good": node("CLIPTextEncode", text="a house", clip=["loader", 1]),
            "castle": node("CLIPTextEncode", text="a castle", clip=["loader", 1]),
            "bad": node("CLIPTextEncode", text="rain", clip=["loader", 1]),
            "empty": node("EmptyLatentImage", width=512, height=768, batch_size=1),
            "first": sampler("empty"),
            **between,
            "second": sampler("last", **({"denoise": 0.5} | second)),
            "decode": node("VAEDecode", samples=["second", 0], vae=["loader", 2]),
            "save": node("SaveImage", images=["decode", 0]),
        }
    )
    assert found is not None
    return found


PICTURE = {"picture": node("VAEDecode", samples=["first", 0], vae=["loader", 2])}


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (
            {"last": node("LatentUpscaleBy", samples=["first", 0], upscale_method="nearest-exact",
                          scale_by=1.5)},
            SecondPass(scale=1.5, strength=0.5, upscaler="Latent (nearest-exact)"),
        ),
        (
            {"last": node("LatentUpscale", samples=["first", 0], upscale_method="bislerp",
                          width=1024, height=1024, crop="disabled")},
            SecondPass(width=1024, height=1024, strength=0.5, upscaler="Latent (bislerp)"),
        ),
        (
            {
                **PICTURE,
                "large": node("ImageScaleBy", image=["picture", 0], upscale_method="lanczos",
                              scale_by=2.0),
                "last": node("VAEEncode", pixels=["large", 0], vae=["loader", 2]),
            },
            SecondPass(strength=0.5, upscaler="lanczos"),
        ),
        (
            {
                **PICTURE,
                "file": node("UpscaleModelLoader", model_name="4x-Ultra.pth"),
                "huge": node("ImageUpscaleWithModel", upscale_model=["file", 0],
                             image=["picture", 0]),
                "large": node("ImageScaleBy", image=["huge", 0], upscale_method="area",
                              scale_by=0.5),
                "last": node("VAEEncode", pixels=["large", 0], vae=["loader", 2]),
            },
            SecondPass(strength=0.5, upscaler="4x-Ultra.pth", resampling=Resampling.AREA),
        ),
    ],
)  # fmt: skip
def test_a_second_sampler_of_comfyui_is_a_second_pass(
    between: dict[str, dict[str, object]], expected: SecondPass
) -> None:
    found = graph(between)
    assert found.request.second_passes == (expected,)
    assert (found.request.width, found.request.height) == (512, 768)
    assert not any("Not taken over" in told for told in found.warnings)
    named = any("4x-Ultra" in told for told in found.warnings)
    assert named == (expected.upscaler == "4x-Ultra.pth")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nearest-exact", "nearest"),
        ("bilinear", "bilinear"),
        ("area", "area"),
        ("bicubic", "bicubic"),
        ("lanczos", "lanczos"),
        ("hamming", "lanczos"),
    ],
)
def test_comfyuis_methods_for_pictures_are_ours(theirs: str, ours: str) -> None:
    between = {
        **PICTURE,
        "large": node("ImageScaleBy", image=["picture", 0], upscale_method=theirs, scale_by=1.5),
        "last": node("VAEEncode", pixels=["large", 0], vae=["loader", 2]),
    }
    found = graph(between)
    (second,) = found.request.second_passes
    assert (second.upscaler, second.resampling) == (ours, Resampling(ours))
    assert any("taken for Lanczos" in told for told in found.warnings) == (theirs == "hamming")


def test_settings_of_comfyuis_second_sampler_are_read() -> None:
    between = {
        "last": node(
            "LatentUpscaleBy", samples=["first", 0], upscale_method="bilinear", scale_by=2.0
        )
    }
    changes = {
        "seed": 9,
        "steps": 8,
        "cfg": 4.0,
        "sampler_name": "dpmpp_2m",
        "positive": ["castle", 0],
    }
    (second,) = graph(between, **changes).request.second_passes
    assert second == SecondPass(
        strength=0.5, seed=9, steps=8, guidance=4, sampler=SamplerName.DPMPP_2M, prompt="a castle"
    )


@pytest.mark.parametrize("kind", ["LatentCompositeMasked", "UltimateSDUpscale"])
def test_a_way_between_samplers_that_is_not_understood_is_told(kind: str) -> None:
    found = graph({"last": node(kind, samples=["first", 0])})
    assert found.request.second_passes == ()
    assert "It was sampled 2 times over; only the first pass is taken over." in found.warnings
