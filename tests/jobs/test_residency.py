"""Networks stay loaded between jobs: the same ones only, and only while there is room."""

import os
from contextlib import suppress
from pathlib import Path
from threading import Timer

import msgspec
import numpy as np
import pytest
from PIL import Image

from backends.base import (
    BackendError,
    Device,
    Graph,
    MemoryInfo,
    Precision,
)
from backends.null import Script
from engine.api.image_prompts import ImagePrompt
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, Phase
from engine.cancel import CancelToken
from engine.devices.choice import Candidate, Devices
from engine.errors import Cancelled
from engine.families import identify
from engine.jobs.attempts import JobResult
from engine.jobs.checkpoint_loading import load_checkpoints
from engine.jobs.job_memory import MemoryAllowance
from engine.jobs.job_plan import plan_job
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.plan import budget_of
from engine.memory.residency import Residency, Resident
from engine.output import destination
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve_job
from tests.image_prompts.files import write_adapter, write_encoder, write_picture
from tests.jobs.machines import GB, Machine
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import a_request
from tests.tiny_checkpoint import SIDE, write_checkpoint

NETWORKS = ["denoiser", "text_encoder", "vae_decoder"]


class Bench:
    """A runner that keeps networks, on a backend that counts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.backend = CountingBackend()
        self.use(self.backend)
        self.runner = JobRunner(JobServices.in_cache(folder / "cache", residency=Residency()))
        self.request = a_request(write_checkpoint(folder / "one"))
        self.out = folder / "out"

    def use(self, backend: CountingBackend) -> None:
        """Make this the only backend there is."""

        def candidates(_devices: Devices, _wanted: str, _cancel: CancelToken) -> list[Candidate]:
            return [Candidate(backend, backend.probe()[0])]

        self.monkeypatch.setattr(Devices, "candidates", candidates)

    def run(
        self, request: GenerateRequest | None = None, token: CancelToken | None = None
    ) -> JobResult:
        saver = PictureSaver(destination(str(self.out / ""), 1))
        request = request or self.request
        # What is known already would hide which text encoder is loaded.
        self.runner.services.cache.results.remove()
        return self.runner.run(request, saver, SilentReporter(), token or CancelToken())

    def loaded(self, **changes: object) -> list[str]:
        """The networks that a job with these changes had to load."""
        self.backend.loads.clear()
        self.run(msgspec.structs.replace(self.request, **changes))
        return sorted(name for name, _ in self.backend.loads)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_the_next_job_loads_nothing_and_makes_the_same_picture(bench: Bench) -> None:
    first = bench.run()
    assert sorted(bench.backend.open_now) == NETWORKS
    assert bench.loaded() == []
    second = bench.run()
    before, after = (np.asarray(Image.open(run.images[0].path)) for run in (first, second))
    np.testing.assert_array_equal(before, after)
    assert bench.loaded(prompt="another", seed=8, steps=5) == []


class LastMoment(CountingBackend):
    """A device that is asked to stop when the last network has only just run."""

    def __init__(self, token: CancelToken) -> None:
        super().__init__()
        self._token = token

    def after_run(self, graph: Graph) -> None:
        if graph.name == "vae_decoder":
            self._token.cancel()


def test_a_network_that_was_asked_to_stop_serves_no_later_job(bench: Bench) -> None:
    """A session that was asked ends every later run, also where its picture was ready."""
    token = CancelToken()
    bench.backend = LastMoment(token)
    bench.use(bench.backend)
    with suppress(Cancelled):
        bench.run(token=token)
    assert token.is_set()
    assert len(bench.run().images) == 1


@pytest.mark.parametrize("kinds", [("plus", "plus"), ("standard", "plus")])
def test_adapters_and_encoders_of_several_image_prompts_all_stay(
    bench: Bench, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    attention = identify(tmp_path / "one").architecture.attention
    assert attention is not None
    widths = [layer.width for layer in attention.layers]
    encoder, image = write_encoder(tmp_path / "clip"), write_picture(tmp_path / "cat.png")
    prompts: list[ImagePrompt] = []
    for seed, kind in enumerate(kinds):
        adapter = tmp_path / f"{seed}.safetensors"
        write_adapter(adapter, kind, widths, attention.context_width, seed)
        prompts.append(ImagePrompt(image=str(image), adapter=str(adapter), encoder=str(encoder)))
    loaded = bench.loaded(image_prompts=tuple(prompts))
    # Equal adapters see one encoder's states; a plain one sees its embeddings.
    assert len(loaded) == len(NETWORKS) + 2 + len(set(kinds))
    assert len(set(loaded)) == len(loaded)
    assert bench.loaded(image_prompts=tuple(prompts)) == []


def test_another_network_takes_the_place_of_the_old_one(bench: Bench) -> None:
    bench.run()
    # A layer less: another text encoder. An odd size: another graph of the denoiser.
    assert bench.loaded(clip_skip=2) == ["text_encoder"]
    assert bench.loaded(clip_skip=2, width=SIDE + 2) == ["denoiser"]
    assert sorted(bench.backend.open_now) == NETWORKS


def test_another_checkpoint_takes_everythings_place(bench: Bench, tmp_path: Path) -> None:
    bench.run()
    other = write_checkpoint(tmp_path / "other", seed=1)
    assert bench.loaded(checkpoint=str(other)) == NETWORKS
    assert sorted(bench.backend.open_now) == NETWORKS


def test_a_file_that_was_written_anew_is_read_anew(bench: Bench) -> None:
    bench.run()
    weights = Path(bench.request.checkpoint or "") / "vae" / "diffusion_pytorch_model.safetensors"
    after = weights.stat().st_mtime_ns + 1_000_000
    os.utime(weights, ns=(after, after))
    assert bench.loaded() == ["vae_decoder"]


def test_a_file_that_is_written_anew_while_it_is_used_is_read_anew(bench: Bench) -> None:
    weights = Path(bench.request.checkpoint or "") / "vae" / "diffusion_pytorch_model.safetensors"
    after = weights.stat().st_mtime_ns + 1_000_000

    class Replacing(SilentReporter):
        def phase(self, phase: Phase) -> None:
            if phase is Phase.SAVE:
                os.utime(weights, ns=(after, after))

    saver = PictureSaver(destination(str(bench.out / ""), 1))
    bench.runner.run(bench.request, saver, Replacing(), CancelToken())
    assert bench.loaded() == ["vae_decoder"]


def test_within_a_job_a_text_encoder_that_hides_tokens_is_another(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another group of pictures has a word weighed down, which the first has not."""
    monkeypatch.setattr("engine.pipeline.read_job._PICTURES_AT_ONCE", 1)
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "thing.txt").write_text("horse\n(horse)0.5\n")
    bench.runner = JobRunner(
        JobServices.in_cache(
            tmp_path / "cache", wildcards=tmp_path / "words", residency=Residency()
        )
    )
    words = msgspec.structs.replace(
        bench.request, prompt="a __thing__", convention=ConventionName.INVOKE, count=6
    )
    saver = PictureSaver(destination(str(bench.out / ""), 6))
    result = bench.runner.run(words, saver, SilentReporter(), CancelToken())
    prompts = [image.record.request.prompt for image in result.images]
    assert set(prompts) == {"a horse", "a (horse)0.5"}
    loads = [name for name, _ in bench.backend.loads]
    assert loads.count("text_encoder") == 2  # then both prompts are known
    assert loads.count("denoiser") == loads.count("vae_decoder") == 1


