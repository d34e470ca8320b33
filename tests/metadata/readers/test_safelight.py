"""Our own pictures give back their request exactly, but for paths that are not local."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from engine.api import ComponentFiles, GenerationRecord, InputImage, InputRole
from engine.api.control import ControlLayer
from engine.api.conventions import convention_of
from engine.api.image_prompts import ImagePrompt
from engine.api.record import UpscaleReport
from engine.api.second_passes import SecondPass
from engine.metadata.record import record_chunks
from tests.metadata.readers.pictures import imported
from tests.metadata.records import PLAIN, PLAIN_REQUEST, RECORDS

# Each example replaces the same file; a busy disk is no failure.
IN_ONE_FOLDER = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
        components=ComponentFiles(vae=path, denoiser=path, text_encoder=path, text_encoder_3=path),
        inputs=(InputImage(role=InputRole.INIT, path=path),),
    )
    found = imported(tmp_path, *record_chunks(msgspec.structs.replace(PLAIN, request=request)))
    assert found.request.checkpoint is None
    assert found.request.components == ComponentFiles()
    assert found.request.inputs == ()
    assert len(found.warnings) == 6


@pytest.mark.parametrize("path", NETWORK)
def test_network_paths_of_layers_and_passes_are_not_taken_over(tmp_path: Path, path: str) -> None:
    layer = ControlLayer(image=path, network=path, preprocessor_weights=path, mask=path)
    prompt = ImagePrompt(image=path, adapter=path, encoder=path, mask=path)
    request = msgspec.structs.replace(
        PLAIN_REQUEST,
        controls=(layer,),
        image_prompts=(prompt,),
        second_passes=(SecondPass(upscaler=path, checkpoint=path),),
    )
    found = imported(tmp_path, *record_chunks(msgspec.structs.replace(PLAIN, request=request)))
    assert found.request.controls == (ControlLayer(image=""),)
    assert found.request.image_prompts == (ImagePrompt(image=""),)
    assert found.request.second_passes == (SecondPass(),)
    assert len(found.warnings) == 10


def test_long_local_paths_of_windows_are_taken_over(tmp_path: Path) -> None:
    request = msgspec.structs.replace(PLAIN_REQUEST, checkpoint="\\\\?\\C:\\models\\x.safetensors")
    found = imported(tmp_path, *record_chunks(msgspec.structs.replace(PLAIN, request=request)))
    assert found.request.checkpoint == request.checkpoint
    assert not found.warnings


def test_an_enlargement_after_the_picture_was_made_is_told(tmp_path: Path) -> None:
    report = UpscaleReport(name="4x-sharp", width=256, height=192, resampling="lanczos")
    record = msgspec.structs.replace(PLAIN, upscales=(report,))
    assert imported(tmp_path, *record_chunks(record)).warnings == (
        'It was enlarged to 256x192 with "4x-sharp" after it was made; use Upscale on the picture '
        "for that.",
    )
