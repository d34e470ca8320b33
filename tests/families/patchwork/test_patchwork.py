"""A family of one folder and one registration is found, run, redrawn, inpainted and planned."""

import math
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from backends.base import Array, Precision
from backends.cpu import CpuBackend
from engine.api.messages import (
    CheckpointInspected,
    ImageSaved,
    InspectCheckpoint,
    JobFailed,
    JobFinished,
    RunJob,
)
from engine.api.request import GenerateRequest, InputImage
from engine.api.values import ErrorCode, InputRole, PrecisionName, PredictionType, SamplerName
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.devices.choice import Candidate
from engine.errors import EngineError
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.families.registry import FAMILIES
from engine.jobs.job_memory import MemoryAllowance
from engine.jobs.job_plan import plan_job
from engine.jobs.services import JobServices
from engine.memory.plan import WeightPlacement
from engine.pipeline.job_checkpoints import JobCheckpoints
from engine.pipeline.read_job import read_job
from engine.pipeline.resolve import resolve, resolve_job
from engine.sampling.noise import picture_noise
from engine.weights.working_copies import WorkingCopies
from tests.families.patchwork.files import write_checkpoint
from tests.families.patchwork.networks import sinusoids
from tests.families.patchwork.text import token_ids
from tests.metadata.records import read_record
from tests.server.conversation import Conversation

