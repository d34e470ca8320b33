"""A job is denoised in passes: one, or two where a refiner takes over."""

from pathlib import Path

import pytest

from engine.api.request import RefinerChoice
from engine.api.values import SamplerName
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.pipeline.batch import ResolvedJob
from engine.pipeline.denoise.passes import DenoisingPass, PassStart
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.resolve import resolve
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import write_checkpoint


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("passes")
    base, refiner = write_checkpoint(folder / "base"), write_checkpoint(folder / "other", seed=5)
    vae = "vae/diffusion_pytorch_model.safetensors"
    (refiner / vae).write_bytes((base / vae).read_bytes())
    return base, refiner


def read(folders: tuple[Path, Path], at: float | None, **changes: object) -> ReadJob:
    """A job that hands over to the refiner at this part of its run; None: it has none."""
    refiner = None if at is None else RefinerChoice(checkpoint=str(folders[1]), switch_at=at)
    request = a_request(folders[0], refiner=refiner, **changes)
    checkpoints = load_checkpoints(request)
    return read_job(ResolvedJob(resolve(request, checkpoints), checkpoints, request.count))


def starts(passes: tuple[DenoisingPass, ...]) -> list[PassStart]:
    return [pass_.begins_with for pass_ in passes]


def test_a_job_without_a_refiner_is_one_pass(folders: tuple[Path, Path]) -> None:
    (only,) = read(folders, None).passes
    assert (only.begins_with, only.share, only.takes_no_step) == (PassStart.NOISE, 1.0, False)


def test_a_refiner_is_a_second_pass_that_begins_with_a_handover(
    folders: tuple[Path, Path],
) -> None:
    job = read(folders, 0.75)
    assert starts(job.passes) == [PassStart.NOISE, PassStart.HANDOVER]
    assert [pass_.checkpoint.path for pass_ in job.passes] == list(folders)
    assert [pass_.share for pass_ in job.passes] == [0.75, 0.25]
    # Each pass has its own text encoders read the prompts.
    assert len(job.first.texts) == 2


def test_a_base_that_hands_over_at_once_takes_no_step(folders: tuple[Path, Path]) -> None:
    base, refiner = read(folders, 0.0).passes
    assert (base.takes_no_step, refiner.takes_no_step) == (True, False)


def test_a_pass_changes_no_prompt_and_no_seed_of_a_picture(folders: tuple[Path, Path]) -> None:
    job = read(folders, 0.5, count=2, clip_skip=2)
    for picture in job.first.pictures:
        for pass_ in job.passes:
            own = pass_.request_of(picture.request)
            assert (own.prompt, own.seed) == (picture.request.prompt, picture.request.seed)
            assert own.clip_skip == pass_.request.clip_skip


@pytest.mark.parametrize("sampler", [SamplerName.EULER, SamplerName.EULER_CFG_PP])
def test_the_network_is_planned_for_what_the_sampler_asks_for(
    folders: tuple[Path, Path], sampler: SamplerName
) -> None:
    """CFG++ uses the prediction under the negative prompt where guidance is 1, too."""
    group = read(folders, None, sampler=sampler, guidance=1.0).first
    network = group.passes[0].network(group.texts[0], group.pictures[0].texts)
    assert network.dimensions["contexts"].optimum == 1 + (sampler is SamplerName.EULER_CFG_PP)


def test_the_first_pictures_are_read_once(folders: tuple[Path, Path]) -> None:
    job = read(folders, None, count=3)
    (group,) = job.groups(range(3))
    assert group is job.first
    (rest,) = job.groups(range(1, 3))
    assert [picture.place for picture in rest.pictures] == [1, 2]
