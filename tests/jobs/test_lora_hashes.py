"""The record of a picture has the hashes of its LoRAs, as soon as they are known."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api.lora import LoraReport
from engine.checkpoints.background_hash import BackgroundHash
from engine.checkpoints.files import read_index
from engine.jobs.lora_hashes import with_hashes
from engine.jobs.services import JobServices, known_files
from engine.lora.hashes import stated_tensors_hash
from tests.lora.test_folder import write

PATIENCE_S = 60


@pytest.fixture
def services(tmp_path: Path) -> Iterator[JobServices]:
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
    assert found.applied_keys == 3


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
