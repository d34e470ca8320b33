"""Our record: exact in its JSON, readable by others in the common text."""

import json
import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.api import ComponentFiles, ConventionName, GenerationRecord, InputImage, InputRole
from engine.api.conventions import CONVENTIONS
from engine.api.masks import MaskedContent, MaskOptions
from engine.api.noise_rules import SdeNoise
from engine.api.record import RECORD_VERSION
from engine.api.request import GuidanceOptions
from engine.metadata.infotext import format_infotext, parse_infotext
from engine.metadata.png import insert_text_chunks
from engine.metadata.readers.a1111 import import_infotext
from engine.metadata.record import decode_record, encode_record, record_chunks
from engine.metadata.record_text import record_infotext
from tests.metadata.records import PLAIN, PLAIN_REQUEST, PNG, RECORDS, png_with, read_record, text


@given(record=RECORDS)
def test_the_record_comes_back_exactly(record: GenerationRecord) -> None:
    written = encode_record(record)
    assert written.isascii()
    assert decode_record(written) == record


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=RECORDS)
def test_a_record_survives_being_saved_in_a_picture(
    tmp_path: Path, record: GenerationRecord
) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    assert read_record(path) == record


def test_a_prompt_of_a_million_characters_comes_back(tmp_path: Path) -> None:
    request = msgspec.structs.replace(PLAIN_REQUEST, prompt="😀" * 1_000_000)
    record = msgspec.structs.replace(PLAIN, request=request)
    path = tmp_path / "picture.png"
    path.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    assert read_record(path) == record


def test_a_record_of_version_1_names_its_convention() -> None:
    written = json.loads(encode_record(PLAIN))
    written["version"] = 1
    written["request"]["convention"] = "comfy"
    record = decode_record(json.dumps(written))
    assert record is not None
    convention = msgspec.structs.replace(
        CONVENTIONS[ConventionName.COMFY], sde_noise=SdeNoise.STREAM
    )
    assert record.request == msgspec.structs.replace(PLAIN_REQUEST, convention=convention)
    written["request"]["convention"] = "none of ours"
    assert decode_record(json.dumps(written)) is None


@pytest.mark.parametrize(
    ("version", "later"),
    [(2, ("zeroes_empty_negative", "masking", "pastes_kept")), (3, ("masking", "pastes_kept"))],
)
@pytest.mark.parametrize("name", ConventionName)
def test_an_old_record_gets_newer_habits_from_its_tool(
    name: ConventionName, version: int, later: tuple[str, ...]
) -> None:
    request = msgspec.structs.replace(PLAIN_REQUEST, convention=CONVENTIONS[name])
    record = msgspec.structs.replace(PLAIN, request=request)
    written = json.loads(encode_record(record))
    written["version"] = version
    for habit in later:
        del written["request"]["convention"][habit]
    assert decode_record(json.dumps(written)) == record


def test_a_record_from_before_measured_devices_has_no_choice() -> None:
    chosen = msgspec.structs.replace(PLAIN, choice="1.9x faster than CUDA here")
    written = json.loads(encode_record(chosen))
    assert decode_record(json.dumps(written)) == chosen
    del written["choice"]
    assert decode_record(json.dumps(written)) == PLAIN


