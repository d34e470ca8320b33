"""From a network to a session: where its weights end up, and what failures are called."""

import os
from pathlib import Path
from time import monotonic, sleep

import msgspec
import numpy as np
import pytest

from backends.base import (
    Array,
    BackendError,
    ComputedArray,
    Device,
    DType,
    FileSlice,
    OperatorSet,
    Precision,
    RunCancelled,
)
from backends.forms import UpsamplingForm
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.compile.backend_errors import translated_errors
from engine.compile.compiler import Compiler
from engine.compile.network import Network, Preparation
from engine.errors import Cancelled, EngineError
from engine.graphs.clip_text import clip_text
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.weights.binding import bind
from engine.weights.sources import ScaledSlice, mapped
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import SMALL_CLIP, random_weights
from tests.pipeline.counting import CountingBackend

MEMORY, WORKING_COPY = WeightPlacement.MEMORY, WeightPlacement.WORKING_COPY
MEMORY_THEN_COPY = WeightPlacement.MEMORY_THEN_COPY
BF16, F32 = Precision.BF16, Precision.F32


class OpenVinoLike(CountingBackend):
    """The null backend with OpenVINO's tastes."""

    def operators(self, device: Device) -> OperatorSet:
        return OperatorSet(opset=20, elements=(DType.F32, DType.BF16))


def network(folder: Path, dtype: DType, *, seed: int = 0, skip: int = 1) -> Network:
    """A small text encoder whose weights are stored as `dtype`."""
    arrays = random_weights(lambda g: clip_text(g, SMALL_CLIP), seed)
    weights = write_arrays(folder / f"{dtype}-{seed}.safetensors", arrays, dtype)
    return Network(
        "text_encoder",
        lambda g: clip_text(g, SMALL_CLIP, skip),
        WeightSet(f"digest {seed}", weights),
    )


class SummingLike(OpenVinoLike):
    """The same with kernels summed for doubled pictures, as OpenVINO has them."""

    def operators(self, device: Device) -> OperatorSet:
        return msgspec.structs.replace(
            super().operators(device), upsampling=UpsamplingForm.TRANSPOSED
        )


class Loading:
    """A compiler on `OpenVinoLike`, and the graphs it had loaded."""

    def __init__(self, folder: Path) -> None:
        self.backend = OpenVinoLike()
        self.copies = WorkingCopies(folder / "cache")
        self.compiler = Compiler(self.backend, self.backend.probe()[0], self.copies)
        self.reports: list[tuple[int, int]] = []

    def load(
        self, network: Network, precision: Precision, placement: WeightPlacement
    ) -> dict[str, FileSlice | ComputedArray]:
        """Load a network; the weights that its graph was given."""

        def report(done: int, total: int) -> None:
            self.reports.append((done, total))

        self.compiler.load(network, precision, placement, report, CancelToken()).close()
        return dict(self.backend.graphs[-1].weights)

    def cached(self) -> int:
        folder = self.copies.folder
        return len(list(folder.iterdir())) if folder.exists() else 0


@pytest.fixture
def loading(tmp_path: Path) -> Loading:
    return Loading(tmp_path)


@pytest.mark.parametrize("placement", WeightPlacement)
@pytest.mark.parametrize(
    ("stored", "precision"), [(DType.F32, F32), (DType.F32, BF16), (DType.BF16, BF16)]
)
def test_weights_that_fit_are_bound_where_they_are(
    loading: Loading,
    tmp_path: Path,
    stored: DType,
    precision: Precision,
    placement: WeightPlacement,
) -> None:
    made = network(tmp_path, stored)
    slices = {name: source.parts()[0] for name, source in made.weights.items()}
    assert loading.load(made, precision, placement) == slices
    assert loading.compiler.converted_bytes(made.weights, precision) == 0
    assert loading.reports == []
    assert loading.cached() == 0
    assert loading.backend.graphs[-1].precision is precision


