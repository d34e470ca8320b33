"""A prompt that was encoded before is not encoded again, and the picture is the same."""

# pyright: reportPrivateUsage=false

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Artifact, Cancellation, Device, DType, Feeds, Graph, Progress, Session
from backends.cpu import CpuBackend
from engine.api.lora import LoraChoice, LoraMode
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, ErrorCode, Phase, TextWeightBits
from engine.cancel import CancelToken
from engine.devices.choice import Candidate, Devices
from engine.errors import Cancelled, EngineError
from engine.jobs.memory_needs import _JobSizes
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.component_bytes import ComponentBytes
from engine.memory.residency import Residency
from engine.output import destination
from tests import damages
from tests.checkpoints.arrays import write_arrays
from tests.pipeline.jobs import Log, a_request
from tests.pipeline.lora_files import FileLora
from tests.thinned import thinned
from tests.tiny_checkpoint import write_checkpoint

Pixels = NDArray[np.uint8]
ENCODER = "text_encoder"


class Counting(CpuBackend):
    """The processor; `loads` and `runs` count by network."""

    def __init__(self) -> None:
        self.loads, self.runs = Counter[str](), Counter[str]()

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        session = super().load(graph, artifact, device, progress, cancel)
        self.loads[graph.name] += 1
        run = session.run

        def counted(feeds: Feeds) -> Any:
            self.runs[graph.name] += 1
            return run(feeds)

        session.run = counted  # pyright: ignore[reportAttributeAccessIssue]
        return session


