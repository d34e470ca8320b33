"""Draw Things' JSON, in an XMP packet of a PNG file."""

import json
from html import escape
from pathlib import Path

import pytest

from engine.api import SamplerName, ScheduleName
from engine.api.control import ControlLayer
from engine.api.conventions import convention_of
from engine.api.lora import LoraChoice
from engine.api.noise_rules import RandomSource
from engine.api.second_passes import LatentUpscaler, SecondPass
from engine.metadata.readers import ImportedRequest
from engine.metadata.texts import TextChunk
from tests.metadata.readers.pictures import imported

SETTINGS = {
    "c": "a red house & <a cat>\nby the sea",
    "uc": "rain",
    "model": "sd_v1.5_f16.ckpt",
    "sampler": "DPM++ 2M Karras",
    "scale": 4.5,
    "seed": 2441935286,
    "seed_mode": "Torch CPU Compatible",
    "size": "512x768",
    "steps": 8,
    "strength": 1,
    "mask_blur": 1.5,
    "v2": {"seedMode": 1},
}


def read(folder: Path, **changes: object) -> ImportedRequest:
    text = escape(json.dumps(SETTINGS | changes), quote=False).replace("\n", "&#xA;")
    packet = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description><dc:description><rdf:Alt>'
        '<rdf:li xml:lang="x-default">a red house&#xA;Steps: 99</rdf:li></rdf:Alt></dc:description>'
        "<xmp:CreatorTool>Draw Things</xmp:CreatorTool><exif:UserComment><rdf:Alt>"
        f'<rdf:li xml:lang="x-default">{text}</rdf:li></rdf:Alt></exif:UserComment>'
        "</rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    # Beyond Latin-1, so that the chunk is iTXt.
    return imported(folder, TextChunk("XML:com.adobe.xmp", packet + "\u2028"))


def test_settings_are_read(tmp_path: Path) -> None:
    found = read(tmp_path)
    request = found.request
    assert (found.tool, found.model, found.unmapped) == ("Draw Things", "sd_v1.5_f16.ckpt", ())
    assert (request.prompt, request.negative_prompt) == (SETTINGS["c"], "rain")
    assert (request.width, request.height, request.steps, request.guidance) == (512, 768, 8, 4.5)
    assert (request.seed, request.strength) == (2441935286, None)
    assert (request.sampler, request.schedule) == (SamplerName.DPMPP_2M, ScheduleName.KARRAS)
    assert convention_of(request.convention).random_source is RandomSource.CPU
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    ("name", "sampler", "schedule"),
    [
        ("Euler A", SamplerName.EULER_ANCESTRAL, ScheduleName.NORMAL),
        ("Euler A Trailing", SamplerName.EULER_ANCESTRAL, ScheduleName.SGM_UNIFORM),
        ("DPM++ 2M AYS", SamplerName.DPMPP_2M, ScheduleName.ALIGN_YOUR_STEPS),
        ("DPM++ SDE Karras", SamplerName.DPMPP_SDE, ScheduleName.KARRAS),
        ("UniPC", SamplerName.UNIPC, ScheduleName.NORMAL),
        ("DDIM Trailing", SamplerName.DDIM, ScheduleName.SGM_UNIFORM),
        ("LCM", SamplerName.LCM, ScheduleName.NORMAL),
    ],
)
def test_samplers_are_known_with_their_schedules(
    tmp_path: Path, name: str, sampler: SamplerName, schedule: ScheduleName
) -> None:
    request = read(tmp_path, sampler=name).request
    assert (request.sampler, request.schedule) == (sampler, schedule)


def test_files_and_the_second_pass_are_taken_over_and_the_rest_is_said(tmp_path: Path) -> None:
    control = {"file": "controlnet_canny_1.x_v1.1_f16.ckpt", "weight": 0.7, "guidance_end": 0.5}
    found = read(
        tmp_path,
        seed_mode="Scale Alike",
        sampler="Euler A Substep",
        lora=[{"model": "ink.ckpt", "weight": 0.6}],
        control=[control],
        hires_fix=True,
        first_stage_size="256x384",
        second_stage_strength=0.7,
        refiner="xl_refiner.ckpt",
        refiner_start=0.75,
        upscaler="realesrgan_x2plus_f16.ckpt",
        clip_weight=0.5,
    )
    request = found.request
    assert request.loras == (LoraChoice(file="ink.ckpt", strength=0.6),)
    layer = ControlLayer(image="", network=control["file"], weight=0.7, range=(0.0, 0.5))  # pyright: ignore[reportArgumentType]
    assert request.controls == (layer,)
    assert (request.width, request.height) == (256, 384)
    latent = LatentUpscaler.BILINEAR.value
    second = SecondPass(width=512, height=768, strength=0.7, upscaler=latent)
    assert request.second_passes == (second,)
    assert request.refiner is not None
    assert request.refiner.switch_at == 0.75
    assert [pair.key for pair in found.unmapped] == ["clip_weight"]
    told = "\n".join(found.warnings)
    for words in ("xl_refiner", "realesrgan", "Substep", "noise is Draw Things' own"):
        assert words in told


def test_values_of_another_kind_are_refused(tmp_path: Path) -> None:
    found = read(tmp_path, size=[1], lora="x", control={}, sampler=3, seed=-1, steps="many")
    assert found.request.width is None
    assert found.request.loras == ()
    assert len(found.warnings) > 3
