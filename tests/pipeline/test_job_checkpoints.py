"""The checkpoints that a job draws with: the first, those of second passes, a refiner."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.request import RefinerChoice
from engine.api.second_passes import SecondPass
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.pipeline.job_checkpoints import JobCheckpoints
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import write_checkpoint


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("job_checkpoints") / "tiny")


@pytest.fixture(scope="module")
def other(tiny: Path) -> Path:
    return write_checkpoint(tiny.with_name("other"))


def loaded(tiny: Path, *seconds: Path | None, refiner: Path | None = None) -> JobCheckpoints:
    passes = tuple(SecondPass(checkpoint=path and str(path)) for path in seconds)
    choice = refiner and RefinerChoice(checkpoint=str(refiner))
    return load_checkpoints(a_request(tiny, second_passes=passes, refiner=choice))


def test_a_pass_without_a_checkpoint_is_drawn_by_the_first(tiny: Path, other: Path) -> None:
    checkpoints = loaded(tiny, None, other, tiny)
    assert [own and own.path for own in checkpoints.seconds] == [None, other, None]
    first, again, second, last = checkpoints.runs
    assert first is again is last is checkpoints.first
    assert second is checkpoints.seconds[1]


def test_networks_of_each_checkpoint_have_names_of_their_own(tiny: Path, other: Path) -> None:
    checkpoints = loaded(tiny, other, other, refiner=other)
    every = *checkpoints.runs, checkpoints.refiner
    prefixes = [checkpoint.network_prefix for checkpoint in every if checkpoint]
    assert prefixes == ["", "second_1_", "second_2_", "refiner_"]


def test_a_refiner_belongs_to_the_checkpoint_of_the_last_run(tiny: Path, other: Path) -> None:
    for seconds, place in (((), 0), ((None,), 0), ((other,), 1), ((other, None), 0)):
        checkpoints = loaded(tiny, *seconds, refiner=tiny)
        assert checkpoints.refiner is not None
        refined = checkpoints.runs[place]
        for checkpoint in checkpoints.runs:
            found = checkpoints.refiner_of(checkpoint)
            assert found is (checkpoints.refiner if checkpoint is refined else None)


def test_a_change_reaches_every_checkpoint_and_may_spare_the_refiner(
    tiny: Path, other: Path
) -> None:
    def named(checkpoint: IdentifiedCheckpoint) -> IdentifiedCheckpoint:
        return replace(checkpoint, variant="changed")

    checkpoints = loaded(tiny, other, None, refiner=other)
    for refiner in (True, False):
        changed = checkpoints.with_each(named, refiner=refiner)
        assert {checkpoint.variant for checkpoint in changed.runs} == {"changed"}
        # The first one is still one object, wherever it draws.
        assert changed.runs[0] is changed.runs[2]
        assert changed.refiner is not None
        assert (changed.refiner.variant == "changed") is refiner
