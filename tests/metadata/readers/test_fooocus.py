"""Fooocus' two notations, as its own code wrote them (`tests/metadata/freeze.py`)."""

from pathlib import Path

import pytest

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.lora import LoraChoice
from engine.api.values import ConventionName
from engine.metadata.readers import read_request
from tests.metadata.frozen import frozen
from tests.metadata.readers.pictures import exif, jpeg, recognised


@pytest.mark.parametrize("scheme", ["a1111", "fooocus"])
def test_both_notations_of_fooocus_are_read(scheme: str) -> None:
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
        loras=(LoraChoice(file="ink", strength=0.1, hash="4852686128"),),
        expand_wildcards=False,
    )
    assert found.tool == "Fooocus"
    assert found.warnings[:1] == ('It was made with the model "juggernautXL"; choose it to match.',)
    assert {pair.key for pair in found.unmapped} >= {"sharpness", "adm_guidance"}


def test_fooocuss_exif_is_read(tmp_path: Path) -> None:
    # `get_exif`: UserComment and MakerNote in the first directory, as text.
    text = frozen("fooocus")["written"]["fooocus"].encode()
    data = exif({0x9286: (2, text + b"\0"), 0x927C: (2, b"fooocus\0")}, {})
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg((0xE1, b"Exif\0\0" + data)))
    assert read_request(path).request.seed == 4067887243
