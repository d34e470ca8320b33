"""Jobs on disks that lack the room for working copies: in memory, or refused at once."""

import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import DType
from engine.api.remedies import FreeCache, RaiseMemoryLimit
from engine.api.request import ComponentFiles, GenerateRequest
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.jobs.runner import JobRunner
from tests.families.flux.test_gguf import write_pair
from tests.jobs.machines import GB, Machine
from tests.jobs.test_weight_bits import Bench, flow_request


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A Flux.1 whose denoiser is in blocks, which are always repacked."""
    folder = tmp_path_factory.mktemp("disk")
    whole = write_pair(folder, DType.Q4_0)[0:2]
    parts = ComponentFiles(
        vae=str(folder / "vae.safetensors"),
        text_encoder=str(folder / "clip.safetensors"),
        text_encoder_2=str(whole[1]),
    )
    return Bench(folder, flow_request(whole[0], parts))


def fill_disk(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    usage = shutil.disk_usage

    def ask(path: Path) -> object:
        return usage(path)._replace(free=free)

    monkeypatch.setattr(shutil, "disk_usage", ask)


def with_least_memory(bench: Bench) -> GenerateRequest:
    """The bench's request with the lowest memory limit that it can be made with."""
    runner = JobRunner(bench.services)
    found = bench.request
    while True:
        limit = runner.outlook(found).peak_bytes
        found = msgspec.structs.replace(bench.request, memory_limit_bytes=limit)
        try:
            runner.outlook(msgspec.structs.replace(found, memory_limit_bytes=limit - 1))
        except EngineError:
            return found
        found = msgspec.structs.replace(found, memory_limit_bytes=limit - 1)


def copies_of(bench: Bench) -> set[str]:
    folder = bench.services.cache.working_copies.folder
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def test_a_picture_is_made_without_copies_where_there_is_memory(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tight = Bench(tmp_path, bench.request)
    with monkeypatch.context() as full:
        fill_disk(full, 100_000)
        found = tight.made(bench.request)[2]
    assert copies_of(tight) == set()
    usual = Bench(tmp_path / "usual", bench.request)
    np.testing.assert_array_equal(found, usual.made(bench.request)[2])
    assert copies_of(usual)


def test_without_the_memory_it_is_refused_before_anything_is_loaded(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tight = Bench(tmp_path, bench.request)
    Machine(GB).be_the_only_one(monkeypatch)
    limited = with_least_memory(tight)
    fill_disk(monkeypatch, 100_000)
    with pytest.raises(EngineError) as refused:
        tight.made(limited)
    assert refused.value.code is ErrorCode.DISK_FULL
    assert "room for 0.0 GB" in refused.value.message
    assert str(tight.services.cache.working_copies.folder) in refused.value.message
    assert refused.value.remedies == (FreeCache(), RaiseMemoryLimit())
    assert copies_of(tight) == set()
    assert tight.made(bench.request)[2].std() > 1
