"""The checkpoints that a job draws with: the first, those of second passes, a refiner."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.control import ControlLayer
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion
from engine.api.lora import LoraChoice
from engine.api.preprocessors import ReferenceOptions
from engine.api.request import GenerateRequest, RefinerChoice
from engine.api.second_passes import SecondPass
from engine.api.values import PrecisionName
from engine.checkpoints import known_files as known_files_module
from engine.checkpoints.background_hash import BackgroundHash
from engine.errors import EngineError
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.kept_facts import known_files
from engine.jobs.services import JobServices
from engine.lora.folder import LoraLookup
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.picture_plan import plan_pictures, vae_of_pass
from engine.pipeline.place import Placement
from engine.pipeline.read_job import ReadJob, read_job
from engine.pipeline.resolve import NO_FILES, NamedFiles, resolve_job
from tests.families.flux.test_pictures import write_checkpoint as write_file
from tests.pipeline.control_files import write_map
from tests.pipeline.jobs import a_request
from tests.pipeline.lora_files import FileLora
from tests.tiny_checkpoint import write_checkpoint

PATIENCE_S = 60


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("job_checkpoints") / "tiny")


@pytest.fixture(scope="module")
def other(tiny: Path) -> Path:
    return write_checkpoint(tiny.with_name("other"))


@pytest.fixture(scope="module")
def third(tiny: Path) -> Path:
    return write_checkpoint(tiny.with_name("third"))


def asked(
    tiny: Path, *seconds: Path | None, refiner: Path | None = None, **changes: object
) -> GenerateRequest:
    passes = tuple(SecondPass(checkpoint=path and str(path)) for path in seconds)
    choice = refiner and RefinerChoice(checkpoint=str(refiner))
    return a_request(tiny, second_passes=passes, refiner=choice, **changes)


def loaded(tiny: Path, *seconds: Path | None, refiner: Path | None = None) -> JobCheckpoints:
    return load_checkpoints(asked(tiny, *seconds, refiner=refiner))


def read(request: GenerateRequest, files: NamedFiles = NO_FILES) -> ReadJob:
    return read_job(resolve_job(request, load_checkpoints(request), files))


def test_a_pass_without_a_checkpoint_is_drawn_by_the_first(tiny: Path, other: Path) -> None:
    checkpoints = loaded(tiny, None, other, tiny)
    assert [own and own.path for own in checkpoints.seconds] == [None, other, None]
    first, again, second, last = checkpoints.runs
    assert first is again is last is checkpoints.first
    assert second is checkpoints.seconds[1]


def test_networks_of_each_checkpoint_have_names_of_their_own(
    tiny: Path, other: Path, third: Path
) -> None:
    checkpoints = loaded(tiny, other, third, refiner=other)
    every = *checkpoints.runs, checkpoints.refiner
    prefixes = [checkpoint.network_prefix for checkpoint in every if checkpoint]
    assert prefixes == ["", "second_1_", "second_2_", "refiner_"]


def test_passes_of_one_file_are_drawn_by_the_same_networks(
    tiny: Path, other: Path, third: Path
) -> None:
    job = read(asked(tiny, other, third, other))
    second, last = job.passes[1], job.passes[3]
    assert second.checkpoint is last.checkpoint is not job.passes[2].checkpoint
    names = [own and own.network_prefix for own in job.job.checkpoints.seconds]
    assert names == ["second_1_", "second_2_", "second_1_"]


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

    checkpoints = loaded(tiny, other, None, other, refiner=other)
    for refiner in (True, False):
        changed = checkpoints.with_each(named, refiner=refiner)
        assert {checkpoint.variant for checkpoint in changed.runs} == {"changed"}
        # Each is still one object, wherever it draws.
        assert changed.runs[0] is changed.runs[2]
        assert changed.runs[1] is changed.runs[3]
        assert changed.refiner is not None
        assert (changed.refiner.variant == "changed") is refiner


def test_a_change_of_the_denoiser_reaches_every_pass_and_a_reference_no_refiner(
    tiny: Path, other: Path, tmp_path: Path
) -> None:
    write_map(tmp_path / "map.png", 0)
    changes = {
        "denoiser_options": DenoiserOptions(freeu=FreeUVersion.V2),
        "controls": (
            ControlLayer(image=str(tmp_path / "map.png"), preprocessor=ReferenceOptions()),
        ),
    }
    job = read(asked(tiny, other, None, refiner=other, **changes))
    every = [pass_.checkpoint.changes for pass_ in job.passes]
    assert [own.free_u is not None for own in every] == [True] * 4
    assert [own.reference is not None for own in every] == [True, True, True, False]


def test_loras_act_on_the_checkpoint_of_each_pass_and_on_the_refiner(
    tiny: Path, other: Path, tmp_path: Path
) -> None:
    lora = FileLora(tmp_path / "ink.safetensors", tiny).path
    files = NamedFiles(loras=LoraLookup((tmp_path,)))
    for seconds in ((), (other,), (other, None)):
        job = read(asked(tiny, *seconds, refiner=other, loras=(LoraChoice(file=str(lora)),)), files)
        patched = [bool(pass_.checkpoint.patches) for pass_ in job.first.passes]
        assert patched == [True] * (len(seconds) + 2)


def test_pictures_of_a_pass_are_encoded_by_the_vae_of_its_run(
    tiny: Path, other: Path, tmp_path: Path
) -> None:
    write_map(tmp_path / "map.png", 0)
    layer = ControlLayer(image=str(tmp_path / "map.png"), preprocessor=ReferenceOptions())
    job = read(asked(tiny, None, other, refiner=tiny, controls=(layer,)))
    first, second = (run.architecture.autoencoder for run in job.job.checkpoints.runs[1:])
    vaes = [vae_of_pass(job, pass_, None).model for pass_ in job.passes]
    assert vaes == [first, first, second, second]
    plan = plan_pictures(job, Placement("cpu", PrecisionName.F32, None))
    assert [networks.model for networks in plan.vaes] == [first, first, second]
    assert [enlargement.encoding.model for enlargement in plan.enlargements] == [first, second]
    attended = [follower and follower.vae.model for follower in plan.attended]
    assert attended == [first, first, second, None]


def test_a_refiner_has_the_latents_of_the_last_run(tiny: Path, tmp_path: Path) -> None:
    other = write_checkpoint(tmp_path / "other")
    config = other / "vae" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"scaling_factor": 0.25}))
    second = SecondPass(checkpoint=str(other), upscaler="lanczos")
    for refiner in (other, tiny):
        choice = RefinerChoice(checkpoint=str(refiner))
        request = a_request(tiny, second_passes=(second,), refiner=choice)
        if refiner is other:
            assert load_checkpoints(request).refiner is not None
            continue
        with pytest.raises(EngineError, match="cannot refine pictures of other"):
            load_checkpoints(request)


def test_every_file_of_a_job_is_hashed_for_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else the files that a test writes would have to be waited for.
    monkeypatch.setattr(known_files_module, "SETTLED_NS", -(1 << 62))
    first, second, last = (write_file(tmp_path / f"{number}.safetensors") for number in range(3))
    checkpoints = loaded(first, second, refiner=last)
    hashes = BackgroundHash(known_files(tmp_path / "cache"))
    with closing(hashes):
        services = JobServices.in_cache(tmp_path / "cache", hashes=hashes)
        services.want_hashes(checkpoints)
        assert hashes.wait(PATIENCE_S)
    every = *checkpoints.runs, checkpoints.refiner
    assert [checkpoint and bool(services.sha256(checkpoint)) for checkpoint in every] == [True] * 3
