"""Fooocus' two notations, as its own code wrote them (`tests/metadata/freeze.py`)."""

import json
from pathlib import Path

import pytest

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion
from engine.api.lora import LoraChoice
from engine.api.request import RefinerChoice
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
    assert (
        "Fooocus' own sharpness and guidance of sizes changed its picture; there is none of it "
        "here, so the picture will differ."
    ) in found.warnings
    assert not {pair.key for pair in found.unmapped} & {"sharpness", "adm_guidance"}


@pytest.mark.parametrize("scheme", ["a1111", "fooocus"])
def test_fooocuss_freeu_and_refiner_are_read(scheme: str) -> None:
    text = frozen("fooocus")["written"][scheme]
    if scheme == "fooocus":
        fields = json.loads(text) | {"freeu": "(1.01, 1.02, 0.99, 0.95)", "refiner_model": "xlref"}
        text = json.dumps(fields)
    else:
        text = text.replace(
            ", Performance", ', FreeU: "(1.01, 1.02, 0.99, 0.95)", Refiner: xlref, Performance'
        )
    found = recognised(("parameters", text), ("fooocus_scheme", scheme))
    assert found.request.denoiser_options == DenoiserOptions(
        freeu=FreeUVersion.V2, freeu_b1=1.01, freeu_b2=1.02, freeu_s1=0.99, freeu_s2=0.95
    )
    if scheme == "fooocus":
        assert found.request.refiner == RefinerChoice(switch_at=0.5)
        assert 'It was refined with the model "xlref"; choose it to match.' in found.warnings


@pytest.mark.parametrize("freeu", ["(1, 2, 3)", "(1, 2, 3, nan)", "x", "(1e400, 1, 1, 1)"])
def test_a_freeu_of_fooocus_that_is_none_is_told(freeu: str) -> None:
    fields = json.loads(frozen("fooocus")["written"]["fooocus"]) | {"freeu": freeu}
    found = recognised(("parameters", json.dumps(fields)), ("fooocus_scheme", "fooocus"))
    assert found.request.denoiser_options == DenoiserOptions()
    assert f'"freeu: {freeu}" was not taken over.' in found.warnings


def test_fooocuss_exif_is_read(tmp_path: Path) -> None:
    # `get_exif`: UserComment and MakerNote in the first directory, as text.
    text = frozen("fooocus")["written"]["fooocus"].encode()
    data = exif({0x9286: (2, text + b"\0"), 0x927C: (2, b"fooocus\0")}, {})
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg((0xE1, b"Exif\0\0" + data)))
    assert read_request(path).request.seed == 4067887243


@pytest.mark.parametrize(("name", "told"), [("Default (model)", False), ("soft", True)])
def test_fooocuss_vae_is_told_unless_it_is_the_checkpoints(name: str, *, told: bool) -> None:
    fields = json.loads(frozen("fooocus")["written"]["fooocus"]) | {"vae": name}
    found = recognised(("parameters", json.dumps(fields)), ("fooocus_scheme", "fooocus"))
    assert ('It was made with the VAE "soft"; choose it to match.' in found.warnings) == told
    assert "vae" not in {pair.key for pair in found.unmapped}
