"""The promises of every backend (`backends.base`), asked of each on a small real network."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread

import msgspec
import numpy as np
import pytest
from _pytest.mark import ParameterSet

from backends.base import (
    Array,
    Backend,
    BackendError,
    Device,
    DeviceValue,
    DimensionRange,
    DType,
    Graph,
    Precision,
    RunCancelled,
    Session,
    ShapeProfile,
)
from backends.null import NullBackend, Script
from backends.registry import BACKENDS, BackendReference
from backends.webgpu import SOFTWARE
from engine.cancel import CancelToken
from tests import swiftshader
from tests.backends.memory_probe import LARGE_SIDE, SMALL_SIDE
from tests.backends.samples import (
    NeverCancelled,
    Target,
    ignore,
    matmul_graph,
    relative_error,
    sample_feeds,
    sample_graph,
    sample_result,
)

TOLERANCES = {
    Precision.F32: 1e-5,
    Precision.BF16: 3e-2,
    Precision.F16: 1e-2,
    Precision.INT8: 1e-5,  # no weights in blocks
}
RUNTIMES = {"cpu": "onnxruntime", "intel_openvino": "openvino", "torch_device": "torch"}
ROOT = Path(__file__).parents[2]


def create(reference: BackendReference) -> Backend:
    """The backend; where nothing is computed, the network called "long" still takes its time."""
    if reference.name == "null":
        return NullBackend({"long": Script(run_seconds=120)})
    return reference.create()


def targets() -> Iterator[Target]:
    """Every precision of every usable device, with every element type its graphs can have."""
    for reference in BACKENDS:
        backend = create(reference)
        for device in backend.probe():
            elements = backend.operators(device).elements
            for precision in device.precisions:
                for element in elements:
                    if element.itemsize >= precision.dtype.itemsize:
                        yield Target(backend, device, precision, element)


def every(
    targets: Iterable[Target], *, networks: bool = False, seldom: str = ""
) -> pytest.MarkDecorator:
    """A test for each target, in the ring where its runtime is.

    WebGPU on a processor takes ten seconds for `networks`, which is for `make thorough`; those of
    the backend `seldom` are for `make oracle`.
    """

    def param(t: Target) -> ParameterSet:
        marks = ring(t.backend.name, t.device)
        if t.backend.name == seldom:
            marks = (pytest.mark.oracle,)
        if networks and t.device.id == SOFTWARE:
            marks = (pytest.mark.slow,)
        return pytest.param(t, id=label(t), marks=marks)

    return pytest.mark.parametrize("target", list(map(param, targets)))


def label(target: Target) -> str:
    return f"{target.backend.name}-{target.device.id}-{target.precision}-{target.element}"


def ring(backend: str, device: Device) -> tuple[pytest.MarkDecorator, ...]:
    """Graphics cards are ring 7; torch on the processor is the reference's, ring 6."""
    if device.id not in {"cpu", SOFTWARE} and backend != "null":
        return (pytest.mark.gpu,)
    return (pytest.mark.oracle,) if backend == "torch_device" and device.usable else ()


ALL = list(targets())
FIRST = list({(t.backend.name, t.device.id): t for t in reversed(ALL)}.values())[::-1]
every_target = every(ALL)
every_backend = every(FIRST)
every_runtime = every(t for t in FIRST if t.computes)
every_runtime_of_networks = every((t for t in FIRST if t.computes), networks=True)
every_host_runtime = every(t for t in FIRST if t.computes and t.device.id == "cpu")
every_reference = pytest.mark.parametrize(
    "reference",
    [pytest.param(r, id=r.name, marks=ring(r.name, r.create().probe()[-1])) for r in BACKENDS],
)


def test_every_backend_of_a_full_install_is_usable_here() -> None:
    expected = {name for name, module in RUNTIMES.items() if find_spec(module)} | {"null"}
    expected |= {"webgpu"} if swiftshader.is_offered() else set()
    assert {target.backend.name for target in FIRST} == expected
    assert "cpu" in expected


