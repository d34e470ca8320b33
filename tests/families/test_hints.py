"""The hints of a checkpoint's folder on how to sample it."""

import json
import shutil
from pathlib import Path

import pytest

from app.paths import starter_checkpoint
from engine.api.features import OptionalSetting
from engine.api.request import ComponentFiles, GenerateRequest
from engine.api.values import ErrorCode, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.families.hints import FILE_NAME, NO_HINTS, read_hints
from engine.families.identify import identify, supply
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.resolve import resolve


def test_a_folder_without_the_file_has_no_say(tmp_path: Path) -> None:
    assert read_hints(tmp_path) == NO_HINTS


@pytest.mark.parametrize(
    "content", ["", "[]", '{"steps": 0}', '{"guidance": 1e9}', '{"sampler": "magic"}', "\\xff"]
)
def test_a_file_that_makes_no_sense_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    with pytest.raises(EngineError) as caught:
        read_hints(tmp_path)
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
    assert caught.value.hint


def test_hints_fill_what_the_request_leaves_open() -> None:
    checkpoints = JobCheckpoints(identify(starter_checkpoint()))
    resolved = resolve(GenerateRequest(prompt="", seed=1), checkpoints)
    assert resolved.schedule is ScheduleName.SGM_UNIFORM
    assert resolved.guidance == 2.5
    chosen = GenerateRequest(prompt="", seed=1, schedule=ScheduleName.BETA, guidance=7.0)
    resolved = resolve(chosen, checkpoints)
    assert (resolved.schedule, resolved.guidance) == (ScheduleName.BETA, 7.0)


def test_another_sampler_keeps_its_own_schedule_and_steps() -> None:
    request = GenerateRequest(prompt="", seed=1, sampler=SamplerName.LCM)
    resolved = resolve(request, JobCheckpoints(identify(starter_checkpoint())))
    assert (resolved.schedule, resolved.steps) == (ScheduleName.SGM_UNIFORM, 6)


def test_hints_survive_a_supplied_part(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(starter_checkpoint(), folder)
    (folder / FILE_NAME).write_text(json.dumps({"guidance": 3.5}))
    assert supply(identify(folder), ComponentFiles()).hints.guidance == 3.5


def test_the_starter_offers_no_networks_that_steer_as_none_can_fit_its_norms() -> None:
    options = identify(starter_checkpoint()).architecture.features.options
    assert not {OptionalSetting.CONTROLS, OptionalSetting.IMAGE_PROMPTS} & {*options}
    assert OptionalSetting.SECOND_PASSES in options