def test_without_room_nothing_stays(bench: Bench) -> None:
    enough = bench.run().plan.peak_bytes
    assert bench.runner.services.residency is not None
    assert bench.runner.services.residency.weight_bytes(on_host=True) > 10_000_000
    bench.run(msgspec.structs.replace(bench.request, memory_limit_bytes=enough - 1))
    assert bench.backend.open_now == []
    assert bench.runner.services.residency.weight_bytes(on_host=True) == 0


@pytest.mark.parametrize("card", [False, True])
def test_only_what_stays_in_the_memory_of_a_device_is_room_on_it(
    tmp_path: Path, card: bool
) -> None:
    """After pictures on the processor a card has no more free memory than before."""
    residency = Residency()
    services = JobServices.in_cache(tmp_path / "cache", residency=residency)
    backend = CountingBackend()
    for name, gigabytes, on_host in (("denoiser", 5, True), ("vae_decoder", 3, False)):
        graph = Graph(name, b"", {}, (), (), Precision.F32)
        session = backend.load(graph, None, backend.probe()[0], lambda _done: None, CancelToken())
        residency.give(name, Resident(name, session, gigabytes * GB, on_host=on_host))
    request = a_request(write_checkpoint(tmp_path / "one"))
    read = read_job(resolve_job(request, load_checkpoints(request)))
    plan = plan_job(read, Machine(8 * GB, card=card).candidate, services, MemoryAllowance())
    assert plan.memory.budget_bytes == budget_of((8 + (3 if card else 5)) * GB, None)


