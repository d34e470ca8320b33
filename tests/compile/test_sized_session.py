"""One session for every size: of what was compiled for some, in parts, or loaded when it comes."""

from collections.abc import Callable, Mapping
from threading import Event, Thread

import numpy as np
import pytest

from backends.base import (
    Array,
    Cancellation,
    DeviceValue,
    DimensionRange,
    DType,
    Feeds,
    RunCancelled,
    ShapeProfile,
    TensorSpec,
    host_array,
    host_arrays,
    host_values,
)
from engine.compile.shapes import Sizes
from engine.compile.sized_session import SessionFor, SizedSession

SAMPLE = TensorSpec("sample", DType.F32, ("batch", 4, "height"))
CONTEXT = TensorSpec("context", DType.F32, ("contexts", "tokens"))
OUTPUT = TensorSpec("prediction", DType.F32, ("contexts", "height"))
INPUTS = (SAMPLE, CONTEXT)


class Fixed:
    """A session that runs at exactly the sizes it was loaded for."""

    inputs, outputs = INPUTS, (OUTPUT,)

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = dict(sizes)
        self.runs = self.pins = 0
        self.closed = self.cancelled = False
        self._pinned: dict[str, Array] = {}

    def run(self, feeds: Feeds) -> dict[str, Array]:
        if self.cancelled:
            raise RunCancelled
        given = {**self._pinned, **host_arrays(feeds)}
        sample, context = given["sample"], given["context"]
        assert (sample.shape[0], sample.shape[2]) == (self.sizes["batch"], self.sizes["height"])
        assert context.shape == (self.sizes["contexts"], self.sizes["tokens"])
        self.runs += 1
        times = context.shape[0] // sample.shape[0]
        return {"prediction": np.tile(sample.sum(1), (times, 1)) + context.sum(1)[:, None]}

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        return host_values(self.outputs, self.run(feeds))

    def pin(self, name: str, array: Array) -> None:
        self.pins += 1
        self._pinned[name] = array

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        self.closed = True


class Loader:
    """Loads sessions, and knows them all."""

    def __init__(self, within: Callable[[], None] = lambda: None) -> None:
        self.loaded: list[Fixed] = []
        self._within = within

    def __call__(self, sizes: Sizes, cancel: Cancellation) -> SessionFor:
        self._within()
        if cancel.is_set():
            raise RunCancelled
        self.loaded.append(Fixed(sizes))
        exact = {name: DimensionRange(size, size, size) for name, size in sizes.items()}
        return SessionFor(self.loaded[-1], ShapeProfile(exact))


class _Nobody:
    def is_set(self) -> bool:
        return False


def session(loader: Loader, **sizes: int) -> SizedSession:
    first = loader(sizes, _Nobody()) if sizes else None  # pyright: ignore[reportArgumentType]
    return SizedSession(INPUTS, (OUTPUT,), loader, first)


def feeds(batch: int, contexts: int, height: int = 8, tokens: int = 3) -> dict[str, Array]:
    random = np.random.default_rng(contexts)
    return {
        "sample": random.standard_normal((batch, 4, height), np.float32),
        "context": random.standard_normal((contexts, tokens), np.float32),
    }


def expected(given: Mapping[str, Array]) -> Array:
    sample, context = given["sample"], given["context"]
    times = len(context) // len(sample)
    return np.tile(sample.sum(1), (times, 1)) + context.sum(1)[:, None]


@pytest.mark.parametrize("contexts", [1, 2, 3, 4, 7])
def test_other_numbers_of_prompts_run_in_parts(contexts: int) -> None:
    loader = Loader()
    sized = session(loader, batch=1, contexts=2, height=8, tokens=3)
    given = feeds(1, contexts)
    np.testing.assert_allclose(sized.run(given)["prediction"], expected(given), rtol=1e-6)
    (loaded,) = loader.loaded
    assert loaded.runs == (contexts + 1) // 2


class Picking(Fixed):
    """A session whose rows are picked among its contexts, as those of a ControlNet."""

    inputs = (CONTEXT, TensorSpec("row_contexts", DType.I64, ("rows",)))
    outputs = (TensorSpec("control", DType.F32, ("rows", "tokens")),)

    def run(self, feeds: Feeds) -> dict[str, Array]:
        context, rows = (host_array(feeds[spec.name]) for spec in self.inputs)
        assert context.shape == (self.sizes["contexts"], self.sizes["tokens"])
        assert rows.shape == (self.sizes["rows"],)
        self.runs += 1
        return {"control": context[rows]}