@pytest.mark.parametrize(
    ("precision", "element"), [(F32, DType.F32), (BF16, DType.BF16)], ids=["f32", "bf16"]
)
def test_others_are_converted_in_memory_or_in_a_copy(
    loading: Loading, tmp_path: Path, precision: Precision, element: DType
) -> None:
    made = network(tmp_path, DType.F16)
    held = loading.load(made, precision, MEMORY)
    assert all(isinstance(ref, ComputedArray) for ref in held.values())
    total = loading.compiler.converted_bytes(made.weights, precision)
    assert sum(ref.nbytes for ref in held.values()) == total
    assert loading.cached() == 0
    assert not loading.compiler.has_copy(made.weights, precision)
    assert loading.reports[-1] == (total, total)

    copied = loading.load(made, precision, WORKING_COPY)
    assert loading.cached() == 1
    assert loading.compiler.has_copy(made.weights, precision)
    for name, ref in copied.items():
        assert isinstance(ref, FileSlice)
        assert ref.path.parent == loading.copies.folder
        assert ref.dtype is element is held[name].dtype
        flat = np.memmap(ref.path, np.uint8, "r", ref.offset, (ref.nbytes,))
        numbers = held[name]
        assert isinstance(numbers, ComputedArray)
        assert flat.tobytes() == numbers.array.tobytes()


def test_a_copy_is_written_beside_and_used_the_next_time(loading: Loading, tmp_path: Path) -> None:
    made = network(tmp_path, DType.F16)
    held = loading.load(made, BF16, MEMORY_THEN_COPY)
    assert all(isinstance(ref, ComputedArray) for ref in held.values())
    deadline = monotonic() + 60
    while not loading.copies.listed():
        assert monotonic() < deadline
        sleep(0.001)
    loading.reports.clear()
    copied = loading.load(made, BF16, MEMORY)
    assert loading.reports == []
    for name, ref in copied.items():
        numbers = held[name]
        assert isinstance(ref, FileSlice)
        assert isinstance(numbers, ComputedArray)
        assert mapped(ref).tobytes() == numbers.array.tobytes()


@pytest.mark.parametrize("placement", WeightPlacement)
@pytest.mark.parametrize("dtype", [DType.F32, DType.F16])
def test_weights_that_are_no_numbers_are_refused_and_named(
    loading: Loading, tmp_path: Path, dtype: DType, placement: WeightPlacement
) -> None:
    made = network(tmp_path, dtype)
    name = "text_model.encoder.layers.1.mlp.fc2.weight"
    broken = write_arrays(tmp_path / "nan.safetensors", {"w": np.full((32, 64), np.nan)}, dtype)
    weights = WeightSet("merge", {**made.weights, name: broken["w"]})
    made = msgspec.structs.replace(made, weights=weights, checkpoint="merge")
    with pytest.raises(EngineError, match=f"{name} of the text encoder of merge") as caught:
        loading.load(made, F32, placement)
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
    assert loading.cached() == 0


def scaled_network(folder: Path, scale: float) -> Network:
    """The text encoder in fp8, its numbers times `scale`, which its digest does not tell."""
    made = network(folder, DType.F8_E4M3)
    number = write_arrays(folder / f"{scale}.safetensors", {"s": np.array(scale)})["s"]
    weights = {name: ScaledSlice(w.parts()[0], number) for name, w in made.weights.items()}
    return msgspec.structs.replace(made, weights=WeightSet(made.weights.content, weights))


def as_numbers(bound: dict[str, FileSlice | ComputedArray]) -> dict[str, Array]:
    return {n: mapped(r) if isinstance(r, FileSlice) else r.array for n, r in bound.items()}


@pytest.mark.parametrize("precision", [F32, BF16])
def test_scaled_weights_are_multiplied_in_memory_and_in_a_copy(
    loading: Loading, tmp_path: Path, precision: Precision
) -> None:
    plain = as_numbers(loading.load(network(tmp_path, DType.F8_E4M3), F32, MEMORY))
    for scale in (0.25, 3.0):
        scaled = scaled_network(tmp_path, scale)
        held = as_numbers(loading.load(scaled, precision, MEMORY))
        copied = as_numbers(loading.load(scaled, precision, WORKING_COPY))
        for name, array in plain.items():
            expected = (array * np.float32(scale)).astype(held[name].dtype)
            np.testing.assert_array_equal(held[name], expected)
            np.testing.assert_array_equal(copied[name], expected)
    # A copy for each scale, for the bytes that they scale are the same.
    assert loading.cached() == 2