MODULE = "tests.families.patchwork"
PROCESS = (sys.executable, "-I", str(Path(__file__).with_name("process.py")))
WIDTH, HEIGHT = 96, 64
Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint; not to be written to."""
    return write_checkpoint(tmp_path_factory.mktemp("patchwork") / "patchwork.safetensors")


@pytest.fixture
def registered() -> Iterator[None]:
    """The family among the others within a test."""
    with FAMILIES.added(MODULE):
        yield


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    """An engine process that has the family, ready for jobs."""
    talk = Conversation(tmp_path_factory.mktemp("engine"), PROCESS)
    talk.configure()
    yield talk
    talk.end()


def a_request(file: Path, **changes: object) -> GenerateRequest:
    request = GenerateRequest(
        prompt="a red house by the sea", checkpoint=str(file), width=WIDTH, height=HEIGHT, seed=7
    )
    return msgspec.structs.replace(request, backend="cpu", precision=PrecisionName.F32, **changes)


def saved(engine: Conversation, request: GenerateRequest) -> Path:
    """The file of the picture that the engine makes."""
    job = f"job {len(engine.jobs)}"
    engine.send(RunJob(job=job, request=request, folder=str(engine.folder / "out")))
    engine.wait_for(JobFinished, lambda event: event.job == job)
    (image,) = (event for event in engine.of(ImageSaved) if event.job == job)
    return Path(image.path)


def picture(engine: Conversation, request: GenerateRequest) -> Pixels:
    with Image.open(saved(engine, request)) as image:
        return np.asarray(image.convert("RGB"))


def difference(pixels: Pixels, other: Pixels) -> float:
    """The mean difference of two pictures, or parts of them, in levels."""
    return float(np.abs(pixels.astype(float) - other.astype(float)).mean())


# --- found ---


def test_a_file_is_of_no_family_until_the_family_is_registered(file: Path) -> None:
    with pytest.raises(EngineError) as caught:
        identify(file)
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY


@pytest.mark.usefixtures("registered")
def test_a_file_is_identified_with_all_its_components(file: Path) -> None:
    checkpoint = identify(file)
    assert (checkpoint.family, checkpoint.missing) == ("patchwork", ())
    assert tuple(checkpoint.components) == (
        Component.TEXT_ENCODER,
        Component.DENOISER,
        Component.VAE,
    )
    assert checkpoint.latent.channels == 16


def test_the_engine_process_tells_the_family_and_its_features(
    engine: Conversation, file: Path
) -> None:
    engine.send(InspectCheckpoint(query=1, path=str(file)))
    info = engine.wait_for(CheckpointInspected, lambda event: event.query == 1).checkpoint
    assert (info.family, info.default_size) == ("patchwork", 128)
    assert not info.features.negative_prompt
    assert info.features.size_multiple == 16
    assert info.suggested[0].sampler is SamplerName.EULER


# --- run ---


def test_a_picture_is_what_euler_steps_along_the_flow_come_to(
    engine: Conversation, file: Path, tmp_path: Path
) -> None:
    """The networks run by hand, and the flow integrated in five lines, beside the engine."""
    with FAMILIES.added(MODULE):
        checkpoint = identify(file)
        request = a_request(file, sampler=SamplerName.EULER, steps=3, guidance=2.0)
        expected = pixels_by_hand(checkpoint, request, tmp_path)
    path = saved(engine, request)
    with Image.open(path) as image:
        found = np.asarray(image.convert("RGB"))
    assert found.shape == (HEIGHT, WIDTH, 3)
    assert np.abs(found.astype(int) - expected).max() <= 1
    record = read_record(path)
    assert record is not None
    assert (record.family, record.prediction) == ("patchwork", PredictionType.FLOW)


def pixels_by_hand(
    checkpoint: IdentifiedCheckpoint, request: GenerateRequest, folder: Path
) -> NDArray[np.int64]:
    backend = CpuBackend()
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(folder))
    resolved, parts = resolve(request, JobCheckpoints(checkpoint)), checkpoint.architecture

    def run(network: Network, **feeds: Array) -> Array:
        session = compiler.load(
            network, Precision.F32, WeightPlacement.MEMORY, lambda _done, _all: None, CancelToken()
        )
        (output,) = session.run(feeds).values()
        session.close()
        return output

    ids = token_ids(request.prompt, 40)
    (encoder,) = parts.text.read([resolved]).networks
    context = run(encoder, tokens=ids, attention_mask=(ids > 0).astype(np.float32))
    cells = 16, HEIGHT // 8, WIDTH // 8
    x = picture_noise(7, cells, resolved.seed_options, resolved.convention).first
    # diffusers' shift of Flux, by patches of 16 x 16 pixels.
    patches = (WIDTH // 16) * (HEIGHT // 16)
    shift = math.exp(0.5 + (1.15 - 0.5) / (4096 - 256) * (patches - 256))
    times = np.array([1000, 667, 334]) / 1000
    levels = [*(shift * times / (1 + (shift - 1) * times)), 0.0]
    denoiser = parts.denoiser.network(HEIGHT, WIDTH, contexts=1, tokens=40)
    for level, following in pairwise(levels):
        velocity = run(
            denoiser,
            sample=x.astype(np.float32),
            timestep_embedding=sinusoids(1000 * level, 64),
            guidance_embedding=sinusoids(2000, 64),
            context=context,
        )
        x = x + (following - level) * velocity
    latent = (x / 0.36 + 0.12).astype(np.float32)
    image = run(parts.autoencoder.decoder(HEIGHT, WIDTH), latent=latent)[0]
    return np.clip((image + 1) * 127.5, 0, 255).astype(np.int64).transpose(1, 2, 0)


def test_prompt_guidance_and_seed_change_a_picture_and_a_negative_prompt_does_not(
    engine: Conversation, file: Path
) -> None:
    request = a_request(file)
    first = picture(engine, request)
    np.testing.assert_array_equal(picture(engine, request), first)
    for changes in ({"prompt": "a horse"}, {"guidance": 9.0}, {"seed": 8}):
        changed = msgspec.structs.replace(request, **changes)
        assert not np.array_equal(picture(engine, changed), first)
    without = msgspec.structs.replace(request, negative_prompt="blurry")
    np.testing.assert_array_equal(picture(engine, without), first)


@pytest.mark.parametrize(
    "changes",
    [{"width": 72}, {"height": 88}, {"sampler": SamplerName.LCM}, {"clip_skip": 2}],
    ids=str,
)
def test_a_setting_that_the_features_lack_is_refused(
    engine: Conversation, file: Path, changes: dict[str, object]
) -> None:
    job = f"refused {changes}"
    request = a_request(file, **changes)
    engine.send(RunJob(job=job, request=request, folder=str(engine.folder / "refused")))
    failed = engine.wait_for(JobFailed, lambda event: event.job == job)
    assert failed.error.code is ErrorCode.REQUEST_INVALID


# --- over a picture ---


@pytest.fixture(scope="module")
def canvas(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A picture of soft colours, and a mask of its last corner."""
    folder = tmp_path_factory.mktemp("canvas")
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    colours = np.stack([rows * 3, columns * 2, rows + columns], axis=-1)
    mask = np.where((rows >= HEIGHT - 16) & (columns >= WIDTH - 16), 255, 0)
    for name, values in (("picture", colours), ("mask", mask)):
        Image.fromarray(values.astype(np.uint8)).save(folder / f"{name}.png")
    return folder / "picture.png", folder / "mask.png"


