"""An upscaler runs in tiles as on the whole, on any size, and in spite of failures."""

import math
from functools import partial
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import (
    Array,
    Artifact,
    BackendError,
    Cancellation,
    Device,
    DeviceValue,
    Feeds,
    Graph,
    Precision,
    Progress,
    RunCancelled,
    Session,
    host_array,
    host_values,
)
from backends.cpu import CpuBackend
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.errors import Cancelled, EngineError
from engine.graphs.upscalers.compact import compact
from engine.upscalers.reading import Upscaler, read_upscaler
from engine.upscalers.running import Setting, padded_to, running
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import random_weights
from tests.guard.torch_zip import channels_last, write_torch_zip
from tests.thinned import thinned
from tests.upscalers.small import (
    COMPACT,
    EMITS,
    arrays_of,
    file_of,
    picture,
    setting,
    torch_file_of,
)

# Networks whose pixels all see few others; OmniSR sees the whole picture.
LOCAL = [name for name in EMITS if name != "OmniSR"]


def decibels(ours: Array, expected: Array) -> float:
    """The peak signal-to-noise ratio; colours span one, or more where weights are random."""
    span = max(1.0, float(np.ptp(expected)))
    error = float(np.mean((ours.astype(np.float64) - expected) ** 2))
    return math.inf if error == 0 else 10 * math.log10(span**2 / error)


def enlarged(upscaler: Upscaler, image: Array, place: Setting) -> Array:
    with running(upscaler, place) as run:
        return run.enlarge(image)


@pytest.mark.parametrize("name", thinned(LOCAL, ["ESRGAN", "SwinIR"]))
def test_tiles_are_beside_the_whole_without_seams(tmp_path: Path, name: str) -> None:
    upscaler = read_upscaler(file_of(tmp_path, name))
    image = picture(170, 211)
    whole = enlarged(upscaler, image, setting(tmp_path, 4096))
    parts = enlarged(upscaler, image, setting(tmp_path, 128))
    assert decibels(parts, whole) >= 64


def test_tiles_of_a_network_that_sees_all_have_no_edges(tmp_path: Path) -> None:
    """Tiles differ from the whole, but not more from pixel to pixel than the whole does."""
    upscaler = read_upscaler(file_of(tmp_path, "OmniSR"))
    image = picture(160, 320)
    whole = enlarged(upscaler, image, setting(tmp_path, 4096))
    parts = enlarged(upscaler, image, setting(tmp_path, 160))
    steps = [np.abs(np.diff(pixels, axis=2)).mean((0, 1)) for pixels in (whole, parts)]
    assert steps[1].max() <= 1.05 * steps[0].max()


@pytest.mark.parametrize("name", thinned(EMITS, ["ESRGAN", "OmniSR"]))
def test_a_network_that_was_saved_with_its_channels_last_is_the_same(
    tmp_path: Path, name: str
) -> None:
    """Some trainers save those so that they trained in half precision."""
    kept = {f"params.{key}": channels_last(array) for key, array in arrays_of(name).items()}
    files = torch_file_of(tmp_path, name), write_torch_zip(tmp_path / "last.pth", kept)
    made = [enlarged(read_upscaler(file), picture(17, 9), setting(tmp_path)) for file in files]
    assert made[0].std() > 0
    np.testing.assert_array_equal(made[0], made[1])


