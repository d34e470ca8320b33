"""Two sets of weights that differ in one number share no session, no artifact and no copy."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backends.base import Array, Backend, DType, FileSlice, Precision
from backends.cpu import CpuBackend
from backends.null import Compiling, NullBackend
from engine.cancel import CancelToken
from engine.checkpoints.index import WINDOW_BYTES, WINDOWS
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.compile.network import Network
from engine.devices.choice import Candidate, Devices
from engine.families import identify
from engine.graphs.clip_text import clip_text
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.memory.plan import WeightPlacement
from engine.memory.residency import Residency, Resident
from engine.output import Destination
from engine.weights.patched import Difference, FullDifference, LowRankDifference
from engine.weights.sources import FileWeight, ScaledSlice, WeightSource
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import SMALL_CLIP, random_weights
from tests.pipeline.jobs import a_request
from tests.thinned import thinned
from tests.tiny_checkpoint import write_checkpoint

# Whatever the files hold, as where the digest of the content reads only samples of it.
CONTENT = "sampled"
CHANGED = "text_model.encoder.layers.0.mlp.fc1.weight"
ARRAYS = random_weights(lambda g: clip_text(g, SMALL_CLIP))
OUT, IN = ARRAYS[CHANGED].shape
UP, DOWN = np.ones((OUT, 2)), np.ones((2, IN))


def at_another_tick(path: Path, write: Callable[[], None]) -> None:
    """Write a file until the clock of the file system has ticked; its time stays 2001's."""
    before = path.stat().st_ctime_ns if path.exists() else 0
    while True:
        write()
        os.utime(path, ns=(10**18, 10**18))
        if path.stat().st_ctime_ns != before:
            return
        time.sleep(0.001)


def written(path: Path, arrays: Mapping[str, Array], dtype: DType) -> dict[str, FileSlice]:
    """Arrays in a file that is written anew."""
    slices: dict[str, FileSlice] = {}
    at_another_tick(path, lambda: slices.update(write_arrays(path, arrays, dtype)))
    return slices


def weights(changed: Mapping[str, FileSlice | WeightSource]) -> WeightSet:
    return WeightSet(CONTENT, changed)


def one_number(folder: Path, which: int) -> WeightSet:
    """The checkpoint is written anew with one number changed."""
    changed = ARRAYS[CHANGED].copy()
    changed[3, 5] += which
    return weights(written(folder / "w", {**ARRAYS, CHANGED: changed}, DType.F16))


def one_scale(folder: Path, which: int) -> WeightSet:
    """The scale of one weight is written anew."""
    slices = written(folder / "w", ARRAYS, DType.F16)
    scale = written(folder / "s", {"s": np.array(1.0 + which)}, DType.F32)["s"]
    return weights({**slices, CHANGED: ScaledSlice(slices[CHANGED], scale)})


def one_offset(folder: Path, which: int) -> WeightSet:
    """One weight begins one number later in the same file."""
    longer = np.concatenate([ARRAYS[CHANGED].reshape(-1), [7.0]])
    path = folder / "w"
    slices = dict(write_arrays(path, {**ARRAYS, CHANGED: longer}, DType.F16))
    os.utime(path, ns=(10**18, 10**18))
    part = slices[CHANGED].rows(which, which + OUT * IN).reshaped((OUT, IN))
    return weights({**slices, CHANGED: part})


def patched(folder: Path, difference: Difference) -> WeightSet:
    base = weights(written(folder / "w", ARRAYS, DType.F16))
    return base.patched("patch", {CHANGED: [difference]})


def one_strength(folder: Path, which: int) -> WeightSet:
    """One patch has two strengths."""
    factors = written(folder / "p", {"up": UP, "down": DOWN}, DType.F16)
    up, down = FileWeight(factors["up"]), FileWeight(factors["down"])
    return patched(folder, LowRankDifference(up, down, 0.5 + which))


def one_number_of_a_patch(folder: Path, which: int) -> WeightSet:
    """The patch is written anew with one number changed."""
    changed = DOWN.copy()
    changed[1, 2] += 5 * which
    factors = written(folder / "p", {"up": UP, "down": changed}, DType.F16)
    up, down = FileWeight(factors["up"]), FileWeight(factors["down"])
    return patched(folder, LowRankDifference(up, down, 0.5))


def one_patch(folder: Path, which: int) -> WeightSet:
    """There is a patch, or the checkpoint alone."""
    full = written(folder / "p", {"d": np.eye(OUT, IN)}, DType.F16)["d"]
    made = patched(folder, FullDifference(FileWeight(full), 1.0))
    return made if which else made.base


