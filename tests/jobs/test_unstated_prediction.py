"""A denoiser of which nothing says what it predicts is asked by the first job, and never again."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from backends.base import (
    Artifact,
    BackendError,
    Cancellation,
    Device,
    Graph,
    Progress,
    Session,
)
from backends.cpu import CpuBackend
from engine.api.request import CheckpointOverride, GenerateRequest
from engine.api.second_passes import SecondPass
from engine.api.values import PredictionType
from engine.cancel import CancelToken
from engine.checkpoints.known_files import KnownFiles
from engine.devices.choice import Candidate, Devices
from engine.families import IdentifiedCheckpoint, identify
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.output import destination
from engine.sampling import prediction_probe
from tests.unstated_checkpoint import PREDICTS_NOISE, PREDICTS_V, write_unstated


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each time a denoiser was asked."""
    probe, times = prediction_probe.probe_prediction, list[int]()

    def counted(*arguments: object) -> object:
        times.append(1)
        return probe(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr("engine.pipeline.denoise.denoiser_run.probe_prediction", counted)
    return times


class Bench:
    """A runner that believes its files' times, and a file."""

    def __init__(self, folder: Path, gain: float) -> None:
        self.path = write_unstated(folder / "found.safetensors", gain)
        services = JobServices.in_cache(folder / "cache")
        known = KnownFiles(folder / "known", lambda: 1 << 62)
        self.runner = JobRunner(msgspec.structs.replace(services, known_files=known))
        self.out = f"{folder / 'out'}/"

    def picture(
        self,
        prediction: PredictionType | None = None,
        count: int = 1,
        second_passes: tuple[SecondPass, ...] = (),
    ) -> SavedImage:
        request = GenerateRequest(
            prompt="a red house",
            checkpoint=str(self.path),
            override=CheckpointOverride(prediction=prediction),
            steps=4,
            width=64,
            height=64,
            seed=1,
            backend="cpu",
            count=count,
            second_passes=second_passes,
        )
        saver = PictureSaver(destination(self.out, count))
        return self.runner.run(request, saver, SilentReporter(), CancelToken()).images[0]

    def known(self, path: Path | None = None) -> IdentifiedCheckpoint:
        return identify(path or self.path, self.runner.services.known_files.read_index)


def pixels(image: SavedImage) -> np.ndarray:
    return np.asarray(Image.open(image.path))


@pytest.mark.parametrize(
    ("gain", "prediction"),
    [(PREDICTS_NOISE, PredictionType.EPSILON), (PREDICTS_V, PredictionType.V)],
)
def test_the_first_picture_is_right_already(
    tmp_path: Path, asked: list[int], gain: float, prediction: PredictionType
) -> None:
    bench = Bench(tmp_path, gain)
    assert bench.known().parts.denoiser.unstated is not None
    first = bench.picture()
    assert (first.record.prediction, asked) == (prediction, [1])
    found = bench.known()
    assert (found.prediction, found.parts.denoiser.unstated) == (prediction, None)
    reason = "because one step of the denoiser shows it"
    assert str(found.evidence[-1]) == f"SD 2.x, {prediction.label} {reason}"
    again, said = bench.picture(), bench.picture(prediction)
    assert asked == [1]
    for image in (again, said):
        assert image.record.prediction is prediction
        np.testing.assert_array_equal(pixels(image), pixels(first))


def test_the_type_that_was_found_is_recorded_where_another_device_decodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class WithoutDecoder(CpuBackend):
        def load(
            self,
            graph: Graph,
            artifact: Artifact | None,
            device: Device,
            progress: Progress,
            cancel: Cancellation,
        ) -> Session:
            if graph.name == "vae_decoder":
                raise BackendError("the device was removed")
            return super().load(graph, artifact, device, progress, cancel)

    backends = WithoutDecoder(), CpuBackend()
    candidates = [Candidate(backend, backend.probe()[0]) for backend in backends]

    def listed(_devices: Devices, _wanted: str, _cancel: Cancellation) -> list[Candidate]:
        return [*candidates]

    monkeypatch.setattr(Devices, "candidates", listed)
    made = Bench(tmp_path, PREDICTS_V).picture()
    assert made.record.prediction is PredictionType.V


def test_each_file_of_a_job_is_asked_once(tmp_path: Path, asked: list[int]) -> None:
    bench = Bench(tmp_path, PREDICTS_NOISE)
    other = write_unstated(tmp_path / "other.safetensors", PREDICTS_V)
    files = str(other), None
    passes = tuple(SecondPass(scale=1, upscaler="lanczos", checkpoint=file) for file in files)
    first, again = (bench.picture(second_passes=passes) for _ in range(2))
    assert asked == [1, 1]
    found = bench.known(), bench.known(other)
    assert [one.prediction for one in found] == [PredictionType.EPSILON, PredictionType.V]
    np.testing.assert_array_equal(pixels(again), pixels(first))


def test_the_kinds_make_other_pictures(tmp_path: Path) -> None:
    bench = Bench(tmp_path, PREDICTS_V)
    right, wrong = bench.picture(), bench.picture(PredictionType.EPSILON)
    assert wrong.record.request.override.prediction is PredictionType.EPSILON
    difference = pixels(right).astype(float) - pixels(wrong)
    assert np.abs(difference).mean() > 5


def test_a_probe_without_a_result_leaves_the_guess(tmp_path: Path, asked: list[int]) -> None:
    bench = Bench(tmp_path, 0.5)
    assert bench.picture(count=2).record.prediction is PredictionType.EPSILON
    assert bench.known().parts.denoiser.unstated is not None
    assert asked == [1]


def test_a_file_that_says_so_is_not_asked(tmp_path: Path, asked: list[int]) -> None:
    bench = Bench(tmp_path, PREDICTS_V)
    bench.path.with_suffix(".yaml").write_text("parameterization: eps\n")
    image = bench.picture()
    assert (image.record.prediction, asked) == (PredictionType.EPSILON, [])
    record = msgspec.json.encode(image.record.request.override)
    assert record == b"{}"