# --- what a backend says of itself ---


@every_reference
def test_probe_names_devices_that_are_usable_or_says_why_not(reference: BackendReference) -> None:
    devices = reference.create().probe()
    assert devices
    for device in devices:
        assert device.backend == reference.name
        assert device.id
        assert device.name
        assert device.usable == (device.unusable is None)
        assert device.precisions if device.usable else device.unusable


@pytest.mark.parametrize("name", RUNTIMES)
def test_without_its_runtime_a_device_is_unusable(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def nothing(name: str) -> None:
        return None

    reference = next(r for r in BACKENDS if r.name == name)
    monkeypatch.setattr(f"{reference.module}.find_spec", nothing)
    (device,) = reference.create().probe()
    assert not device.usable
    assert RUNTIMES[name] in (device.unusable or "")


@pytest.mark.parametrize("error", [ImportError("no plug-in"), RuntimeError("no plug-in")])
def test_a_runtime_that_does_not_start_makes_its_devices_unusable(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken() -> None:
        raise error

    def found(name: str) -> str:
        return name

    monkeypatch.setattr("backends.intel_openvino.find_spec", found)
    monkeypatch.setattr("backends.intel_openvino.core", broken)
    reference = next(r for r in BACKENDS if r.name == "intel_openvino")
    (device,) = reference.create().probe()
    assert not device.usable
    assert "no plug-in" in (device.unusable or "")


_WITHOUT_RUNTIMES = """
import sys
from importlib.machinery import PathFinder

class Hiding:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {"onnxruntime", "openvino", "torch"}:
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path = [Hiding if finder is PathFinder else finder for finder in sys.meta_path]
from backends.registry import devices
assert not {"onnxruntime", "openvino", "torch"} & set(sys.modules)
print(*(f"{device.backend}={device.usable}" for device in devices()))
"""


def test_no_module_imports_a_runtime_before_it_is_asked() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _WITHOUT_RUNTIMES], capture_output=True, text=True, cwd=ROOT
    )
    expected = {f"{reference.name}={reference.name == 'null'}" for reference in BACKENDS}
    assert set(run.stdout.split()) == expected, run.stderr


@every_reference
def test_the_fingerprint_is_the_same_each_time(reference: BackendReference) -> None:
    first, second = (
        {device.id: backend.fingerprint(device) for device in backend.probe()}
        for backend in (create(reference), create(reference))
    )
    assert first == second
    assert all(first.values())


@every_backend
def test_memory_is_within_reason(target: Target) -> None:
    memory = target.backend.memory(target.device)
    assert 0 < memory.free <= memory.total


# --- what a session computes ---


class SampleSessions:
    """The sample network on each target, loaded once for the tests that do nothing but run it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, tuple[Graph, Session]] = {}

    def of(self, target: Target) -> Session:
        """An open session, whose inputs and outputs are its graph's."""
        name = label(target)
        if name not in self._loaded:
            folder = self._folder / name
            folder.mkdir()
            graph = sample_graph(target, folder)
            self._loaded[name] = graph, target.load(graph)
        graph, session = self._loaded[name]
        assert (session.inputs, session.outputs) == (graph.inputs, graph.outputs)
        return session

    def close(self) -> None:
        for _, session in self._loaded.values():
            session.close()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleSessions]:
    made = SampleSessions(tmp_path_factory.mktemp("samples"))
    yield made
    made.close()


@every_target
@pytest.mark.parametrize("size", [(1, 1, 1), (2, 7, 5), (4, 16, 9)], ids=str)
def test_numbers_are_those_of_numpy_at_any_size(
    target: Target, samples: SampleSessions, size: tuple[int, int, int]
) -> None:
    feeds = sample_feeds(*size)
    result = samples.of(target).run(feeds)
    assert result.keys() == {"doubled"}
    assert result["doubled"].dtype == np.float32
    expected = sample_result(feeds, target.element)
    assert result["doubled"].shape == expected.shape
    if target.computes:
        assert relative_error(result["doubled"], expected) < TOLERANCES[target.precision]


