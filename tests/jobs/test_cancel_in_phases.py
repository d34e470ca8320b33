"""A wish to stop ends a job in whatever phase it is, on every backend."""

from pathlib import Path
from threading import Thread

import pytest

from backends.registry import BACKENDS
from engine.api.request import GenerateRequest
from engine.api.values import Phase
from engine.errors import Cancelled
from engine.jobs.cancel import CancelToken
from engine.jobs.runner import JobRunner, SilentReporter
from engine.jobs.saving import PictureSaver, SavedImage
from tests.tiny_checkpoint import SIDE, write_checkpoint

# Those that compute on this machine; torch is a runtime of its own.
USABLE = [
    reference.name
    for reference in BACKENDS
    if any(device.usable for device in reference.create().probe())
]
PHASES = (Phase.LOAD, Phase.COMPILE, Phase.ENCODE, Phase.DENOISE, Phase.DECODE)


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


@pytest.mark.parametrize("backend", USABLE)
@pytest.mark.parametrize(
    ("phase", "nth"),
    [*((phase, 1) for phase in PHASES), (Phase.COMPILE, 2), (Phase.COMPILE, 3)],
    ids=str,
)
def test_no_further_phase_begins(
    tiny: Path, tmp_path: Path, backend: str, phase: Phase, nth: int
) -> None:
    reporter = Stopping(phase, nth)
    with pytest.raises(Cancelled):
        JobRunner(tmp_path / "cache").run(
            request(tiny, backend), saver(tmp_path), reporter, reporter.token
        )
    assert reporter.begun[-1] is phase
    assert reporter.begun.count(phase) == nth
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("backend", USABLE)
def test_a_picture_that_is_decoded_is_saved_and_no_further_one_begun(
    tiny: Path, tmp_path: Path, backend: str
) -> None:
    reporter = Stopping(Phase.SAVE, 1)
    with pytest.raises(Cancelled):
        JobRunner(tmp_path / "cache").run(
            request(tiny, backend, count=2), saver(tmp_path), reporter, reporter.token
        )
    (saved,) = reporter.saved
    assert list((tmp_path / "out").iterdir()) == [saved.path]


def request(checkpoint: Path, backend: str, count: int = 1) -> GenerateRequest:
    return GenerateRequest(
        prompt="a red horse",
        checkpoint=str(checkpoint),
        width=SIDE,
        height=SIDE,
        steps=2,
        seed=1,
        backend=backend,
        count=count,
    )


def saver(folder: Path) -> PictureSaver:
    return PictureSaver(str(folder / "out") + "/", 1)
