"""A wish to stop ends a job in whatever phase it is, on every backend."""

from pathlib import Path
from threading import Thread

import msgspec
import pytest

from backends.base import (
    DType,
    Graph,
)
from backends.registry import BACKENDS
from engine.api.request import GenerateRequest
from engine.api.values import Phase, PrecisionName
from engine.cancel import CancelToken
from engine.errors import Cancelled
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver, SavedImage
from engine.jobs.services import JobServices
from engine.output import destination
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import Log, a_request, run
from tests.tiny_checkpoint import SIDE, write_checkpoint

# Those that compute on this machine; torch is a runtime of its own.
USABLE = [
    reference.name
    for reference in BACKENDS
    if any(device.usable for device in reference.create().probe())
]
PHASES = (Phase.LOAD, Phase.COMPILE, Phase.ENCODE, Phase.DENOISE, Phase.DECODE)
WISHES = [*((phase, 1) for phase in PHASES), (Phase.COMPILE, 2), (Phase.COMPILE, 3)]
# These come after the denoiser has run.
LATE = [(Phase.DECODE, 1), (Phase.COMPILE, 3)]


def ring(backend: str, wish: tuple[Phase, int] | None = None) -> list[pytest.MarkDecorator]:
    """WebGPU on a processor takes half a minute for what the processor takes half a second for.

    OpenVINO takes one or two, as it compiles first.
    """
    if backend == "intel_openvino":
        return [] if wish == (Phase.COMPILE, 1) else [pytest.mark.oracle]
    if backend != "webgpu":
        return []
    return [pytest.mark.slow if wish in LATE else pytest.mark.oracle]


class Stopping(SilentReporter):
    """Asks to stop, from another thread, when a phase begins for the nth time."""

    def __init__(self, phase: Phase, nth: int) -> None:
        self.token = CancelToken()
        self.begun: list[Phase] = []
        self.saved: list[SavedImage] = []
        self._phase, self._nth = phase, nth

    def phase(self, phase: Phase) -> None:
        self.begun.append(phase)
        if phase is self._phase and self.begun.count(phase) == self._nth:
            asker = Thread(target=self.token.cancel)
            asker.start()
            asker.join()

    def image_saved(self, image: SavedImage) -> None:
        self.saved.append(image)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.mark.parametrize(
    ("backend", "phase", "nth"),
    [
        pytest.param(backend, *wish, marks=ring(backend, wish))
        for backend in USABLE
        for wish in WISHES
    ],
)
def test_no_further_phase_begins(
    tiny: Path, tmp_path: Path, backend: str, phase: Phase, nth: int
) -> None:
    reporter = Stopping(phase, nth)
    with pytest.raises(Cancelled):
        JobRunner(JobServices.in_cache(tmp_path / "cache")).run(
            request(tiny, backend), saver(tmp_path), reporter, reporter.token
        )
    assert reporter.begun[-1] is phase
    assert reporter.begun.count(phase) == nth
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "backend", [pytest.param(name, marks=ring(name, LATE[0])) for name in USABLE]
)
def test_a_picture_that_is_decoded_is_saved_and_no_further_one_begun(
    tiny: Path, tmp_path: Path, backend: str
) -> None:
    reporter = Stopping(Phase.SAVE, 1)
    with pytest.raises(Cancelled):
        JobRunner(JobServices.in_cache(tmp_path / "cache")).run(
            request(tiny, backend, count=2), saver(tmp_path), reporter, reporter.token
        )
    (saved,) = reporter.saved
    assert list((tmp_path / "out").iterdir()) == [saved.path]


class StoppingInProgress(Stopping):
    """Asks to stop when a phase that has begun tells for the first time that something is done."""

    def __init__(self, phase: Phase) -> None:
        super().__init__(phase, 0)
        self.told: list[tuple[int, int]] = []

    def progress(self, done: int, total: int) -> None:
        if self.begun[-1] is self._phase:
            self.told.append((done, total))
            self.token.cancel()


def test_weights_are_not_converted_to_the_end(tmp_path: Path) -> None:
    half = write_checkpoint(tmp_path / "half", dtype=DType.F16)
    reporter = StoppingInProgress(Phase.COMPILE)
    wish = msgspec.structs.replace(request(half, "null"), precision=PrecisionName.F32)
    with pytest.raises(Cancelled):
        JobRunner(JobServices.in_cache(tmp_path / "cache")).run(
            wish, saver(tmp_path), reporter, reporter.token
        )
    ((done, total),) = reporter.told
    assert 0 < done < total
    assert reporter.begun[-1] is Phase.COMPILE


class Stubborn(CountingBackend):
    """Asked to stop in the midst of a load it finishes the load, as OpenVINO does."""

    def __init__(self, network: str, token: CancelToken) -> None:
        super().__init__()
        self._network, self._token = network, token

    def after_load(self, graph: Graph) -> None:
        if graph.name == self._network:
            self._token.cancel()


@pytest.mark.parametrize("network", ["text_encoder", "denoiser", "vae_decoder"])
def test_a_load_that_cannot_be_stopped_is_finished_and_freed_and_nothing_follows(
    tiny: Path, network: str
) -> None:
    token, log = CancelToken(), Log()
    backend = Stubborn(network, token)
    with pytest.raises(Cancelled):
        run(a_request(tiny), backend, log=log, cancel=token)
    assert network in [name for name, _ in backend.loads]
    assert backend.open_now == []
    # The denoiser loads while the prompt is read.
    assert log.phases[-1] is Phase.COMPILE or network == "denoiser"
    assert Phase.DECODE not in log.phases
    assert (Phase.DENOISE in log.phases) == (network == "vae_decoder")


def request(checkpoint: Path, backend: str, count: int = 1) -> GenerateRequest:
    return GenerateRequest(
        prompt="a red horse",
        checkpoint=str(checkpoint),
        width=SIDE,
        height=SIDE,
        steps=1,
        guidance=1.0,
        seed=1,
        backend=backend,
        count=count,
    )


def saver(folder: Path) -> PictureSaver:
    return PictureSaver(destination(str(folder / "out") + "/", 1))