@every_target
def test_one_session_takes_every_size_in_turn(target: Target, samples: SampleSessions) -> None:
    session = samples.of(target)
    for size in ((1, 3, 4), (4, 9, 2), (1, 3, 4)):
        feeds = sample_feeds(*size)
        result = session.run(feeds)["doubled"]
        expected = sample_result(feeds, target.element)
        assert result.shape == expected.shape
        if target.computes:
            assert relative_error(result, expected) < TOLERANCES[target.precision]


@every_target
def test_the_same_feeds_give_the_same_numbers(target: Target, samples: SampleSessions) -> None:
    session, feeds = samples.of(target), sample_feeds()
    first = session.run(feeds)["doubled"]
    kept = first.copy()
    session.run(sample_feeds(seed=9))
    np.testing.assert_array_equal(first, kept)  # a result is not a view of what the next run fills
    np.testing.assert_array_equal(session.run(feeds)["doubled"], first)


@every_target
def test_a_pinned_input_may_be_omitted(target: Target, tmp_path: Path) -> None:
    session, feeds = target.load(sample_graph(target, tmp_path)), sample_feeds()
    expected = session.run(feeds)["doubled"]
    session.pin("shift", feeds.pop("shift"))
    for _ in range(2):
        np.testing.assert_array_equal(session.run(feeds)["doubled"], expected)
    # Pinned again it is another number, and so is the result.
    other = sample_feeds(seed=5)["shift"]
    session.pin("shift", other)
    result = session.run(feeds)["doubled"]
    if target.computes:
        fed = sample_result(feeds | {"shift": other}, target.element)
        assert relative_error(result, fed) < TOLERANCES[target.precision]


@every_runtime
def test_an_optional_input_is_zeros_until_it_is_given(
    target: Target, samples: SampleSessions
) -> None:
    session, feeds = samples.of(target), sample_feeds()
    without = session.run(feeds)["doubled"]
    residual = np.random.default_rng(4).standard_normal(without.shape, np.float32)
    given = feeds | {"residual": residual}
    added = session.run(given)["doubled"]
    assert (
        relative_error(added, sample_result(given, target.element)) < TOLERANCES[target.precision]
    )
    assert relative_error(added, without) > 0.1
    np.testing.assert_array_equal(session.run(feeds)["doubled"], without)
    smaller = sample_feeds(height=3)
    expected = sample_result(smaller, target.element)
    error = relative_error(session.run(smaller)["doubled"], expected)
    assert error < TOLERANCES[target.precision]