@dataclass
class Desk:
    """A device with caches and resident networks, which jobs use one after another."""

    backend: Backend
    folder: Path

    def __post_init__(self) -> None:
        self.residency = Residency()

    def run(self, weights: WeightSet) -> Array:
        """The result of a text encoder with these weights, as in a process that has just begun.

        Resident networks stay.
        """
        copies, store = WorkingCopies(self.folder / "weights"), self.folder / "compiled"
        device = self.backend.probe()[0]
        compiler = Compiler(self.backend, device, copies, ArtifactStore(store))
        network = Network("text_encoder", lambda g: clip_text(g, SMALL_CLIP), weights)
        prepared = compiler.prepared(network, Precision.F32)
        identity = prepared.identity()
        resident = self.residency.take(network.name, identity)
        if resident is None:
            placement, token = WeightPlacement.WORKING_COPY, CancelToken()
            session = prepared.load(placement, lambda _done, _total: None, token)
            resident = Resident(identity, session, prepared.weight_bytes())
        tokens = np.arange(SMALL_CLIP.positions, dtype=np.int64)[None] % SMALL_CLIP.vocabulary
        result = resident.session.run({"tokens": tokens})["last_hidden_state"]
        self.residency.give(network.name, resident)
        return result


BACKENDS: dict[str, Callable[[], Backend]] = {
    "cpu": CpuBackend,
    "null": lambda: NullBackend(compiling=Compiling(carries_weights=True)),
}
CHANGES = (one_number, one_scale, one_offset, one_strength, one_number_of_a_patch, one_patch)


@pytest.mark.parametrize(
    ("backend", "change"),
    thinned(
        list(product(BACKENDS, CHANGES)),
        [*product(["cpu"], CHANGES), ("null", one_number), ("null", one_patch)],
    ),
)
def test_each_set_of_weights_gives_its_own_result(
    tmp_path: Path, backend: str, change: Callable[[Path, int], WeightSet]
) -> None:
    make = BACKENDS[backend]
    expected = [
        Desk(make(), tmp_path / f"alone {which}").run(change(tmp_path, which)) for which in (0, 1)
    ]
    assert not np.array_equal(expected[0], expected[1])
    desk = Desk(make(), tmp_path / "shared")
    for which in (0, 1, 0, 0, 1, 1):
        np.testing.assert_array_equal(desk.run(change(tmp_path, which)), expected[which])
    desk.residency.release()


def hidden_place(path: Path) -> int:
    """The place of a number in the middle of a file, which the digest of its content omits."""
    last = path.stat().st_size - WINDOW_BYTES
    before, after = (last * window // (WINDOWS - 1) for window in (WINDOWS // 2, WINDOWS // 2 + 1))
    return (before + WINDOW_BYTES + after) // 4 * 2


def test_a_whole_job_sees_a_number_that_changed_at_an_equal_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint was damaged, and downloaded again with the server's time."""
    backend = CpuBackend()

    def candidates(_devices: Devices, _wanted: str, _cancel: CancelToken) -> list[Candidate]:
        return [Candidate(backend, backend.probe()[0])]

    monkeypatch.setattr(Devices, "candidates", candidates)
    checkpoint = write_checkpoint(tmp_path / "checkpoint", dtype=DType.F16)
    unet = checkpoint / "unet" / "diffusion_pytorch_model.safetensors"
    request = a_request(checkpoint, steps=1)

    def change(value: float) -> None:
        with unet.open("r+b") as file:
            file.seek(hidden_place(unet))
            file.write(np.float16(value).tobytes())

    def picture(runner: JobRunner) -> Array:
        saver = PictureSaver(Destination(tmp_path / "out"))
        result = runner.run(request, saver, SilentReporter(), CancelToken())
        with Image.open(result.images[0].path) as image:
            return np.asarray(image)

    expected: list[Array] = []
    digests: set[str] = set()
    shared = JobRunner(JobServices.in_cache(tmp_path / "shared", residency=Residency()))
    for value in (0.0, 100.0):
        at_another_tick(unet, lambda value=value: change(value))
        digests.add(identify(checkpoint).digest)
        alone = JobRunner(JobServices.in_cache(tmp_path / f"alone {value}"))
        expected.append(picture(alone))
        alone.close()
        for _ in range(2):
            np.testing.assert_array_equal(picture(shared), expected[-1])
    assert len(digests) == 1
    assert not np.array_equal(expected[0], expected[1])
    at_another_tick(unet, lambda: change(0.0))
    np.testing.assert_array_equal(picture(shared), expected[0])
    shared.close()