def test_networks_that_a_card_holds_stay_in_its_own_memory(bench: Bench) -> None:
    class Card(CountingBackend):
        def memory(self, device: Device) -> MemoryInfo:
            return MemoryInfo(64 * GB, 64 * GB, integrated=False)

    bench.use(Card())
    bench.run()
    residency = bench.runner.services.residency
    assert residency is not None
    assert residency.weight_bytes(on_host=False) > 10_000_000
    assert residency.weight_bytes(on_host=True) == 0


class SmallCard(CountingBackend):
    """A card that has room for one network, and says otherwise; `left` is free once it is full."""

    def __init__(self, left: int = 64 * GB) -> None:
        super().__init__()
        self.failures, self.free, self.is_small, self._left = 0, 64 * GB, True, left

    def memory(self, device: Device) -> MemoryInfo:
        return MemoryInfo(64 * GB, self.free, integrated=False)

    def before_load(self, graph: Graph) -> None:
        if self.open_now and self.is_small:
            self.failures, self.free = self.failures + 1, self._left
            raise BackendError("out of memory", out_of_memory=True)


def test_a_plan_that_failed_twice_on_a_card_is_not_made_again(bench: Bench) -> None:
    card = SmallCard()
    bench.use(card)
    every = [bench.run() for _ in range(4)]
    assert card.failures == 2
    assert [job.plan.resident for job in every] == [True, True, False, False]
    requests = [job.images[0].record.request for job in every]
    assert requests == requests[:1] * 4


def test_a_plan_that_fails_now_and_then_is_made_again(bench: Bench) -> None:
    card = SmallCard()
    bench.use(card)
    for is_small in (True, False, True, False):
        card.is_small = is_small
        assert bench.run().plan.resident
        bench.runner.release()
    assert card.failures == 2


def test_a_plan_that_failed_beside_another_program_is_made_again(bench: Bench) -> None:
    """The memory that it took may be free again."""
    card = SmallCard(left=1 * GB)
    bench.use(card)
    for _ in range(3):
        card.free = 64 * GB
        assert bench.run().plan.resident
    assert card.failures == 3


def test_networks_of_a_stopped_job_do_not_stay(bench: Bench) -> None:
    slow, token = CountingBackend({"denoiser": Script(run_seconds=120)}), CancelToken()
    bench.use(slow)
    timer = Timer(0.2, token.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        bench.run(token=token)
    timer.join()
    assert slow.open_now == []


def test_release_frees_everything(bench: Bench) -> None:
    bench.run()
    bench.runner.release()
    assert bench.backend.open_now == []
    assert bench.loaded() == NETWORKS


def test_a_runner_without_residency_keeps_nothing(bench: Bench, tmp_path: Path) -> None:
    bench.runner = JobRunner(JobServices.in_cache(tmp_path / "cache"))
    bench.run()
    assert bench.backend.open_now == []