class Bench:
    """Jobs on the tiny checkpoint, each as in an engine that has just started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.backend = folder, Counting()
        self.checkpoint = write_checkpoint(folder / "models" / "tiny")
        self.request = a_request(self.checkpoint, steps=1)
        self.phases: list[Phase] = []

    @property
    def encoded(self) -> list[Path]:
        """The files of what is kept."""
        return sorted((self.folder / "cache" / "encoded").glob("*"))

    def services(self, cache: str = "cache", **changes: Any) -> JobServices:
        """Services as a new process has them."""
        models = self.folder / "models"
        return JobServices.in_cache(self.folder / cache, models=models, **changes)

    def run(self, services: JobServices, request: GenerateRequest) -> Pixels:
        class Listening(SilentReporter):
            def phase(_self, phase: Phase) -> None:  # noqa: N805
                self.phases.append(phase)

        self.phases.clear()
        self.backend.loads.clear()
        self.backend.runs.clear()
        saver = PictureSaver(destination(f"{self.folder / 'out'}/", 1))
        result = JobRunner(services).run(request, saver, Listening(), CancelToken())
        with Image.open(result.images[0].path) as image:
            return np.asarray(image)

    def made(self, **changes: object) -> Pixels:
        """The picture by a new process in the same cache."""
        return self.run(self.services(), msgspec.structs.replace(self.request, **changes))

    def expected(self, **changes: object) -> Pixels:
        """The picture where nothing is kept."""
        shutil.rmtree(self.folder / "empty", ignore_errors=True)
        request = msgspec.structs.replace(self.request, **changes)
        return self.run(self.services("empty"), request)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path)

    def candidates(_devices: Devices, _wanted: str, _cancel: CancelToken) -> list[Candidate]:
        return [Candidate(made.backend, made.backend.probe()[0])]

    monkeypatch.setattr(Devices, "candidates", candidates)
    return made


def test_the_same_prompt_with_another_seed_loads_and_runs_no_encoder(bench: Bench) -> None:
    services = bench.services(residency=Residency())
    bench.run(services, bench.request)
    assert bench.backend.runs[ENCODER] == 1
    assert Phase.ENCODE in bench.phases
    again = bench.run(services, msgspec.structs.replace(bench.request, seed=8, steps=2))
    assert bench.backend.runs[ENCODER] == 0
    assert Phase.ENCODE not in bench.phases
    np.testing.assert_array_equal(again, bench.expected(seed=8, steps=2))
    services.release()


def test_other_networks_stay_where_only_an_encoder_of_a_new_prompt_has_no_room(
    bench: Bench,
) -> None:
    services = bench.services(residency=Residency())
    enough = JobRunner(services).estimate(bench.request).memory
    assert enough.resident
    limited = msgspec.structs.replace(bench.request, memory_limit_bytes=enough.peak_bytes - 1)

    def loads(**changes: object) -> set[str]:
        """The networks that are loaded for a picture with these changes."""
        bench.run(services, msgspec.structs.replace(limited, **changes))
        return set(bench.backend.loads)

    assert loads() == {ENCODER, "denoiser", "vae_decoder"}
    assert loads(seed=8) == {"denoiser", "vae_decoder"}
    assert loads(seed=9) == set()
    known = JobRunner(services).estimate(limited).memory
    assert known.resident
    assert known.peak_bytes < enough.peak_bytes
    # There is no room for what stays beside the encoder of another prompt.
    assert loads(prompt="another") == {ENCODER, "denoiser", "vae_decoder"}
    services.release()


def test_an_encoder_that_stayed_makes_room_where_it_has_none_and_is_not_needed(
    bench: Bench,
) -> None:
    residency = Residency()
    services = bench.services(residency=residency)
    bench.run(services, bench.request)
    every = residency.weight_bytes(on_host=True)
    enough = JobRunner(services).estimate(bench.request).memory.peak_bytes
    limited = msgspec.structs.replace(bench.request, memory_limit_bytes=enough - 1, seed=8)
    bench.run(services, limited)
    assert not bench.backend.loads
    assert residency.weight_bytes(on_host=True) < every
    services.release()


def test_a_known_prompt_needs_no_room_for_its_encoder(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, services = bench.request, bench.services()
    bench.run(services, known)
    sizes = _JobSizes._text_encoders

    def large(self: _JobSizes) -> list[ComponentBytes]:
        return [
            msgspec.structs.replace(encoder, packed=1 << 50, in_place=None)
            for encoder in sizes(self)
        ]

    monkeypatch.setattr(_JobSizes, "_text_encoders", large)
    bench.run(services, msgspec.structs.replace(known, seed=8))
    with pytest.raises(EngineError) as caught:
        bench.run(services, msgspec.structs.replace(known, prompt="another"))
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def test_a_new_process_loads_no_encoder_for_a_known_prompt(bench: Bench) -> None:
    bench.made()
    again = bench.made(seed=8)
    assert bench.backend.loads == {"denoiser": 1, "vae_decoder": 1}
    np.testing.assert_array_equal(again, bench.expected(seed=8))


def test_the_files_hold_no_texts(bench: Bench) -> None:
    bench.made(prompt="a secret horse")
    (file,) = bench.encoded
    assert b"secret" not in file.read_bytes()


@pytest.mark.parametrize(
    "changes",
    thinned(
        [
            {"prompt": "a red horse"},
            {"negative_prompt": "noise"},
            {"clip_skip": 2},
            {"prompt": "a (red:1.4) horse", "convention": ConventionName.INVOKE},
            {"text_weight_bits": TextWeightBits.EIGHT},
        ],
        [
            {"negative_prompt": "noise"},
            {"clip_skip": 2},
            {"text_weight_bits": TextWeightBits.EIGHT},
        ],
    ),
    ids=lambda changes: "-".join(changes),
)
def test_another_prompt_or_another_encoder_is_encoded_anew(
    bench: Bench, changes: dict[str, object]
) -> None:
    bench.made()
    made = bench.made(**changes)
    assert bench.backend.runs[ENCODER] == 1
    np.testing.assert_array_equal(made, bench.expected(**changes))
    bench.made(**changes)
    assert bench.backend.loads[ENCODER] == 0


@pytest.mark.parametrize("mode", [LoraMode.MERGE, LoraMode.TEXT_SIDE])
def test_each_lora_and_each_strength_is_encoded_anew(bench: Bench, mode: LoraMode) -> None:
    folder = bench.folder / "models" / "Lora"
    for seed in (1, 2):
        FileLora(folder / f"{seed}.safetensors", bench.checkpoint, seed=seed)
    made, changes = bench.made(), dict[str, object]()
    for file, strength in (("1", 0.8), ("1", 0.9), ("2", 0.8)):
        choice = LoraChoice(file=file, strength=0.5, text_strength=strength)
        changes = {"loras": (choice,), "lora_mode": mode}
        made = bench.made(**changes)
        assert bench.backend.runs[ENCODER] == 1, (file, strength)
    np.testing.assert_array_equal(made, bench.expected(**changes))
    bench.made(**changes, seed=8)
    assert bench.backend.loads[ENCODER] == 0


def _write_embedding(path: Path, width: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(2, width)).astype(np.float32)
    path.parent.mkdir(exist_ok=True)
    write_arrays(path, {"emb_params": vectors})


def test_another_embedding_of_the_same_name_is_encoded_anew(bench: Bench) -> None:
    path = bench.folder / "models" / "embeddings" / "easy.safetensors"
    changes: dict[str, object] = {"prompt": "a horse, easy", "convention": ConventionName.A1111}
    pictures: list[Pixels] = []
    for seed in (1, 2):
        _write_embedding(path, _width(bench.checkpoint), seed)
        pictures.append(bench.made(**changes))
        assert bench.backend.runs[ENCODER] == 1
        np.testing.assert_array_equal(pictures[-1], bench.expected(**changes))
    assert (pictures[0] != pictures[1]).any()
    bench.made(**changes)
    assert bench.backend.loads[ENCODER] == 0


def _width(checkpoint: Path) -> int:
    return msgspec.json.decode((checkpoint / "text_encoder" / "config.json").read_bytes())[
        "hidden_size"
    ]


def test_another_model_of_the_same_name_is_encoded_anew(bench: Bench) -> None:
    before = bench.made()
    shutil.rmtree(bench.checkpoint)
    write_checkpoint(bench.checkpoint, seed=1)
    made = bench.made()
    assert bench.backend.runs[ENCODER] == 1
    assert (made != before).any()
    np.testing.assert_array_equal(made, bench.expected())


def test_another_runtime_encodes_anew(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.made()

    def another(_backend: Counting, _device: Device) -> str:
        return "another version"

    monkeypatch.setattr(Counting, "fingerprint", another)
    bench.made()
    assert bench.backend.runs[ENCODER] == 1


def test_results_of_damaged_weights_are_not_kept(bench: Bench) -> None:
    """The damage is found while the picture is made, and the picture is made again."""
    shutil.rmtree(bench.checkpoint)
    write_checkpoint(bench.checkpoint, dtype=DType.F16)
    expected = bench.made()
    shutil.rmtree(bench.folder / "cache" / "encoded")
    copies = list((bench.folder / "cache" / "weights").glob("*"))
    assert copies
    for copy in copies:
        times = copy.stat()
        damages.flipped(copy)
        os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    np.testing.assert_array_equal(bench.made(), expected)
    np.testing.assert_array_equal(bench.made(), expected)
    assert bench.backend.loads[ENCODER] == 0


def test_a_folder_that_cannot_be_written_to_stops_no_picture(bench: Bench) -> None:
    (bench.folder / "cache").mkdir()
    (bench.folder / "cache" / "encoded").write_text("somebody's file")
    first = bench.made()
    np.testing.assert_array_equal(bench.made(), first)
    assert bench.backend.runs[ENCODER] == 1


def test_a_cleared_cache_keeps_nothing_in_memory_either(bench: Bench) -> None:
    services = bench.services()
    bench.run(services, bench.request)
    (listed,) = [entry for entry in services.cache.listed() if entry.kind == "encoded_prompts"]
    assert (listed.network, listed.checkpoint) == (ENCODER, "tiny")
    services.cache.remove([listed.name])
    assert bench.encoded == []
    bench.run(services, bench.request)
    assert bench.backend.runs[ENCODER] == 1
    services.cache.remove()
    bench.run(services, bench.request)
    assert bench.backend.runs[ENCODER] == 1


def test_results_of_a_cancelled_job_are_kept(bench: Bench) -> None:
    token = CancelToken()

    class Stopping(Log):
        def progress(self, done: int, total: int) -> None:
            if self.phases[-1] is Phase.DENOISE:
                token.cancel()

    saver = PictureSaver(destination(f"{bench.folder / 'out'}/", 1))
    with pytest.raises(Cancelled):
        JobRunner(bench.services()).run(bench.request, saver, Stopping(), token)
    bench.made()
    assert bench.backend.loads[ENCODER] == 0