@every_target
def test_a_result_left_on_the_device_is_an_input_of_another_session(
    target: Target, samples: SampleSessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = samples.of(target), target.load(sample_graph(target, tmp_path))
    feeds, changed = sample_feeds(), sample_feeds(seed=3)
    made = first.run_on_device(feeds)["doubled"]
    expected = first.run(feeds)["doubled"]
    made = first.run_on_device(feeds)["doubled"]  # until the next run
    assert (made.shape, made.dtype) == (expected.shape, DType.F32)
    np.testing.assert_array_equal(made.numpy(), expected)

    def fetched(_: DeviceValue) -> Array:
        raise AssertionError("it was brought to main memory")

    with monkeypatch.context() as watched:
        watched.setattr(type(made), "numpy", fetched)
        added = second.run_on_device(changed | {"residual": made})["doubled"]
    given = changed | {"residual": expected}
    if target.computes:
        wanted = sample_result(given, target.element)
        assert relative_error(added.numpy(), wanted) < TOLERANCES[target.precision]
    np.testing.assert_array_equal(second.run(given)["doubled"], added.numpy())
    # Taken once, it is no part of the runs that follow.
    without = second.run(changed)["doubled"]
    if target.computes:
        wanted = sample_result(changed, target.element)
        assert relative_error(without, wanted) < TOLERANCES[target.precision]
    second.close()


@every_backend
def test_a_session_takes_its_own_results(target: Target) -> None:
    """Each number of the result is made of another one of the input."""
    g = target.builder("turned", {})
    rows = g.input("rows", DType.F32, ("rows", 64))
    before = g.input("before", DType.F32, ("rows", 64), optional=True)
    left, right = (
        g.op("Slice", before, *(g.integers([n]) for n in (start, start + 32, 1)))
        for start in (0, 32)
    )
    turned = g.op("Concat", right, left, axis=1)
    g.output(g.op("Add", turned, rows), "after", DType.F32, ("rows", 64))
    session = target.load(g.build({}))
    feeds = {"rows": np.random.default_rng(0).random((300, 64), np.float32)}
    kept = session.run(feeds)["after"]
    for _ in range(3):
        kept = session.run(feeds | {"before": kept})["after"]
    made = session.run_on_device(feeds)["after"]
    for _ in range(3):
        made = session.run_on_device(feeds | {"before": made})["after"]
    np.testing.assert_array_equal(made.numpy(), kept)
    session.close()


@every_backend
def test_views_are_taken_like_contiguous_arrays(target: Target, samples: SampleSessions) -> None:
    session, feeds = samples.of(target), sample_feeds()
    expected = session.run(feeds)["doubled"]
    turned = np.ascontiguousarray(feeds["image"].transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2)
    assert not turned.flags.c_contiguous
    np.testing.assert_array_equal(session.run(feeds | {"image": turned})["doubled"], expected)


@every_backend
def test_a_missing_feed_is_an_error_even_after_a_run_that_had_it(
    target: Target, samples: SampleSessions
) -> None:
    session, feeds = samples.of(target), sample_feeds()
    session.run(feeds)
    with pytest.raises(BackendError, match="shift"):
        session.run({"image": feeds["image"]})


@every_backend
@pytest.mark.parametrize("shape", [(2, 5, 7, 5), (2, 4, 7), (2, 4, 7, 5, 1)], ids=str)
def test_a_feed_of_the_wrong_shape_is_an_error(
    target: Target, samples: SampleSessions, shape: tuple[int, ...]
) -> None:
    session, feeds = samples.of(target), sample_feeds()
    with pytest.raises(BackendError) as caught:
        session.run(feeds | {"image": np.zeros(shape, np.float32)})
    assert not caught.value.out_of_memory
    session.run(feeds)  # and the session is none the worse for it


@every_backend
def test_a_compiled_artifact_can_be_loaded(target: Target, tmp_path: Path) -> None:
    graph, backend, device = sample_graph(target, tmp_path), target.backend, target.device
    sizes = {"batch": 2, "height": 7, "width": 5}
    profile = ShapeProfile({name: DimensionRange(n, n, n) for name, n in sizes.items()})
    never = NeverCancelled()
    artifact = backend.compile(graph, device, profile, tmp_path / "artifact", ignore, never)
    session = backend.load(graph, artifact, device, ignore, never)
    assert session.run(sample_feeds())["doubled"].shape == (2, 8, 14, 10)


# --- stopping ---


@every_backend
def test_a_run_is_cancelled_from_another_thread(target: Target, tmp_path: Path) -> None:
    # So many that a graphics card, which is only told what to do, is not yet told all of it.
    layers = {"cpu": 60, "null": 60, SOFTWARE: 1_500}.get(target.device.id, 20_000)
    side = 32 if target.device.id == SOFTWARE else 1024
    graph = matmul_graph(target, tmp_path, side=side, layers=layers, name="long")
    feeds = {"x": np.ones((side, side), np.float32)}
    session, ended = target.load(graph), Event()

    def cancel_until_it_ends() -> None:
        while not ended.wait(0.005):
            session.cancel()

    canceller = Thread(target=cancel_until_it_ends)
    canceller.start()
    try:
        with pytest.raises(RunCancelled):
            session.run(feeds)
    finally:
        ended.set()
        canceller.join()
    with pytest.raises(RunCancelled):
        session.run(feeds)  # as is every later one
    session.close()
    fresh = target.load(msgspec.structs.replace(graph, name="short"))
    assert fresh.run({"x": feeds["x"][:1]})["y"].shape == (1, side)


@every_backend
def test_a_load_is_cancelled_before_it_begins(target: Target, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(RunCancelled):
        target.load(sample_graph(target, tmp_path), token)


# --- weights ---


@every_target
def test_weights_are_neither_written_to_nor_held_after_close(
    target: Target, tmp_path: Path
) -> None:
    graph = sample_graph(target, tmp_path)
    files = sorted(tmp_path.glob("*.safetensors"))
    before = [(file.read_bytes(), file.stat().st_mtime_ns) for file in files]
    assert len(files) == 2
    session = target.load(graph)
    first = session.run(sample_feeds())["doubled"]
    session.close()
    assert [(file.read_bytes(), file.stat().st_mtime_ns) for file in files] == before
    if sys.platform == "linux":
        assert str(tmp_path) not in Path("/proc/self/maps").read_text()
    for file, (content, _) in zip(files, before, strict=True):
        file.unlink()
        file.write_bytes(content)  # the same numbers in another file
    np.testing.assert_array_equal(target.load(graph).run(sample_feeds())["doubled"], first)


@every_runtime
@pytest.mark.parametrize("damage", ["missing", "empty", "short"])
def test_weights_that_are_gone_are_an_error(target: Target, tmp_path: Path, damage: str) -> None:
    graph = sample_graph(target, tmp_path)
    file = tmp_path / "weights 2.safetensors"
    file.unlink()
    if damage != "missing":
        file.write_bytes(b"" if damage == "empty" else b"1234567")
    with pytest.raises(BackendError):
        target.load(graph)


def measured(backend: str, folder: Path, what: str) -> list[int]:
    """Bytes of private memory, measured by `memory_probe` in a process of its own."""
    command = [sys.executable, "-m", "tests.backends.memory_probe", backend, str(folder), what]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="no way to tell private memory")


@linux_only
@every_host_runtime
def test_a_closed_session_leaves_no_memory_behind(target: Target, tmp_path: Path) -> None:
    """Twenty rounds of 20 MiB: glibc's allocator keeps up to two of them, from any round on."""
    after = measured(target.backend.name, tmp_path, "cycles")
    assert len(after) == 20
    assert max(after) - after[0] < 3.5 * SMALL_SIDE**2 * DType.F32.itemsize


@linux_only
@every_host_runtime
def test_weights_by_reference_cost_only_the_runtimes_packed_copy(
    target: Target, tmp_path: Path
) -> None:
    """A float32 matrix: one private copy, packed for its kernel. A table to look up in: none."""
    size = LARGE_SIDE**2 * DType.F32.itemsize
    for what, factor in (("products", 1.25), ("lookup", 0.25)):
        before, after = measured(target.backend.name, tmp_path, what)
        assert after - before < factor * size, what


@linux_only
def test_the_processor_reads_weights_where_they_are_if_it_is_asked_to(tmp_path: Path) -> None:
    before, after = measured("cpu", tmp_path, "in_place")
    assert after - before < 0.1 * LARGE_SIDE**2 * DType.F32.itemsize


@linux_only
def test_the_memory_that_openvino_holds_of_weights_in_blocks_is_told(tmp_path: Path) -> None:
    pytest.importorskip("openvino")
    told, before, after = measured("intel_openvino", tmp_path, "blocks")
    dense = 3 * LARGE_SIDE**2 * DType.F32.itemsize
    assert told < 0.4 * dense
    assert told == pytest.approx(after - before, rel=0.15)


@linux_only
def test_the_processor_keeps_no_memory_of_earlier_results(tmp_path: Path) -> None:
    before, after = measured("cpu", tmp_path, "results")
    assert after - before < 0.25 * LARGE_SIDE**2 * DType.F32.itemsize
