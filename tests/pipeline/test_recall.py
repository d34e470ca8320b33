"""Calls of encoders that are known: which ones are, and what follows for precisions and times."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DeviceValue, DType, Feeds, HostValue, Precision, TensorSpec
from backends.null import NullBackend, Script
from engine.api.request import InputImage
from engine.api.values import InputRole, Phase
from engine.compile.estimates import Estimates
from engine.compile.kept_results import KeptResults, Results
from engine.pipeline.recall import RecallingSession, UnknownResultError
from tests.image_prompts.files import write_picture
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import a_request, run
from tests.pipeline.test_forecast import TAKES, make

BF16, F32 = Precision.BF16, Precision.F32
TOKENS = np.arange(6, dtype=np.int64).reshape(2, 3)


class Doubling:
    """A session that doubles its tokens, times the strength, and counts its runs."""

    inputs = (
        TensorSpec("tokens", DType.I64, ("rows", 3)),
        TensorSpec("strength", DType.F32, (1,)),
    )
    outputs = (TensorSpec("doubled", DType.F32, ("rows", 3)),)

    def __init__(self) -> None:
        self.runs = 0
        self.pinned: dict[str, Array] = {}

    def run(self, feeds: Feeds) -> dict[str, Array]:
        self.runs += 1
        given = {**self.pinned, **feeds}
        tokens, strength = given["tokens"], given["strength"]
        assert isinstance(tokens, np.ndarray)
        assert isinstance(strength, np.ndarray)
        return {"doubled": (tokens * 2 * strength).astype(np.float32)}

    def run_on_device(self, feeds: Feeds) -> Mapping[str, DeviceValue]:
        return {name: HostValue(array, DType.F32) for name, array in self.run(feeds).items()}

    def pin(self, name: str, array: Array) -> None:
        self.pinned[name] = array

    def cancel(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Kept:
    """The results that sessions made so far."""

    def __init__(self) -> None:
        self.results: dict[str, Results] = {}
        self.session = Doubling()

    def ask(self, tokens: Array, strength: float | None = 1.0, *, loaded: bool = True) -> Array:
        """Run a session of a new job."""
        session = self.session if loaded else None
        asked = RecallingSession(
            Doubling.inputs,
            Doubling.outputs,
            self.results.get,
            session,  # pyright: ignore[reportArgumentType]
        )
        if strength is not None:
            asked.pin("strength", np.array([strength], np.float32))
        made = asked.run({"tokens": tokens})["doubled"]
        self.results |= asked.made
        return made


def test_a_known_call_needs_no_network() -> None:
    kept = Kept()
    with pytest.raises(UnknownResultError):
        kept.ask(TOKENS, loaded=False)
    first = kept.ask(TOKENS)
    assert kept.ask(TOKENS.copy(), loaded=False) is first
    assert kept.session.runs == 1
    with pytest.raises(ValueError, match="read-only"):
        first += 1


@pytest.mark.parametrize(
    ("tokens", "strength"),
    [
        (TOKENS + 1, 1.0),
        (TOKENS.astype(np.int32), 1.0),
        (TOKENS.reshape(1, 6), 1.0),
        (TOKENS.T, 1.0),
        (TOKENS, 0.5),
    ],
    ids=["numbers", "type", "shape", "order", "pinned"],
)
def test_any_difference_of_the_inputs_is_another_call(tokens: Array, strength: float) -> None:
    kept = Kept()
    kept.ask(TOKENS)
    kept.ask(tokens, strength)
    assert kept.session.runs == 2


def test_a_call_that_relies_on_what_somebody_pinned_before_is_not_kept() -> None:
    kept = Kept()
    kept.session.pin("strength", np.ones(1, np.float32))
    for _ in range(2):
        kept.ask(TOKENS, None)
    assert kept.session.runs == 2
    assert kept.results == {}


def test_results_with_a_fault_are_not_kept(tiny: Path) -> None:
    """The next job tries the same precisions, and records the same."""
    script = Script(offset=float("nan"), precisions=frozenset({BF16}))
    backend, results = CountingBackend({"text_encoder": script}), KeptResults()
    first = run(a_request(tiny), backend, (BF16, F32), results=results)
    backend.loads.clear()
    again = run(a_request(tiny), backend, (BF16, F32), results=results)
    assert len(first.retries) == 1
    assert again.retries == first.retries
    assert [precision for name, precision in backend.loads if name == "text_encoder"] == [BF16, F32]
    # What the safer precision made is of use where it comes first.
    backend.loads.clear()
    run(a_request(tiny), backend, (F32,), results=results)
    assert "text_encoder" not in [name for name, _ in backend.loads]


def test_phases_that_will_not_happen_are_not_promised(tiny: Path, tmp_path: Path) -> None:
    """From the first phase on, which reads the start picture."""
    picture = InputImage(role=InputRole.INIT, path=str(write_picture(tmp_path / "start.png")))
    estimates, results = Estimates(None), KeptResults()
    request = a_request(tiny, inputs=(picture,), strength=1.0)
    first = make(request, estimates, results=results)
    again = make(request, estimates, results=results)
    # The start picture and the prompt, then the start picture alone.
    assert [log.phases.count(Phase.ENCODE) for log in (first, again)] == [2, 1]
    loading, denoising = TAKES[Phase.COMPILE], TAKES[Phase.DENOISE]
    after = loading + denoising + loading + TAKES[Phase.DECODE] + TAKES[Phase.SAVE]
    phase, promised = again.told[0]
    assert phase is Phase.COMPILE
    assert promised.after_s == pytest.approx(TAKES[Phase.ENCODE] + after)


def test_without_a_store_nothing_is_kept(tiny: Path) -> None:
    backend = CountingBackend()
    for _ in range(2):
        run(a_request(tiny), backend, together=True)
    assert [name for name, _ in backend.loads].count("text_encoder") == 2


def test_another_device_encodes_anew(tiny: Path) -> None:
    results = KeptResults()
    run(a_request(tiny), NullBackend(), results=results)
    backend = CountingBackend()
    device = backend.probe()[0]
    backend.probe = lambda: [type(device)("null", "other", device.name, device.precisions)]
    run(a_request(tiny), backend, results=results)
    assert "text_encoder" in [name for name, _ in backend.loads]
