"""The answers to queries, given one after another on a thread of their own."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import msgspec

from engine.api.embedding_messages import DescribeEmbeddings
from engine.api.machine_messages import CacheListed, JobPlanned, RebuildCache
from engine.api.map_messages import MakeMap
from engine.api.messages import (
    CheckpointInspected,
    CheckPrompt,
    ClearCache,
    DevicesFound,
    Event,
    FamiliesKnown,
    InspectCheckpoint,
    InspectLora,
    ListCache,
    ListLoras,
    LoraInspected,
    LorasFound,
    LorasListed,
    PlanJob,
    PromptChecked,
    Query,
    QueryFailed,
    ScanDevices,
    VerifyDevices,
)
from engine.api.model_messages import (
    DescribeModel,
    FindModel,
    HashModel,
    ListModels,
    ModelFound,
    ModelHashed,
    ModelHashing,
    ModelsFound,
    ModelsListed,
)
from engine.api.prompts import PromptCheck, PromptQuestion
from engine.api.upscale_messages import PlanUpscale, UpscalePlanned
from engine.checkpoints.faults import not_found
from engine.families.identify import identify, supply
from engine.families.registry import FAMILIES
from engine.folders import folders_of_models
from engine.jobs.runner import JobRunner
from engine.jobs.services import JobServices
from engine.jobs.upscale_run import UpscaleRunner
from engine.lora.files_below import list_one
from engine.pipeline.inspection import inspect
from engine.pipeline.network_lookup import WantedNetwork
from engine.server.device_checks import devices_found, verify_beside
from engine.server.embedding_answers import describe_embeddings
from engine.server.failures import error_info
from engine.server.outbox import Put
from engine.server.rebuilds import rebuild_beside
from engine.text.checking import check_prompt, count_clip_tokens

PartT = TypeVar("PartT")
# Yields events; None at points where a newer query may go first.
_Answer = Iterator[Event | None]


def answer_all(queries: SimpleQueue[Query], runner: JobRunner, put: Put) -> None:
    """Send the list of families, then answer queries for ever.

    The newest query goes first while an older one takes long: the user is waiting for the newest.
    """
    # Sent from this thread: importing the families earlier would delay Ready.
    put(FamiliesKnown(families=FAMILIES.listed))
    unfinished: list[tuple[Query, _Answer]] = []
    while True:
        if not unfinished or not queries.empty():
            query = queries.get()
            unfinished.append((query, _answers(query, runner, put)))
        query, answer = unfinished[-1]
        try:
            event = next(answer)
        except StopIteration:
            unfinished.pop()
        except Exception as error:  # noqa: BLE001 (the boundary that reports: the engine goes on)
            unfinished.pop()
            put(QueryFailed(query=query.query, error=error_info(error)))
        else:
            if event is not None:
                put(event)


def _answers(query: Query, runner: JobRunner, put: Put) -> _Answer:
    match query:
        case ScanDevices() | VerifyDevices():
            yield _devices(query, runner, put)
        case InspectCheckpoint():
            yield (yield from _inspected(query, runner.services))
        case CheckPrompt():
            yield PromptChecked(query=query.query, check=_checked(query.question, runner.services))
        case ListLoras():
            yield from _loras_listed(query, runner.services)
        case InspectLora():
            yield _lora_inspected(query, runner.services)
        case DescribeEmbeddings():
            yield (yield from describe_embeddings(query, runner.services.embeddings))
        case ListModels():
            yield from _models_listed(query, runner.services)
        case DescribeModel() | HashModel() | FindModel():
            yield _of_one_model(query, runner.services, put)
        case ListCache() | ClearCache() | RebuildCache():
            yield _cached(query, runner, put)
        case PlanJob() | PlanUpscale():
            yield _planned(query, runner)
        case MakeMap():
            raise AssertionError("maps have a line of their own")


def _devices(
    query: ScanDevices | VerifyDevices, runner: JobRunner, put: Put
) -> DevicesFound | None:
    if isinstance(query, ScanDevices):
        return devices_found(query.query, runner)
    verify_beside(query, runner, put)
    return None


def _planned(query: PlanJob | PlanUpscale, runner: JobRunner) -> JobPlanned | UpscalePlanned:
    if isinstance(query, PlanJob):
        return JobPlanned(query=query.query, outlook=runner.outlook(query.request))
    outlook = UpscaleRunner(runner).outlook(query.request)
    return UpscalePlanned(query=query.query, outlook=outlook)


def _cached(
    query: ListCache | ClearCache | RebuildCache, runner: JobRunner, put: Put
) -> CacheListed | None:
    if isinstance(query, RebuildCache):
        rebuild_beside(query, runner, put)
        return None
    cache = runner.services.cache
    # Without names all would be deleted.
    if isinstance(query, ClearCache) and query.names:
        cache.remove(query.names)
    return CacheListed(query=query.query, artifacts=cache.listed())


def _loras_listed(query: ListLoras, services: JobServices) -> _Answer:
    # Jobs look for the LoRAs of prompts there, too.
    services.look_for_loras_in(map(Path, query.folders))
    folders = yield from _found_in(
        services.loras.list(services.lora_folders.folders),
        lambda loras: LorasFound(query=query.query, loras=loras),
    )
    # The app asks because a folder changed, too, whose time may be the same as before.
    of_embeddings = map(str, services.embeddings.look_again())
    folders = tuple(dict.fromkeys((*folders, *of_embeddings)))
    embeddings = services.embeddings.names()
    yield LorasListed(query=query.query, folders=folders, embeddings=embeddings)
    services.hash_loras()


def _lora_inspected(query: InspectLora, services: JobServices) -> LoraInspected:
    lora = services.loras.look(Path(query.path))
    if lora is None:
        raise not_found(Path(query.path))
    return LoraInspected(query=query.query, lora=lora)


def _models_listed(query: ListModels, services: JobServices) -> _Answer:
    named = (*map(Path, query.folders), *services.embeddings.folders)
    folders = folders_of_models(services.models, named)
    services.tiny_files.forget()
    looked_through = yield from _found_in(
        services.model_index.list(folders),
        lambda models: ModelsFound(query=query.query, models=models),
    )
    yield ModelsListed(query=query.query, folders=looked_through)


def _found_in(
    listing: Generator[PartT | None, None, tuple[str, ...]], tell: Callable[[PartT], Event]
) -> Generator[Event | None, None, tuple[str, ...]]:
    """Yield an event for each part of a listing, and return what the listing returns."""
    while True:
        try:
            part = next(listing)
        except StopIteration as end:
            return end.value
        yield None if part is None else tell(part)


def _model_described(query: DescribeModel, services: JobServices) -> ModelsFound:
    model = services.model_index.look(Path(query.path))
    if model is None:
        raise not_found(Path(query.path))
    return ModelsFound(query=query.query, models=(model,))


def _of_one_model(
    query: DescribeModel | HashModel | FindModel, services: JobServices, put: Put
) -> ModelsFound | ModelHashed | ModelFound:
    if isinstance(query, DescribeModel):
        return _model_described(query, services)
    if isinstance(query, HashModel):
        return _hashed(query, services, put)
    wanted = WantedNetwork(query.stated, digest=query.digest)
    path = services.network_lookup().with_content(wanted)
    return ModelFound(query=query.query, path=None if path is None else str(path))


def _hashed(query: HashModel, services: JobServices, put: Put) -> ModelHashed:
    """Return a file's hash if it is known; else have it hashed, and tell of it later."""
    total = 0

    def tell(done: int, sha256: str) -> None:
        put(ModelHashing(path=query.path, done_bytes=done, total_bytes=total, sha256=sha256))

    def give_up() -> None:
        put(ModelHashing(path=query.path, done_bytes=0, total_bytes=total, failed=True))

    listed = list_one(Path(query.path))
    if listed is None:
        raise not_found(Path(query.path))
    total = listed.stamp.size
    return ModelHashed(query=query.query, sha256=services.hash_model(listed, tell, give_up))


def _checked(question: PromptQuestion, services: JobServices) -> PromptCheck:
    """Check a prompt, counting tokens as its family does, or as CLIP if no family is known."""
    count = count_clip_tokens
    if question.family is not None:
        family = FAMILIES.named(question.family)
        rules = family.prompt_rules(question.convention)
        count, question = family.count_tokens, msgspec.structs.replace(question, convention=rules)
    return check_prompt(question, services.wildcards, count, services.embeddings)


def _inspected(
    query: InspectCheckpoint, services: JobServices
) -> Generator[None, None, CheckpointInspected]:
    read = services.known_files.read_index
    found = identify(Path(query.path), read, query.override)
    checkpoint = supply(found, query.components, read)
    # The checkpoint will probably be used, so it is hashed before its first picture needs that.
    if query.will_be_used:
        services.want_hash(checkpoint)
    sha256, parts_index = services.sha256(checkpoint), services.parts_index
    gaps = (
        (yield from parts_index.look_for_gaps(checkpoint, services.named_folders))
        if parts_index
        else ()
    )
    return CheckpointInspected(query=query.query, checkpoint=inspect(checkpoint, sha256, gaps))