@pytest.mark.parametrize(
    ("contexts", "rows", "loads"),
    [(2, (0, 1), 1), (1, (0, 0), 1), (2, (1,), 1), (1, (0,), 1), (2, (0, 1, 0), 2), (3, (2,), 2)],
)
def test_rows_that_are_picked_are_padded_and_not_parted(
    contexts: int, rows: tuple[int, ...], loads: int
) -> None:
    loaded: list[Picking] = []

    def load(sizes: Sizes, cancel: Cancellation) -> SessionFor:
        loaded.append(Picking(sizes))
        exact = {name: DimensionRange(size, size, size) for name, size in sizes.items()}
        return SessionFor(loaded[-1], ShapeProfile(exact))

    first = load({"contexts": 2, "tokens": 3, "rows": 2}, _Nobody())  # pyright: ignore[reportArgumentType]
    sized = SizedSession(Picking.inputs, Picking.outputs, load, first)
    context = np.random.default_rng(0).standard_normal((contexts, 3), np.float32)
    given = {"context": context, "row_contexts": np.array(rows, np.int64)}
    np.testing.assert_array_equal(sized.run(given)["control"], context[list(rows)])
    left = sized.run_on_device(given)["control"]
    np.testing.assert_array_equal(left.numpy(), context[list(rows)])
    assert len(loaded) == loads


@pytest.mark.parametrize(
    "other", [feeds(1, 2, height=16), feeds(1, 2, tokens=6), feeds(2, 4), feeds(2, 2)]
)
def test_other_sizes_are_loaded_once(other: dict[str, Array]) -> None:
    loader = Loader()
    sized = session(loader, batch=1, contexts=2, height=8, tokens=3)
    usual = feeds(1, 2)
    for given in (usual, other, usual, other):
        np.testing.assert_allclose(sized.run(given)["prediction"], expected(given), rtol=1e-6)
    assert [loaded.runs for loaded in loader.loaded] == [2, 2]
    sized.close()
    assert all(loaded.closed for loaded in loader.loaded)


def test_sizes_that_nobody_knew_before(  # as of a network that does not say
) -> None:
    loader = Loader()
    sized = session(loader)
    assert loader.loaded == []
    given = feeds(1, 2)
    np.testing.assert_allclose(sized.run(given)["prediction"], expected(given), rtol=1e-6)
    assert loader.loaded[0].sizes == {"batch": 1, "height": 8, "contexts": 2, "tokens": 3}


def test_a_pinned_input_is_handed_once_to_each_session_that_runs() -> None:
    loader = Loader()
    sized = session(loader, batch=1, contexts=2, height=8, tokens=3)
    given = feeds(1, 2)
    sized.pin("context", given["context"])
    for _ in range(3):
        result = sized.run({"sample": given["sample"]})["prediction"]
        np.testing.assert_allclose(result, expected(given), rtol=1e-6)
    assert loader.loaded[0].pins == 1
    # Another array of another size, and then the first one again.
    more = feeds(1, 5)
    sized.pin("context", more["context"])
    result = sized.run({"sample": more["sample"]})["prediction"]
    np.testing.assert_allclose(result, expected(more), rtol=1e-6)
    sized.pin("context", given["context"])
    result = sized.run({"sample": given["sample"]})["prediction"]
    np.testing.assert_allclose(result, expected(given), rtol=1e-6)


def test_to_cancel_ends_every_session_and_those_that_come() -> None:
    loader = Loader()
    sized = session(loader, batch=1, contexts=2, height=8, tokens=3)
    sized.cancel()
    with pytest.raises(RunCancelled):
        sized.run(feeds(1, 2))
    with pytest.raises(RunCancelled):
        sized.run(feeds(1, 2, height=16))
    assert len(loader.loaded) == 1


def test_to_cancel_stops_what_is_being_loaded() -> None:
    began, stopped = Event(), Event()
    sized: SizedSession

    def wait() -> None:
        with sized.calling(stopped.set):
            began.set()
            assert stopped.wait(60)

    sized = session(Loader(wait))
    failures: list[BaseException] = []

    def run() -> None:
        try:
            sized.run(feeds(1, 2))
        except RunCancelled as error:
            failures.append(error)

    running = Thread(target=run)
    running.start()
    assert began.wait(60)
    sized.cancel()
    running.join()
    assert len(failures) == 1
