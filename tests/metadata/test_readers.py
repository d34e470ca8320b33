"""Requests from pictures: ours exactly, others' as they map."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.api import (
    ComponentFiles,
    ErrorCode,
    GenerateRequest,
    GenerationRecord,
    InputImage,
    InputRole,
    SamplerName,
    ScheduleName,
)
from engine.api.conventions import convention_of
from engine.errors import EngineError
from engine.metadata.png import TextChunk, insert_text_chunks
from engine.metadata.readers import ImportedRequest, read_request
from engine.metadata.record import record_chunks
from tests.metadata.records import PLAIN, PLAIN_REQUEST, PNG, RECORDS

# Each example replaces the same file; a busy disk is no failure.
IN_ONE_FOLDER = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def imported(folder: Path, *chunks: TextChunk) -> ImportedRequest:
    path = folder / "picture.png"
    path.write_bytes(insert_text_chunks(PNG, chunks))
    return read_request(path)


def from_text(folder: Path, text: str) -> ImportedRequest:
    return imported(folder, TextChunk("parameters", text))


def with_line(folder: Path, line: str) -> ImportedRequest:
    """A text whose line has enough pairs whatever is tested."""
    return from_text(folder, f"a cat\n{line}, RNG: CPU, Version: v1.10.1, User: me")


@IN_ONE_FOLDER
@given(record=RECORDS)
def test_our_pictures_give_back_their_request(tmp_path: Path, record: GenerationRecord) -> None:
    found = imported(tmp_path, *record_chunks(record))
    assert found.record == record
    done = msgspec.structs.asdict(record.request)
    asked = msgspec.structs.asdict(found.request)
    asked["convention"] = convention_of(found.request.convention)
    templates = {"prompt_template", "negative_template"}
    exact = set(done) - {"checkpoint", "components", "inputs", "strength"} - templates
    assert {key: asked[key] for key in exact} == {key: done[key] for key in exact}
    assert found.request.count == 1
    if not found.warnings:
        assert found.request.checkpoint == record.request.checkpoint
        assert found.request.components == record.request.components
        assert found.request.inputs == record.request.inputs


def test_strength_is_kept_with_an_init_picture_only(tmp_path: Path) -> None:
    assert imported(tmp_path, *record_chunks(PLAIN)).request.strength is None
    init = InputImage(role=InputRole.INIT, path="/pictures/in.png")
    request = msgspec.structs.replace(PLAIN_REQUEST, inputs=(init,), strength=0.3)
    record = msgspec.structs.replace(PLAIN, request=request)
    found = imported(tmp_path, *record_chunks(record)).request
    assert (found.strength, found.inputs) == (0.3, (init,))


NETWORK = [r"\\server\share\x", "//server/x", r"\\.\pipe\x", r"\\?\UNC\server\x", "a\0b"]


@pytest.mark.parametrize("path", NETWORK)
def test_network_paths_are_not_taken_over(tmp_path: Path, path: str) -> None:
    request = msgspec.structs.replace(
        PLAIN_REQUEST,
        checkpoint=path,
        components=ComponentFiles(vae=path, denoiser=path, text_encoder=path),
        inputs=(InputImage(role=InputRole.INIT, path=path),),
    )
    found = imported(tmp_path, *record_chunks(msgspec.structs.replace(PLAIN, request=request)))
    assert found.request.checkpoint is None
    assert found.request.components == ComponentFiles()
    assert found.request.inputs == ()
    assert len(found.warnings) == 5


def test_long_local_paths_of_windows_are_taken_over(tmp_path: Path) -> None:
    request = msgspec.structs.replace(PLAIN_REQUEST, checkpoint="\\\\?\\C:\\models\\x.safetensors")
    found = imported(tmp_path, *record_chunks(msgspec.structs.replace(PLAIN, request=request)))
    assert found.request.checkpoint == request.checkpoint
    assert not found.warnings


def test_our_own_text_without_the_record_maps(tmp_path: Path) -> None:
    found = imported(tmp_path, record_chunks(PLAIN)[0])
    assert found.request == GenerateRequest(
        prompt="a cat, (masterpiece:1.2)",
        negative_prompt="blurry",
        width=512,
        height=768,
        steps=20,
        guidance=7.0,
        sampler=SamplerName.DPMPP_2M,
        schedule=ScheduleName.KARRAS,
        seed=965400086,
    )
    assert found.record is None
    assert found.warnings == ('It was made with the checkpoint "dream v1.5"; choose it to match.',)


def test_what_does_not_map_is_said(tmp_path: Path) -> None:
    found = from_text(
        tmp_path,
        "a cat\nSteps: 9, Sampler: DPM++ 2S a, Seed: 1, Size: 512x512, Clip skip: 2, "
        "Denoising strength: 0.5, Hires upscale: 2, Hires upscaler: Latent, Model: m\x1b[31m",
    )
    assert (found.request.steps, found.request.seed) == (9, 1)
    assert (found.request.clip_skip, found.request.strength) == (2, 0.5)
    assert found.request.sampler is None
    assert found.warnings == (
        '"Sampler: DPM++ 2S a" was not taken over.',
        'It was made with the checkpoint "m[31m"; choose it to match.',
        "Its noise is a GPU's; the same seed gives another picture here.",
        "It was made from another picture, which is not in the file.",
        "Not taken over: Hires upscale, Hires upscaler.",
    )


@pytest.mark.parametrize(
    ("line", "sampler", "schedule"),
    [
        ("Sampler: Euler a", SamplerName.EULER_ANCESTRAL, ScheduleName.NORMAL),
        ("Sampler: DPM++ 2M Karras", SamplerName.DPMPP_2M, ScheduleName.KARRAS),
        ("Sampler: DPM++ 2M SDE Karras", SamplerName.DPMPP_2M_SDE, ScheduleName.KARRAS),
        ("Sampler: DPM++ 2M SDE Exponential", SamplerName.DPMPP_2M_SDE, None),
        ("Sampler: Euler SGM Uniform", SamplerName.EULER, ScheduleName.SGM_UNIFORM),
        ("Sampler: euler_a karras", SamplerName.EULER_ANCESTRAL, ScheduleName.KARRAS),
        ("Sampler: DPM++ 2M, Schedule type: Beta", SamplerName.DPMPP_2M, ScheduleName.BETA),
        ("Sampler: Euler, Schedule type: Uniform", SamplerName.EULER, ScheduleName.NORMAL),
        ("Sampler: DPM++ 2M, Schedule type: Automatic", SamplerName.DPMPP_2M, ScheduleName.KARRAS),
        ("Sampler: DPM++ 2M", SamplerName.DPMPP_2M, ScheduleName.KARRAS),
        ("Sampler: DPM++ 2M SDE", SamplerName.DPMPP_2M_SDE, None),
        ("Sampler: LCM", SamplerName.LCM, ScheduleName.NORMAL),
        ("Sampler: Karras", None, ScheduleName.NORMAL),
        ("Schedule type: Karras", None, None),
    ],
)
def test_samplers_and_schedules(
    tmp_path: Path, line: str, sampler: SamplerName | None, schedule: ScheduleName | None
) -> None:
    request = with_line(tmp_path, line).request
    assert (request.sampler, request.schedule) == (sampler, schedule)


@pytest.mark.parametrize("version", ["", ", Version: v1.8.0", ", Version: 1.5.2"])
def test_before_1_9_a_sampler_alone_has_the_plain_schedule(tmp_path: Path, version: str) -> None:
    text = f"a\nSteps: 20, Sampler: DPM++ 2M, Seed: 1{version}"
    assert from_text(tmp_path, text).request.schedule is ScheduleName.NORMAL


@pytest.mark.parametrize(
    "pair",
    [
        "Steps: 0",
        "Steps: 1001",
        "Steps: " + "9" * 5000,
        "Steps: 1e2",
        "Steps: ٣",
        "CFG scale: nan",
        "CFG scale: inf",
        "CFG scale: -1",
        "CFG scale: seven",
        "Seed: -1",
        "Seed: 18446744073709551616",
        "Size: 63x512",
        "Size: 512x8193",
        "Size: 999999999999x5",
        "Size: big",
        "Clip skip: 0",
        "Denoising strength: 1.01",
        "Sampler: \x1b[31m",
        "Sampler: Euler, Schedule type: ???",
    ],
)
def test_values_out_of_range_are_left_out_and_said(tmp_path: Path, pair: str) -> None:
    found = with_line(tmp_path, pair)
    plain = GenerateRequest(prompt="a cat")
    if "Sampler" in pair:
        assert found.request.schedule in (None, ScheduleName.NORMAL)
    else:
        assert found.request == plain
    assert "was not taken over." in found.warnings[0]
    assert found.warnings[0].isprintable()
    assert len(found.warnings[0]) < 130


def test_a_prompt_alone_is_a_request(tmp_path: Path) -> None:
    found = from_text(tmp_path, "a red house\nNegative prompt: rain")
    assert found.request == GenerateRequest(prompt="a red house", negative_prompt="rain")
    assert found.warnings == ()


@pytest.mark.parametrize(
    "chunks",
    [
        (),
        (TextChunk("prompt", "{}"), TextChunk("workflow", "{}")),
        (TextChunk("parameters", '{"sui_image_params": {"prompt": "a"}}'),),
        (TextChunk("safelight", "{}"),),
    ],
)
def test_without_metadata(tmp_path: Path, chunks: tuple[TextChunk, ...]) -> None:
    with pytest.raises(EngineError) as caught:
        imported(tmp_path, *chunks)
    assert caught.value.code is ErrorCode.METADATA_MISSING
    assert caught.value.hint


VALUES = st.one_of(
    st.sampled_from(["512x512", "nan", "-1", "1e999", "Euler a Karras", '"', "\\"]),
    st.text(max_size=12),
)
KEYS = st.sampled_from(
    ["Steps", "Sampler", "Schedule type", "CFG scale", "Seed", "Size", "Clip skip", "Model", "RNG"]
)


@IN_ONE_FOLDER
@given(prompt=st.text(max_size=20), pairs=st.lists(st.tuples(KEYS, VALUES), max_size=9))
def test_any_text_gives_a_request_within_bounds(
    tmp_path: Path, prompt: str, pairs: list[tuple[str, str]]
) -> None:
    line = ", ".join(f"{key}: {value}" for key, value in pairs)
    # The word keeps the text from starting like the JSON of another tool.
    found = from_text(tmp_path, f"a {prompt}\n{line}")
    request = found.request
    assert request.steps is None or 1 <= request.steps <= 1000
    assert request.guidance is None or 0 <= request.guidance <= 100
    assert request.seed is None or 0 <= request.seed < 2**64
    assert request.width is None or 64 <= request.width <= 8192
    assert all(warning.isprintable() for warning in found.warnings)
