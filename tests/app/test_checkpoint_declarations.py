"""A person's declarations on a checkpoint are in the requests for it, and are remembered."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.form.generation import GenerationState
from app.library.checkpoint_declarations import (
    NO_DECLARATION,
    CheckpointDeclaration,
    CheckpointMemory,
)
from engine.api.checkpoints import CheckpointInfo
from engine.api.request import CheckpointOverride, ComponentFiles, GenerateRequest
from engine.api.values import ErrorCode, ErrorInfo, PredictionType
from engine.checkpoints.known_files import SETTLED_NS
from tests.app.sessions import Staged
from tests.unstated_checkpoint import PREDICTS_NOISE, write_unstated
from tests.unstated_checkpoint import PREDICTS_V as SHOWS_V

PREDICTS_V = CheckpointDeclaration(override=CheckpointOverride(prediction=PredictionType.V))


def test_declarations_are_remembered_and_taken_back(tmp_path: Path) -> None:
    path, other = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    declared = CheckpointDeclaration(zero_terminal_snr=True, components=ComponentFiles(vae="/v"))
    CheckpointMemory(tmp_path / "state").keep(path, declared)
    CheckpointMemory(tmp_path / "state").keep(other, PREDICTS_V)
    memory = CheckpointMemory(tmp_path / "state")
    assert (memory.of(path), memory.of(other)) == (declared, PREDICTS_V)
    memory.keep(path, NO_DECLARATION)
    assert CheckpointMemory(tmp_path / "state").of(path) == NO_DECLARATION


@pytest.mark.parametrize("content", [b"", b"[]", b'{"a": 1}', b"\xff", b"[" * 100_000])
def test_a_damaged_memory_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checkpoints.json").write_bytes(content)
    memory = CheckpointMemory(tmp_path)
    assert memory.of(tmp_path) == NO_DECLARATION
    memory.keep(tmp_path, PREDICTS_V)
    assert CheckpointMemory(tmp_path).of(tmp_path) == PREDICTS_V


def test_a_disk_that_takes_nothing_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"a file where a folder should be")
    memory = CheckpointMemory(tmp_path / "state")
    memory.keep(tmp_path, PREDICTS_V)
    assert memory.of(tmp_path) == PREDICTS_V


def test_requests_hold_the_declaration(tmp_path: Path) -> None:
    form = GenerationState(tmp_path)
    form.declaration = CheckpointDeclaration(
        override=PREDICTS_V.override,
        zero_terminal_snr=True,
        components=ComponentFiles(vae="/given", text_encoder="/text"),
    )
    request = form.build_request()
    assert request.override == PREDICTS_V.override
    assert request.zero_terminal_snr is True
    # A picture that is made again comes before.
    loaded = GenerateRequest(prompt="", components=ComponentFiles(vae="/loaded"))
    form.load_request(loaded)
    assert form.build_request().override == CheckpointOverride()
    assert form.build_request().components == ComponentFiles(vae="/loaded")


def test_each_checkpoint_has_its_own_declaration(staged: Staged, tmp_path: Path) -> None:
    session = staged.start().session
    path = write_unstated(tmp_path / "found.safetensors", PREDICTS_NOISE)

    def prediction() -> str:
        answer = session.checkpoints.answer(path)
        return answer.prediction if isinstance(answer, CheckpointInfo) else ""

    session.open_file(path)
    staged.wait(lambda: prediction() == "epsilon")
    session.checkpoint.declare(PREDICTS_V)
    staged.wait(lambda: prediction() == "v_prediction")
    assert session.generation.suggestions.side == 768
    session.generation.checkpoint = session.checkpoints.starter
    assert session.generation.declaration == NO_DECLARATION
    session.generation.checkpoint = path
    assert session.generation.declaration == PREDICTS_V
    assert session.generation.build_request().override == PREDICTS_V.override


def test_a_declaration_that_the_shapes_rule_out_is_an_error_and_can_be_taken_back(
    staged: Staged, tmp_path: Path
) -> None:
    session = staged.start().session
    path = write_unstated(tmp_path / "found.safetensors", PREDICTS_NOISE)
    session.open_file(path)
    session.checkpoint.declare(CheckpointDeclaration(override=CheckpointOverride(family="sd1")))
    staged.wait(lambda: isinstance(session.checkpoints.answer(path), ErrorInfo))
    answer = session.checkpoints.answer(path)
    assert isinstance(answer, ErrorInfo)
    assert answer.code is ErrorCode.CHECKPOINT_MISMATCH
    session.checkpoint.declare(NO_DECLARATION)
    staged.wait(lambda: isinstance(session.checkpoints.answer(path), CheckpointInfo))


def test_a_prediction_type_found_by_a_job_is_shown(
    staged: Staged, tmp_path: Path, qtbot: QtBot
) -> None:
    session = staged.start().session
    path = write_unstated(tmp_path / "found.safetensors", SHOWS_V)

    def known() -> tuple[str, bool] | None:
        answer = session.checkpoints.answer(path)
        if not isinstance(answer, CheckpointInfo):
            return None
        return answer.prediction, answer.prediction_is_stated

    session.open_file(path)
    staged.wait(lambda: known() == ("epsilon", False))
    # Until then the file's times would not tell of changes.
    qtbot.wait(SETTLED_NS // 1_000_000 + 200)
    session.generation.width = session.generation.height = 64
    session.generation.steps = 1
    session.jobs.generate()
    staged.wait_for_jobs(1)
    staged.wait(lambda: known() == ("v_prediction", True))