def test_other_scales_make_another_session(loading: Loading, tmp_path: Path) -> None:
    first, second = (scaled_network(tmp_path, scale) for scale in (0.25, 3.0))
    identities = {loading.compiler.prepared(made, F32).identity() for made in (first, second)}
    assert len(identities) == 2


def test_two_networks_that_differ_in_their_digest_alone_share_no_session(
    loading: Loading, tmp_path: Path
) -> None:
    """Two files of one path do so, written one after the other within a tick of its clock."""
    first = network(tmp_path, DType.F16)
    second = msgspec.structs.replace(first, weights=WeightSet("another digest", first.weights))
    identities = {
        loading.compiler.prepared(made, F32).identity() for made in (first, first, second)
    }
    assert len(identities) == 2


def test_a_weight_of_another_type_at_the_same_place_makes_another_session(
    loading: Loading, tmp_path: Path
) -> None:
    first = network(tmp_path, DType.F16)
    name, source = next(iter(first.weights.items()))
    weights = {**first.weights, name: msgspec.structs.replace(source.parts()[0], dtype=DType.BF16)}
    second = msgspec.structs.replace(first, weights=WeightSet(first.weights.content, weights))
    assert len({loading.compiler.prepared(made, F32).identity() for made in (first, second)}) == 2


def test_a_byte_that_the_digest_misses_makes_another_copy(loading: Loading, tmp_path: Path) -> None:
    """A damaged checkpoint that was downloaded again may have the digest of the damaged one."""
    made = network(tmp_path, DType.F16)
    loading.load(made, BF16, WORKING_COPY)
    (path,) = {part.path for source in made.weights.values() for part in source.parts()}
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(10**18, 10**18))
    copied = loading.load(made, BF16, WORKING_COPY)
    assert loading.cached() == 2
    bound = bind(made.weights, DType.BF16)
    for name, ref in copied.items():
        array = bound[name]
        assert isinstance(ref, FileSlice)
        assert isinstance(array, ComputedArray)
        assert mapped(ref).tobytes() == array.array.tobytes()


def test_a_copy_that_is_there_is_used_whatever_the_plan(loading: Loading, tmp_path: Path) -> None:
    made = network(tmp_path, DType.F16)
    copied = loading.load(made, BF16, WORKING_COPY)
    loading.reports.clear()
    assert loading.load(made, BF16, MEMORY) == copied
    assert loading.reports == []


def test_two_fine_tunes_never_share_a_copy(loading: Loading, tmp_path: Path) -> None:
    """The fine-tunes have the same names, shapes and types."""
    first, second = (network(tmp_path, DType.F16, seed=seed) for seed in (1, 2))
    copies = [loading.load(made, BF16, WORKING_COPY) for made in (first, second)]
    assert loading.cached() == 2
    for name in copies[0]:
        assert copies[0][name] != copies[1][name]
    # And neither do two precisions of one, or two networks of one file.
    loading.load(first, F32, WORKING_COPY)
    loading.load(msgspec.structs.replace(first, name="text_encoder_2"), BF16, WORKING_COPY)
    assert loading.cached() == 4


def test_a_copy_of_fewer_layers_is_made_again_with_more(loading: Loading, tmp_path: Path) -> None:
    shallow, deep = (network(tmp_path, DType.F16, skip=skip) for skip in (2, 1))
    fewer = loading.load(shallow, BF16, WORKING_COPY)
    assert fewer.keys() < loading.load(deep, BF16, WORKING_COPY).keys()
    assert loading.load(shallow, BF16, WORKING_COPY).keys() == fewer.keys()
    assert loading.cached() == 1


def test_unused_weights_are_not_converted(loading: Loading, tmp_path: Path) -> None:
    held = loading.load(network(tmp_path, DType.F16, skip=3), BF16, MEMORY)
    assert not any(".layers.1." in name for name in held)


@pytest.mark.parametrize("placement", WeightPlacement)
def test_conversion_stops_when_asked(
    loading: Loading, tmp_path: Path, placement: WeightPlacement
) -> None:
    token = CancelToken()

    def report(done: int, total: int) -> None:
        assert not token.is_set(), "went on"
        token.cancel()

    with pytest.raises(Cancelled):
        loading.compiler.load(network(tmp_path, DType.F16), BF16, placement, report, token)
    assert loading.backend.loads == []
    assert loading.cached() == 0