def over(canvas: tuple[Path, Path], *roles: InputRole) -> tuple[InputImage, ...]:
    return tuple(
        InputImage(role=role, path=str(path))
        for role, path in zip((InputRole.INIT, InputRole.MASK), canvas, strict=True)
        if role in roles
    )


def test_a_picture_that_is_redrawn_a_little_stays_nearer_to_the_one_it_starts_from(
    engine: Conversation, file: Path, canvas: tuple[Path, Path]
) -> None:
    request = a_request(file, inputs=over(canvas, InputRole.INIT), steps=8)
    whole, half, little = (
        picture(engine, msgspec.structs.replace(request, strength=strength))
        for strength in (1.0, 0.5, 0.15)
    )
    untouched = picture(engine, msgspec.structs.replace(request, strength=0.0))
    assert difference(little, untouched) < difference(half, untouched)
    assert difference(half, untouched) < difference(whole, untouched)


def test_a1111s_inpainting_keeps_the_pixels_outside_the_mask(
    engine: Conversation, file: Path, canvas: tuple[Path, Path]
) -> None:
    inputs = over(canvas, InputRole.INIT, InputRole.MASK)
    painted = picture(engine, a_request(file, inputs=inputs, strength=0.9))
    with Image.open(canvas[0]) as image:
        before = np.asarray(image)
    left, right = np.s_[:, : WIDTH // 2], np.s_[-8:, -8:]
    np.testing.assert_array_equal(painted[left], before[left])
    assert difference(painted[right], before[right]) > 10


@pytest.mark.parametrize("convention", ["comfy", "diffusers"])
def test_a_picture_that_is_inpainted_changes_under_the_mask_alone(
    engine: Conversation, file: Path, canvas: tuple[Path, Path], convention: str
) -> None:
    inputs = over(canvas, InputRole.INIT, InputRole.MASK)
    request = a_request(file, inputs=inputs, convention=convention, strength=0.9)
    painted = picture(engine, request)
    whole = picture(engine, msgspec.structs.replace(request, inputs=inputs[:1]))
    kept = picture(engine, msgspec.structs.replace(request, inputs=inputs[:1], strength=0.0))
    left, right = np.s_[:, : WIDTH // 2], np.s_[-8:, -8:]
    moved = difference(painted[left], kept[left])
    # The decoder's last normalisation sees the whole picture.
    assert moved < difference(whole[left], kept[left]) / 3
    assert difference(painted[right], kept[right]) > 2 * moved


# --- planned ---


@pytest.mark.usefixtures("registered")
def test_a_plan_knows_its_networks_and_the_bytes_of_its_weights(file: Path, tmp_path: Path) -> None:
    checkpoint, backend = identify(file), CpuBackend()
    services = JobServices.in_cache(tmp_path / "cache")
    read = read_job(resolve_job(a_request(file), JobCheckpoints(checkpoint)))
    candidate = Candidate(backend, backend.probe()[0])
    plan = plan_job(read, candidate, services, MemoryAllowance())
    weights = sum(
        ref.elements * 4
        for component in checkpoint.components.values()
        for ref in component.weights.values()
    )
    needs = plan.needs
    assert needs.text_encoder.packed + needs.denoiser.packed + needs.vae.packed == weights
    assert plan.memory.peak_bytes > weights
    networks = [run.network.name for run in plan.pictures.runs if run.network is not None]
    assert networks == ["text_encoder", "denoiser", "vae_decoder"]
