"""A job is a straight pipe: few modules see the request, and it seldom comes back to one."""

import sys
from types import FrameType

import pytest

from engine.api.record import ResolvedRequest
from engine.api.request import GenerateRequest
from engine.api.values import PrecisionName
from engine.cancel import CancelToken
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.output.names import Destination
from tests.tiny_checkpoint import SIDE, write_checkpoint

# Measured before the job was a pipe: 38 modules and 49 returns, by following the names statically.
# One of these takes from a request all that decides how often a denoiser is asked.
MOST_MODULES = 21
MOST_RETURNS = 12


class Journey:
    """The modules of the engine whose functions are called with a request, in order.

    A stay in a module lasts until another module is called with a request.
    """

    def __init__(self) -> None:
        self.stays: list[str] = []
        self.calls: list[str] = []
        # A generator's frame is entered each time it goes on, with the same request.
        self._seen: set[FrameType] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event != "call" or not module.startswith("engine.") or frame in self._seen:
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        values = (frame.f_locals.get(name) for name in names)
        if not any(isinstance(value, GenerateRequest | ResolvedRequest) for value in values):
            return
        self._seen.add(frame)
        self.calls.append(f"{module}.{code.co_qualname}")
        if self.stays[-1:] != [module]:
            self.stays.append(module)

    @property
    def modules(self) -> set[str]:
        return set(self.stays)

    @property
    def returns(self) -> int:
        """The number of entries into a module that was left before."""
        return len(self.stays) - len(self.modules)


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Journey:
    folder = tmp_path_factory.mktemp("journey")
    request = GenerateRequest(
        prompt="a red horse",
        checkpoint=str(write_checkpoint(folder / "tiny")),
        width=SIDE,
        height=SIDE,
        steps=2,
        backend="cpu",
        precision=PrecisionName.F32,
    )
    runner = JobRunner(JobServices.in_cache(folder / "cache"))
    saver, journey = PictureSaver(Destination(folder / "out")), Journey()
    sys.setprofile(journey)
    try:
        runner.run(request, saver, SilentReporter(), CancelToken())
    finally:
        sys.setprofile(None)
    return journey


def test_the_request_enters_few_modules(journey: Journey) -> None:
    assert "engine.pipeline.resolve" in journey.modules
    assert len(journey.modules) <= MOST_MODULES, sorted(journey.modules)


def test_the_request_seldom_returns_to_a_module_it_left(journey: Journey) -> None:
    assert journey.returns <= MOST_RETURNS, journey.stays


def test_a_request_is_resolved_once(journey: Journey) -> None:
    assert journey.calls.count("engine.pipeline.resolve.resolve") == 1