@pytest.mark.parametrize("reads", [True, False])
def test_weights_are_read_in_place_only_where_the_runtime_can(
    loading: Loading, tmp_path: Path, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    operators = msgspec.structs.replace(
        loading.backend.operators(loading.compiler.device), reads_in_place=reads
    )

    def answer(_device: Device) -> OperatorSet:
        return operators

    monkeypatch.setattr(loading.backend, "operators", answer)
    made = network(tmp_path, DType.F16)
    mapped = loading.load(made, F32, WeightPlacement.IN_PLACE)
    assert all(isinstance(ref, FileSlice) for ref in mapped.values())
    matrices = {name for name, weight in made.weights.items() if len(weight.shape) == 2}
    assert matrices
    assert loading.backend.graphs[-1].in_place == (matrices if reads else set())
    prepared = loading.compiler.prepared(made, F32)
    others = {prepared.identity(place) for place in (WORKING_COPY, WeightPlacement.IN_PLACE)}
    assert len(others) == 1 + reads
    packed = loading.compiler.packed_bytes(made.weights, F32)
    in_place = loading.compiler.in_place_bytes(made.weights, F32)
    assert in_place is None if not reads else in_place is not None and in_place < packed
    assert prepared.weight_bytes(WeightPlacement.IN_PLACE) == packed


def test_failures_have_the_names_a_person_can_act_on() -> None:
    device = Device("cpu", "cpu", "the processor")
    for error, code in (
        (BackendError("a"), ErrorCode.BACKEND_FAILED),
        (BackendError("b", out_of_memory=True), ErrorCode.OUT_OF_MEMORY),
    ):
        with pytest.raises(EngineError) as caught, translated_errors(device):
            raise error
        assert caught.value.code is code
        assert "the processor" in caught.value.message
        assert caught.value.detail == str(error)
        assert caught.value.hint or caught.value.remedies
    with pytest.raises(Cancelled), translated_errors(device):
        raise RunCancelled
    with pytest.raises(KeyError), translated_errors(device):
        raise KeyError


def test_layouts_of_two_runtimes_leave_each_other_their_copies(
    loading: Loading, tmp_path: Path
) -> None:
    """One reads a kernel as it is, the other with its taps summed for doubled pictures."""

    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, (1, 4, 8, 8))
        x = g.doubled_conv(g.cast_to_element(x), "up", (4, 6))
        g.output(g.conv(x, "out", (6, 4)), "y", DType.F32, (1, 4, 16, 16))

    weights = write_arrays(tmp_path / "vae.safetensors", random_weights(emit), DType.F16)
    made, summing = Network("vae_decoder", emit, WeightSet("vae", weights)), SummingLike()
    other = Compiler(summing, summing.probe()[0], loading.copies)

    def files_after_both() -> dict[str, int]:
        """The copies by name, as the numbers of their files, after both have loaded it."""
        loading.load(made, F32, WORKING_COPY)
        other.load(made, F32, WORKING_COPY, lambda _d, _t: None, CancelToken()).close()
        assert summing.graphs[-1].weights.keys() != loading.backend.graphs[-1].weights.keys()
        return {path.name: path.stat().st_ino for path in loading.copies.folder.iterdir()}

    first = files_after_both()
    assert len(first) == 2
    assert files_after_both() == first
    assert loading.compiler.has_copy(made.weights, F32)


def test_a_copy_of_fewer_layers_is_no_copy_of_all(loading: Loading, tmp_path: Path) -> None:
    """Two clip skips are the same network with more layers or fewer."""
    fewer, whole = (network(tmp_path, DType.F16, skip=skip) for skip in (2, 1))
    loading.load(fewer, F32, WORKING_COPY)
    prepared = loading.compiler.prepared
    assert prepared(fewer, F32).preparation() is Preparation.LOAD
    assert prepared(whole, F32).preparation() is Preparation.CONVERT
    loading.load(whole, F32, WORKING_COPY)
    assert prepared(fewer, F32).preparation() is Preparation.LOAD
    assert prepared(whole, F32).preparation() is Preparation.LOAD
    assert loading.cached() == 1