def test_a_picture_without_a_record_has_none(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(PNG)
    assert read_record(path) is None


def test_the_first_valid_record_counts(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    records = [msgspec.structs.replace(PLAIN, device=name) for name in ("first", "second")]
    chunks = [text("safelight", value) for value in ("{}", *map(encode_record, records))]
    path.write_bytes(png_with(*chunks))
    assert read_record(path) == records[0]


def test_a_record_is_written_as_a_common_text() -> None:
    assert format_infotext(record_infotext(PLAIN)) == (
        "a cat, (masterpiece:1.2)\n"
        "Negative prompt: blurry\n"
        "Steps: 20, Sampler: DPM++ 2M, Schedule type: Karras, CFG scale: 7, Seed: 965400086, "
        "Size: 512x768, Model: dream v1.5, RNG: CPU, Version: Safelight 0.1.0"
    )


def test_every_setting_is_written_in_the_common_text() -> None:
    request = msgspec.structs.replace(
        PLAIN_REQUEST,
        negative_prompt="",
        guidance=6.5,
        clip_skip=2,
        inputs=(InputImage(role=InputRole.INIT, path="in.png"),),
        strength=0.4,
        components=ComponentFiles(vae="C:\\vae\\soft, new.safetensors"),
        checkpoint="/models/a folder v2.1",
    )
    record = msgspec.structs.replace(PLAIN, request=request)
    assert format_infotext(record_infotext(record)) == (
        "a cat, (masterpiece:1.2)\n"
        "Steps: 20, Sampler: DPM++ 2M, Schedule type: Karras, CFG scale: 6.5, Seed: 965400086, "
        'Size: 512x768, Model: a folder v2.1, VAE: "soft, new.safetensors", '
        "Denoising strength: 0.4, Clip skip: 2, RNG: CPU, Version: Safelight 0.1.0"
    )


def test_the_mask_is_written_in_the_common_text() -> None:
    init, mask = (InputImage(role=r, path="in.png") for r in (InputRole.INIT, InputRole.MASK))
    options = MaskOptions(
        blur=6, inverted=True, content=MaskedContent.LATENT_NOISE, only_masked=True, padding=24
    )
    request = msgspec.structs.replace(
        PLAIN_REQUEST,
        inputs=(init, mask),
        mask_options=options,
        guidance_options=GuidanceOptions(image_guidance=1.25),
    )
    written = format_infotext(record_infotext(msgspec.structs.replace(PLAIN, request=request)))
    for pair in (
        "CFG scale: 7, Image CFG scale: 1.25, Seed: 965400086",
        "Denoising strength: 0.75",
        "Mask mode: Inpaint not masked, Mask blur: 6, Masked content: latent noise",
        "Inpaint area: Only masked, Masked area padding: 24",
    ):
        assert pair in written
    read = import_infotext(parse_infotext(written)).request
    assert read.mask_options == options
    assert read.guidance_options.image_guidance == 1.25
    assert read.strength == 0.75


def test_a_mask_that_nobody_chose_is_not_in_the_common_text() -> None:
    written = format_infotext(record_infotext(PLAIN))
    assert "Mask" not in written
    assert import_infotext(parse_infotext(written)).request.mask_options == MaskOptions()


VALID = json.loads(encode_record(PLAIN))


@pytest.mark.parametrize(
    "change",
    [
        {"width": 63},
        {"width": 8193},
        {"height": -512},
        {"height": 10**30},
        {"steps": 0},
        {"steps": 1001},
        {"steps": 2.5},
        {"guidance": math.nan},
        {"guidance": math.inf},
        {"guidance": -1},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": "1"},
        {"clip_skip": 0},
        {"strength": 1.5},
        {"sampler": "unheard of"},
        {"prompt": None},
        {"backend": "\x1b[31m"},
        {"inputs": [{"role": "init", "path": "a", "range": [0, 2]}]},
        {"inputs": [{"role": "init", "path": "a", "weight": math.inf}]},
        {"inputs": [{"role": "init", "path": "a"}] * 1000},
        {"components": []},
        {"convention": "a1111"},
        {"convention": {}},
        {"sampler_options": {"eta": -1}},
        {"sampler_options": {"churn": math.nan}},
        {"schedule_options": {"rho": math.inf}},
        {"seed_options": {"variation_seed": -1}},
        {"seed_options": {"variation_strength": 1.5}},
        {"seed_options": {"resize_from": [63, 512]}},
        {"seed_options": {"eta_seed_delta": 2**64}},
        {"seed_options": {"batch_index": 1025}},
        {"guidance_options": {"rescale": -0.1}},
        {"guidance_options": {"range": [0, math.nan]}},
        {"zero_terminal_snr": 1},
        {"prompt_template": 5},
        {"size_options": {"crop": [0, -1]}},
        {"size_options": {"negative_target": [1024, 65_537]}},
        {"size_options": {"aesthetic_score": 101}},
        {"guidance_options": {"image_guidance": -1}},
        {"mask_options": {"blur": 65}},
        {"mask_options": {"padding": -1}},
        {"mask_options": {"feather": 5000}},
        {"mask_options": {"expand": [0, 0, 0, 8193]}},
        {"mask_options": {"content": "unheard of"}},
        # Roles that no Safelight ever made a picture with.
        {"inputs": [{"role": "control", "path": "pose.png"}]},
        {"inputs": [{"role": "sketch", "path": "cat.png"}]},
    ],
)
def test_a_record_of_an_impossible_request_is_refused(change: dict[str, object]) -> None:
    assert decode_record(json.dumps(VALID)) == PLAIN
    assert decode_record(json.dumps(VALID | {"request": VALID["request"] | change})) is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        "null",
        "[]",
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 10_000,
        json.dumps(VALID)[:-1],
        json.dumps(VALID | {"version": RECORD_VERSION + 1}),
        json.dumps(VALID | {"request": {}}),
    ],
)
def test_a_damaged_record_is_none(value: str) -> None:
    assert decode_record(value) is None


@given(value=st.text(max_size=100))
def test_random_bytes_are_no_record(value: str) -> None:
    assert decode_record(value) is None


@pytest.mark.parametrize(
    ("prompt", "cleaning"), [("a cat", "ftfy"), ("it\u2019s", "none"), ("a &amp; b", "none")]
)
def test_a_record_from_before_cleaning_gives_the_same_tokens(prompt: str, cleaning: str) -> None:
    """Cleaning would change nothing, so it is the tool's, as nobody chose otherwise."""
    written = json.loads(encode_record(PLAIN))
    written["request"]["prompt"] = prompt
    del written["request"]["convention"]["text_cleaning"]
    record = decode_record(json.dumps(written))
    assert record is not None
    assert record.request.convention.text_cleaning == cleaning