@pytest.mark.parametrize(
    ("name", "size"),
    thinned(
        list(product(EMITS, ((1, 1), (1, 7), (3, 2), (17, 5)))),
        [*product(EMITS, [(1, 1)]), *product(["SwinIR"], [(1, 7), (3, 2), (17, 5)])],
    ),
)
def test_a_tiny_picture_is_enlarged(tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    upscaler = read_upscaler(file_of(tmp_path, name))
    result = enlarged(upscaler, picture(*size), setting(tmp_path))
    scale = upscaler.network.scale
    assert result.shape == (3, size[0] * scale, size[1] * scale)
    assert np.isfinite(result).all()


@pytest.mark.parametrize("name", EMITS)
def test_a_result_depends_on_the_picture_around(tmp_path: Path, name: str) -> None:
    upscaler = read_upscaler(file_of(tmp_path, name))
    first, other = (enlarged(upscaler, picture(20, 20, seed), setting(tmp_path)) for seed in (0, 1))
    assert np.abs(first - other).mean() > 1e-3
    assert first.std() > 1e-3


def test_a_picture_grows_by_its_own_reflection(tmp_path: Path) -> None:
    needs = read_upscaler(file_of(tmp_path, "SwinIR")).network.needs
    image = picture(6, 9)
    grown = padded_to(image, needs)
    assert grown.shape == (3, 8, 12)
    np.testing.assert_array_equal(grown[:, 6:], grown[:, 4:2:-1])
    np.testing.assert_array_equal(grown[:, :6, 9:], image[:, :, 7:4:-1])
    black = padded_to(image, msgspec.structs.replace(needs, zeros=True))
    assert not black[:, 6:].any()


def test_a_single_plane_is_enlarged_as_grey(tmp_path: Path) -> None:
    upscaler = read_upscaler(file_of(tmp_path, "ESRGAN"))
    plane = picture(9, 9, channels=1)
    with running(upscaler, setting(tmp_path)) as run:
        grey = run.enlarge(np.repeat(plane, 3, 0))
        np.testing.assert_allclose(run.enlarge(plane), grey.mean(0, keepdims=True), atol=1e-6)


def test_colours_go_through_a_grey_network_one_by_one(tmp_path: Path) -> None:
    emit = partial(compact, config=msgspec.structs.replace(COMPACT, channels=1))
    write_arrays(tmp_path / "grey.safetensors", random_weights(emit))
    upscaler = read_upscaler(tmp_path / "grey.safetensors")
    image = picture(9, 9)
    with running(upscaler, setting(tmp_path)) as run:
        colours = run.enlarge(image)
        assert colours.shape == (3, 18, 18)
        for plane, result in zip(image, colours, strict=True):
            np.testing.assert_array_equal(run.enlarge(plane[None])[0], result)


# --- failures ---


class Faulty(CpuBackend):
    """A processor that fails at some runs, as a device does; `seen` has the shapes of tiles."""

    def __init__(self, most_pixels: int = 10**9, *, half_is_broken: bool = False) -> None:
        self._most, self._half_is_broken = most_pixels, half_is_broken
        self.seen: list[tuple[int, ...]] = []
        self.loaded: list[Precision] = []
        self.closed = 0

    def probe(self) -> list[Device]:
        (device,) = super().probe()
        both = (Precision.BF16, Precision.F16, Precision.F32)
        return [
            msgspec.structs.replace(
                device, precisions=both if self._half_is_broken else device.precisions
            )
        ]

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        self.loaded.append(graph.precision)
        session = super().load(graph, artifact, device, progress, cancel)
        return _FaultySession(self, session, graph.precision)

    def answer(
        self, image: Array, precision: Precision, result: dict[str, Array]
    ) -> dict[str, Array]:
        self.seen.append(image.shape[2:])
        if image.shape[2] * image.shape[3] > self._most:
            raise BackendError("too large", out_of_memory=True)
        if self._half_is_broken and precision is not Precision.F32:
            return {name: array * np.float32(np.nan) for name, array in result.items()}
        return result


class _FaultySession:
    def __init__(self, backend: Faulty, session: Session, precision: Precision) -> None:
        self.inputs, self.outputs = session.inputs, session.outputs
        self.pin, self.cancel = session.pin, session.cancel
        self._backend, self._session, self._precision = backend, session, precision

    def run(self, feeds: Feeds) -> dict[str, Array]:
        result = self._session.run(feeds)
        return self._backend.answer(host_array(feeds["image"]), self._precision, result)

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        return host_values(self.outputs, self.run(feeds))

    def close(self) -> None:
        self._backend.closed += 1
        self._session.close()


def faulty(folder: Path, backend: Faulty, tile: int) -> Setting:
    compiler = Compiler(backend, backend.probe()[0], WorkingCopies(folder / "weights"))
    return Setting(compiler, CancelToken(), lambda _done, _total: None, tile)


def test_smaller_tiles_are_tried_where_memory_runs_out(tmp_path: Path) -> None:
    upscaler = read_upscaler(file_of(tmp_path, "Real-ESRGAN Compact"))
    backend, image = Faulty(most_pixels=2500), picture(150, 150)
    result = enlarged(upscaler, image, faulty(tmp_path, backend, 160))
    assert backend.seen[0] == (150, 150)
    assert backend.seen[-1][0] <= 50
    assert backend.closed == len(backend.loaded)
    assert decibels(result, enlarged(upscaler, image, setting(tmp_path))) >= 64


def test_memory_that_never_suffices_is_an_error(tmp_path: Path) -> None:
    upscaler = read_upscaler(file_of(tmp_path, "Real-ESRGAN Compact"))
    with pytest.raises(EngineError) as caught:
        enlarged(upscaler, picture(60, 60), faulty(tmp_path, Faulty(most_pixels=4), 64))
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def test_float32_follows_where_half_precision_breaks(tmp_path: Path) -> None:
    upscaler = read_upscaler(file_of(tmp_path, "Real-ESRGAN Compact"))
    backend, image = Faulty(half_is_broken=True), picture(12, 12)
    result = enlarged(upscaler, image, faulty(tmp_path, backend, 64))
    assert backend.loaded == [Precision.F16, Precision.F32]
    np.testing.assert_array_equal(result, enlarged(upscaler, image, setting(tmp_path)))


def test_a_network_that_overflows_begins_with_float32(tmp_path: Path) -> None:
    upscaler = read_upscaler(file_of(tmp_path, "SwinIR"))
    backend = Faulty(half_is_broken=True)
    enlarged(upscaler, picture(12, 12), faulty(tmp_path, backend, 64))
    assert backend.loaded == [Precision.F32]


@pytest.mark.parametrize(
    ("weight", "words"), [(np.nan, "hold.* not a number"), (1e38, "The result of broken")]
)
def test_weights_that_give_no_picture_are_an_error(
    tmp_path: Path, weight: float, words: str
) -> None:
    arrays = random_weights(EMITS["ESRGAN"])
    arrays["conv_last.weight"][:] = weight
    write_arrays(tmp_path / "broken.safetensors", arrays)
    upscaler = read_upscaler(tmp_path / "broken.safetensors")
    with pytest.raises(EngineError, match=words):
        enlarged(upscaler, 2 * picture(8, 8), setting(tmp_path))


def test_a_request_to_stop_ends_between_tiles(tmp_path: Path) -> None:
    upscaler = read_upscaler(file_of(tmp_path, "Real-ESRGAN Compact"))
    token, told = CancelToken(), list[tuple[int, int]]()

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        if done == 2:
            token.cancel()

    place = msgspec.structs.replace(setting(tmp_path, 32), cancel=token, progress=progress)
    with pytest.raises((Cancelled, RunCancelled)):
        enlarged(upscaler, picture(100, 100), place)
    assert told[-1][0] == 2 < told[-1][1]
