"""The record of a picture has the hashes of its LoRAs, as soon as they are known."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from engine.api.lora import LoraReport
from engine.api.request import GenerateRequest
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.checkpoints import known_files as known_files_module
from engine.checkpoints.background_hash import BackgroundHash
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.jobs.kept_facts import known_files
from engine.jobs.lora_hashes import with_hashes
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.lora import names_below
from engine.lora.hashes import stated_tensors_hash
from engine.output import Destination
from tests.lora.test_folder import write

PATIENCE_S = 60


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobServices]:
    # Else the files that a test writes would have to be waited for.
    monkeypatch.setattr(known_files_module, "SETTLED_NS", -(1 << 62))
    hashes = BackgroundHash(known_files(tmp_path / "cache"))
    yield JobServices.in_cache(tmp_path / "cache", hashes=hashes)
    hashes.close()


def test_a_hash_is_found_in_the_background_for_later_pictures(
    services: JobServices, tmp_path: Path
) -> None:
    path = write(tmp_path / "ink.safetensors")
    report = LoraReport(name="ink", path=str(path), applied_keys=3)
    assert with_hashes((report,), services) == (report,)
    assert services.hashes is not None
    assert services.hashes.wait(PATIENCE_S)
    (found,) = with_hashes((report,), services)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    # Of the tensors, of which this file has none.
    assert found.tensors_hash == hashlib.sha256(b"").hexdigest()[:12]
    assert found.applied_keys == 3


def test_the_hash_that_a_trainer_noted_stays_in_the_record(
    services: JobServices, tmp_path: Path
) -> None:
    path = write(tmp_path / "ink.safetensors")
    report = LoraReport(name="ink", path=str(path), tensors_hash="ab" * 6)
    with_hashes((report,), services)
    assert services.hashes is not None
    assert services.hashes.wait(PATIENCE_S)
    (found,) = with_hashes((report,), services)
    assert (found.tensors_hash, found.sha256 is None) == ("ab" * 6, False)


def test_all_files_in_the_folders_are_hashed_so_that_a_renamed_one_is_found(
    services: JobServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "loras" / "ink.safetensors")
    other = write(tmp_path / "loras" / "styles" / "other.safetensors", ss_output_name="x")
    services.lora_folders.chosen = (tmp_path / "loras",)
    services.hash_loras()
    assert services.hashes is not None
    assert services.hashes.wait(PATIENCE_S)
    monkeypatch.setattr(names_below, "MOST_HASHED_BYTES", 0)
    later = JobServices.in_cache(tmp_path / "cache", loras=[tmp_path / "loras"])
    for file in (path, other):
        digits = hashlib.sha256(file.read_bytes()).hexdigest()[:10]
        found = later.lora_folders.look().find("another name", digits)
        assert found is not None
        assert (found.path, found.hashed) == (file, 0)


def test_files_are_hashed_for_listings_while_no_job_runs(
    services: JobServices, tmp_path: Path
) -> None:
    write(tmp_path / "loras" / "ink.safetensors")
    services.lora_folders.chosen = (tmp_path / "loras",)
    assert services.hashes is not None
    with services.working():
        services.hash_loras()
        assert not services.hashes.wait(0.2)
    assert services.hashes.wait(PATIENCE_S)


def test_a_job_keeps_other_files_from_being_hashed(
    services: JobServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "loras" / "ink.safetensors")
    services.lora_folders.chosen = (tmp_path / "loras",)
    runner, waited = JobRunner(services), list[bool]()

    def load(*_: object) -> NoReturn:
        services.hash_loras()
        assert services.hashes is not None
        waited.append(services.hashes.wait(0.2))
        raise EngineError(ErrorCode.CHECKPOINT_NOT_FOUND, sentence("gone"))

    monkeypatch.setattr("engine.jobs.runner.load_checkpoints", load)
    with pytest.raises(EngineError):
        runner.run(
            GenerateRequest(prompt=""),
            PictureSaver(Destination(tmp_path / "pictures")),
            SilentReporter(),
            CancelToken(),
        )
    assert waited == [False]


def test_files_that_are_gone_have_no_hash(services: JobServices, tmp_path: Path) -> None:
    reports = LoraReport(name="gone"), LoraReport(name="x", path=str(tmp_path / "x.safetensors"))
    assert with_hashes(reports, services) == reports


@pytest.mark.parametrize(
    ("stated", "digits"),
    [("0x" + "AB" * 32, "ab" * 6), ("ab" * 6, "ab" * 6), ("ab" * 4, None), ("nonsense", None)],
)
def test_the_hash_that_the_trainer_noted_is_taken(
    stated: str, digits: str | None, tmp_path: Path
) -> None:
    path = write(tmp_path / "ink.safetensors", sshs_model_hash=stated)
    assert stated_tensors_hash(read_index(path).metadata) == digits
