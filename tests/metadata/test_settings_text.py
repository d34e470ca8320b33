"""A picture's settings as a text: read again, it gives what the file gives."""

from pathlib import Path

import msgspec
import pytest

from engine.api import GenerateRequest
from engine.api.conventions import CONVENTIONS, convention_of
from engine.api.noise_rules import RandomSource
from engine.api.values import ConventionName
from engine.metadata.png import insert_text_chunks
from engine.metadata.readers import read_request
from engine.metadata.record import record_chunks
from engine.metadata.settings_text import settings_text
from engine.metadata.texts import TextChunk
from tests.metadata.readers.graphs import CUSTOM, TEXT_TO_PICTURE, Graph, prompt
from tests.metadata.readers.pictures import recognised
from tests.metadata.records import PLAIN, PNG

COMFY = CONVENTIONS[ConventionName.COMFY]
INVOKE = CONVENTIONS[ConventionName.INVOKE]


def picture(folder: Path, *chunks: TextChunk) -> Path:
    path = folder / "picture.png"
    path.write_bytes(insert_text_chunks(PNG, chunks))
    return path


def text_of(path: Path) -> str:
    return settings_text(path, read_request(path))


def read_again(path: Path) -> GenerateRequest:
    return recognised(("parameters", text_of(path))).request


@pytest.mark.parametrize("graph", [TEXT_TO_PICTURE, CUSTOM])
def test_settings_of_a_comfyui_picture_are_read_again(tmp_path: Path, graph: Graph) -> None:
    path = picture(tmp_path, prompt(graph))
    found = read_request(path).request
    assert found.steps
    assert read_again(path) == found


@pytest.mark.parametrize(
    "convention",
    [COMFY, INVOKE, msgspec.structs.replace(COMFY, step_source=RandomSource.CUDA)],
)
def test_our_own_text_keeps_the_tool_that_the_picture_follows(
    tmp_path: Path, convention: object
) -> None:
    request = msgspec.structs.replace(PLAIN.request, convention=convention)
    path = picture(tmp_path, *record_chunks(msgspec.structs.replace(PLAIN, request=request)))
    again = read_again(path)
    assert convention_of(again.convention) == convention
    assert (again.prompt, again.seed, again.steps) == (request.prompt, request.seed, request.steps)


def test_a_text_of_automatic1111_is_copied_as_it_is(tmp_path: Path) -> None:
    text = "a cat\nNegative prompt: dog\nSteps: 20, Sampler: Euler a, Seed: 1, My key: 7"
    assert text_of(picture(tmp_path, TextChunk("parameters", text))) == text


def test_values_that_a_picture_does_not_tell_are_left_out(tmp_path: Path) -> None:
    graph = {name: dict(node) for name, node in TEXT_TO_PICTURE.items()}
    path = picture(tmp_path, prompt(graph))
    assert "Denoising strength" not in text_of(path)
    assert "Version" not in text_of(path)


def test_a_text_that_names_conventions_wrongly_follows_that_tool(tmp_path: Path) -> None:
    line = 'Steps: 20, Sampler: Euler, Seed: 1, Results as in: "ComfyUI {\\"step_source\\": 4}"'
    found = recognised(("parameters", f"a cat\n{line}")).request
    assert found.convention == ConventionName.COMFY
