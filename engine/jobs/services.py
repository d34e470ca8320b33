"""The services that jobs share: caches, facts about files and devices, networks kept loaded."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import msgspec

from backends.base import Cancellation, MemoryInfo
from engine.api.checkpoints import Gap
from engine.checkpoints.background_hash import BackgroundHash
from engine.checkpoints.full_hash import FullHash
from engine.checkpoints.known_files import KnownFiles
from engine.compile.cache import NetworkCache
from engine.compile.compiler import Compiler
from engine.compile.counted_results import CountedResults
from engine.compile.estimates import Estimates
from engine.compile.refit_failures import RefitFailures
from engine.devices.choice import Candidate, Devices
from engine.devices.crash_attribution import CrashMarkers
from engine.embeddings.folder import usual_folders
from engine.embeddings.library import EmbeddingLibrary
from engine.families.checkpoint import IdentifiedCheckpoint
from engine.families.parts_index import PartsIndex
from engine.families.tiny_files import TinyFiles
from engine.folders import folders_of_models
from engine.jobs.kept_facts import known_files, listed_facts
from engine.jobs.lora_descriptions import LoraDescriber
from engine.jobs.lora_index import LoraIndex
from engine.jobs.model_descriptions import ModelDescriber
from engine.jobs.model_index import ModelIndex
from engine.lora.files_below import ListedFile, list_below, list_one
from engine.lora.folder import LoraFolders
from engine.lora.hash_wishes import hash_wishes
from engine.lora.hashes import LoraHashes
from engine.lora.listed_facts import ListedFacts
from engine.lora.names_below import Report, report_nothing
from engine.memory.release import return_free_memory
from engine.memory.residency import Residency
from engine.memory.shortages import Shortages
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.network_lookup import NetworkLookup
from engine.pipeline.resolve import NamedFiles
from engine.preprocessors.map_maker import MapMaker, WantedMap
from engine.preprocessors.scales import Pixels
from engine.wanted_counts import WantedCounts
from engine.weights.rounding import EXACT, Rounding


class JobServices(msgspec.Struct, frozen=True, eq=False):
    """The services that jobs share, made once by `in_cache`.

    `wildcards` is the folder of the word lists that prompts name. `models` is the folder of
    checkpoints; `parts_index` finds files there that hold a checkpoint's missing components. With a
    `residency` networks stay loaded between jobs where there is room; with `hashes` checkpoint
    files are hashed in the background. LoRAs are looked for in the `lora_folders`; `loras` lists
    those of a folder, `model_index` files of every kind; `wanted_loras` counts the jobs with each
    combination of them. Prompts name `embeddings`. `maps` makes what control layers
    look at.
    """

    cache: NetworkCache
    known_files: KnownFiles
    estimates: Estimates
    devices: Devices
    crash_markers: CrashMarkers
    listed_facts: ListedFacts
    wanted_loras: WantedCounts
    lora_folders: LoraFolders
    loras: LoraIndex
    model_index: ModelIndex
    embeddings: EmbeddingLibrary
    maps: MapMaker
    wildcards: Path | None = None
    models: Path | None = None
    parts_index: PartsIndex | None = None
    residency: Residency | None = None
    hashes: BackgroundHash | None = None
    refit_failures: RefitFailures = msgspec.field(default_factory=RefitFailures)
    counted: CountedResults = msgspec.field(default_factory=CountedResults)
    shortages: Shortages = msgspec.field(default_factory=Shortages)
    tiny_files: TinyFiles = msgspec.field(default_factory=TinyFiles)

    @classmethod
    def in_cache(
        cls,
        cache: Path,
        *,
        wildcards: Path | None = None,
        models: Path | None = None,
        loras: Iterable[Path] = (),
        embeddings: Iterable[Path] = (),
        residency: Residency | None = None,
        hashes: BackgroundHash | None = None,
        devices: Devices | None = None,
    ) -> "JobServices":
        """Return services that keep their files in the folder `cache`, which may be deleted.

        `loras` are folders with LoRAs and `embeddings` folders with embeddings, beside the usual
        ones at `models`. One of the `loras` that is a tool's folder is looked into for both.
        """
        known, facts, named = known_files(cache), listed_facts(cache), tuple(loras)
        networks = NetworkCache(cache)
        library = EmbeddingLibrary(usual_folders(models, tuple(embeddings)))
        library.look_into_tools(named)
        return cls(
            cache=networks,
            known_files=known,
            estimates=Estimates(cache / "durations.json"),
            devices=devices or Devices(cache),
            crash_markers=CrashMarkers(cache / "at-work"),
            listed_facts=facts,
            wanted_loras=WantedCounts(cache / "wanted-loras.json"),
            lora_folders=LoraFolders(models, named, facts),
            loras=LoraIndex(facts, LoraDescriber()),
            model_index=ModelIndex(facts, ModelDescriber()),
            embeddings=library,
            maps=MapMaker(networks.working_copies, cache / "tried"),
            wildcards=wildcards,
            models=models,
            parts_index=PartsIndex(models, known) if models else None,
            residency=residency,
            hashes=hashes,
        )

    def look_for_loras_in(self, folders: Iterable[Path]) -> None:
        """Look for LoRAs in these folders, too, and for embeddings where they are those of tools.

        They replace the ones of the last call.
        """
        self.lora_folders.chosen = tuple(folders)
        self.embeddings.look_into_tools(self.lora_folders.of_user)

    @property
    def named_folders(self) -> tuple[Path, ...]:
        """The folders of models beside that of `models`, which the user named."""
        return folders_of_models(None, self.lora_folders.of_user)

    @property
    def model_folders(self) -> tuple[Path, ...]:
        """The folder of models and the folders that the user named, of those that are there."""
        return folders_of_models(self.models, self.lora_folders.of_user)

    def gaps(self, checkpoint: IdentifiedCheckpoint) -> tuple[Gap, ...]:
        """Return the components that a checkpoint lacks, with files in all folders of models."""
        index = self.parts_index
        return index.gaps(checkpoint, self.named_folders) if index is not None else ()

    def named_files(self, report: Report = report_nothing) -> NamedFiles:
        """Return the files that requests and prompts may name, as they are now.

        `report` is called while LoRAs are hashed to find one, and may raise to stop.
        """
        return NamedFiles(
            self.wildcards,
            self.lora_folders.look(report),
            self.embeddings,
            self.known_files.read_index,
            self._make_maps,
            self.model_folders,
        )

    def network_lookup(self, report: Report = report_nothing) -> NetworkLookup:
        """Return a lookup for control networks, adapters and the like in the folders of models.

        `report` is called while files are hashed to find one, and may raise to stop.
        """
        read, known = self.known_files.read_index, self.listed_facts
        return NetworkLookup(self.model_folders, read, known, report)

    def _make_maps(self, wanted: Sequence[WantedMap], cancel: Cancellation) -> list[Pixels]:
        """Return the maps of control layers; their weights may be in the folders of models."""
        return self.maps.make_all(wanted, self.model_folders, cancel)

    def compiler(self, candidate: Candidate, rounding: Rounding = EXACT) -> Compiler:
        """Return a compiler, which prepares networks for the candidate's device.

        `rounding` is of the weights of text encoders and denoisers.
        """
        return Compiler(
            candidate.backend,
            candidate.device,
            self.cache.working_copies,
            self.cache.artifacts,
            self.cache.merged,
            refits=not self.refit_failures.has(candidate.device),
            rounding=rounding,
            counted=self.counted,
        )

    def available_bytes(self, memory: MemoryInfo) -> int:
        """Return the bytes of a device's memory that are free, or held by networks between jobs."""
        kept = self.residency.weight_bytes(on_host=memory.integrated) if self.residency else 0
        return memory.free + kept

    def want_hash(self, checkpoint: IdentifiedCheckpoint) -> None:
        """Have the checkpoint hashed in the background, if it is one file."""
        if self.hashes is not None and checkpoint.file is not None:
            self.hashes.want(checkpoint.file)

    def want_hashes(self, job: JobCheckpoints) -> None:
        """Have all checkpoints of a job hashed in the background, as `want_hash` does."""
        for used in filter(None, (job.first, job.refiner, *job.seconds)):
            self.want_hash(used)

    def hash_loras(self) -> None:
        """Have the LoRAs in the folders hashed while no job runs, those of the last call instead.

        Then a file that gets another name is still found by its hash.
        """
        if self.hashes is not None:
            below = list_below(self.lora_folders.folders)
            files = (file for folder in below for file in folder.files)
            self.hashes.want_leisurely(hash_wishes(files, self.listed_facts))

    def lora_hashes(self, path: Path) -> LoraHashes | None:
        """Return a LoRA's hashes; where they are not known, have it hashed for later pictures."""
        listed = list_one(path)
        if listed is None:
            return None
        found = self.listed_facts.of(listed).hashes
        if found is None and self.hashes is not None:
            for wish in hash_wishes((listed,), self.listed_facts):
                self.hashes.want_file(wish)
        return found

    def hash_model(
        self, listed: ListedFile, tell: Callable[[int, str], None], give_up: Callable[[], None]
    ) -> str:
        """Return the SHA-256 of a file; empty while it is not known, and then have it hashed.

        `tell` gets the bytes done and, at the end, the hash; on another thread. `give_up` is called
        instead if there is none.
        """
        found = self.listed_facts.of(listed).hashes
        if found is not None:
            return found.whole
        (wish,) = hash_wishes((listed,), self.listed_facts)

        def keep(hashes: FullHash) -> None:
            wish.keep(hashes)
            tell(listed.stamp.size, hashes.whole)

        def progress(done: int) -> None:
            tell(done, "")

        if self.hashes is None:
            give_up()
        else:
            self.hashes.want_file(replace(wish, keep=keep, tell=progress, give_up=give_up))
        return ""

    @contextmanager
    def working(self) -> Generator[None]:
        """Keep hashing of what nothing waits for from the disk while a job runs in the block."""
        with self.hashes.holding() if self.hashes is not None else nullcontext():
            yield

    def sha256(self, checkpoint: IdentifiedCheckpoint) -> str | None:
        """Return the SHA-256 of the checkpoint's file; None for a folder, or if not known yet."""
        return self.known_files.sha256(checkpoint.file) if checkpoint.file else None

    def release(self) -> None:
        """Free the networks kept between jobs, but not those in use by a job."""
        if self.residency is not None:
            self.residency.release()
        self.maps.release()
        self.cache.abandon()
        return_free_memory()
