"""The list of LoRA files over the pipes: names first, then facts, beside other queries."""

import time
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread

import numpy as np
import pytest

from engine.api.messages import (
    CheckpointInspected,
    FamiliesKnown,
    InspectCheckpoint,
    InspectLora,
    ListLoras,
    LoraInspected,
    LorasFound,
    LorasListed,
    Query,
    QueryFailed,
)
from engine.api.messages import Event as Message
from engine.api.values import ErrorCode
from engine.checkpoints import known_files
from engine.checkpoints.background_hash import BackgroundHash
from engine.checkpoints.known_files import KnownFiles
from engine.jobs.runner import JobRunner
from engine.jobs.services import JobServices
from engine.lora.files_below import list_one
from engine.server.answers import answer_all
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.families.test_identify import SMALL
from tests.jobs.test_lora_index import KEYS, RANK
from tests.server.conftest import Start

MANY = 300


@pytest.fixture
def loras(tmp_path: Path) -> Path:
    folder = tmp_path / "Lora"
    folder.mkdir()
    return folder


def test_every_file_is_sent_before_the_answer_and_in_the_end_with_its_facts(
    start: Start, loras: Path
) -> None:
    talk = start()
    for name in ("a", "b"):
        write_sparse(loras / f"{name}.safetensors", KEYS)
    talk.send(ListLoras(query=7, folders=(str(loras), str(loras / "missing"))))
    answer = talk.wait_for(LorasListed)
    assert answer == LorasListed(query=7, folders=(str(loras),))
    parts = talk.of(LorasFound)
    assert all(part.query == 7 for part in parts)
    assert [info.is_read for info in parts[0].loras] == [False, False]
    told = {info.name: info for part in parts for info in part.loras}
    assert {name: info.rank for name, info in told.items()} == {"a": RANK, "b": RANK}


def test_one_file_is_described_and_a_missing_one_is_an_error(start: Start, tmp_path: Path) -> None:
    talk = start()
    path = write_sparse(tmp_path / "ink.safetensors", KEYS)
    talk.send(InspectLora(query=1, path=str(path)))
    assert talk.wait_for(LoraInspected).lora.rank == RANK
    talk.send(InspectLora(query=2, path=str(tmp_path / "gone.safetensors")))
    failed = talk.wait_for(QueryFailed)
    assert (failed.query, failed.error.code) == (2, ErrorCode.CHECKPOINT_NOT_FOUND)


def test_a_checkpoint_that_is_chosen_meanwhile_is_answered_before_all_loras_are_read(
    tmp_path: Path, loras: Path
) -> None:
    for number in range(MANY):
        write_sparse(loras / f"{number}.safetensors", KEYS)
    whole = write_sparse(tmp_path / "whole.safetensors", SMALL)
    queries: SimpleQueue[Query] = SimpleQueue()
    queries.put(ListLoras(query=1, folders=(str(loras),)))
    order: list[str] = []
    listed = Event()

    def put(event: Message) -> None:
        if isinstance(event, FamiliesKnown):
            return
        if not order:
            queries.put(InspectCheckpoint(query=2, path=str(whole)))
        order.append(type(event).__name__)
        if isinstance(event, LorasListed):
            listed.set()

    runner = JobRunner(JobServices.in_cache(tmp_path / "cache"))
    Thread(target=answer_all, args=(queries, runner, put), daemon=True).start()
    assert listed.wait(60)
    assert order.index(CheckpointInspected.__name__) < order.index(LorasListed.__name__) - 1
    runner.close()


def test_jobs_look_for_names_in_the_folders_that_were_listed_last(
    tmp_path: Path, loras: Path
) -> None:
    write_sparse(loras / "ink.safetensors", KEYS)
    runner = JobRunner(JobServices.in_cache(tmp_path / "cache"))
    queries: SimpleQueue[Query] = SimpleQueue()
    queries.put(ListLoras(query=1, folders=(str(loras),)))
    listed = Event()

    def put(event: Message) -> None:
        if isinstance(event, LorasListed):
            listed.set()

    assert runner.services.lora_folders.look().find("ink") is None
    Thread(target=answer_all, args=(queries, runner, put), daemon=True).start()
    assert listed.wait(60)
    found = runner.services.lora_folders.look().find("ink")
    assert found is not None
    assert found.path == loras / "ink.safetensors"
    runner.close()


def test_embeddings_of_a_tool_whose_folder_was_listed_last_are_found(tmp_path: Path) -> None:
    for tool, name in (("webui", "mine"), ("comfy", "yours")):
        (tmp_path / tool / "embeddings").mkdir(parents=True)
        arrays = {"emb_params": np.ones((2, 768), np.float32)}
        write_arrays(tmp_path / tool / "embeddings" / f"{name}.safetensors", arrays)
    services = JobServices.in_cache(tmp_path / "cache", loras=[tmp_path / "webui"])
    assert services.embeddings.names() == ("mine",)
    runner = JobRunner(services)
    queries: SimpleQueue[Query] = SimpleQueue()
    listed: SimpleQueue[Message] = SimpleQueue()

    def put(event: Message) -> None:
        if isinstance(event, LorasListed):
            listed.put(event)

    Thread(target=answer_all, args=(queries, runner, put), daemon=True).start()
    for folders, names in (((str(tmp_path / "comfy"),), ("mine", "yours")), ((), ("mine",))):
        queries.put(ListLoras(query=1, folders=folders))
        listed.get(timeout=60)
        assert services.embeddings.names() == names
    runner.close()


def test_files_are_hashed_in_the_background_once_they_are_listed(
    tmp_path: Path, loras: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_files, "SETTLED_NS", -(1 << 62))
    path = write_sparse(loras / "ink.safetensors", KEYS)
    cache = tmp_path / "cache"
    hashes = BackgroundHash(KnownFiles(cache / "files"))
    runner = JobRunner(JobServices.in_cache(cache, hashes=hashes))
    queries: SimpleQueue[Query] = SimpleQueue()
    queries.put(ListLoras(query=1, folders=(str(loras),)))

    def ignore(_event: Message) -> None:
        pass

    Thread(target=answer_all, args=(queries, runner, ignore), daemon=True).start()
    listed, end = list_one(path), time.monotonic() + 60
    assert listed is not None
    while runner.services.listed_facts.of(listed).hashes is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    hashes.close()
    runner.close()
