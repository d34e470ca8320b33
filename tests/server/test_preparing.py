"""A device that must compile first: the engine begins on another one, and compiles beside it.

The null backend plays the compiler, in processes of its own; the processor is the other device.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import msgspec
import pytest

from backends.base import ShapeSupport
from backends.null import Compiling
from engine.api.machine import ArtifactInfo
from engine.api.messages import (
    CancelJob,
    Hello,
    ImageSaved,
    JobCancelled,
    JobFinished,
    JobPhase,
    JobWarned,
    RunJob,
)
from engine.api.values import ArtifactKind, ErrorCode, Phase
from engine.compile.cache import NetworkCache
from tests.app.supervised import is_alive
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import Conversation, scripted
from tests.server.scripted_engine import Plan
from tests.tiny_checkpoint import SIDE

NULL, NETWORKS = "computes nothing, for tests", {"text_encoder", "denoiser", "vae_decoder"}


@dataclass
class Studio:
    """An engine that prefers a device that compiles."""

    start: Start
    folder: Path
    compiling: Compiling

    def open(self) -> Conversation:
        environment = os.environ | self.compiling.as_environment()
        return self.start(scripted(Plan(preferred=True)), environment)

    @property
    def begun(self) -> list[str]:
        """The networks whose compile was begun, in order."""
        journal = Path(self.compiling.journal)
        return journal.read_text().split() if journal.exists() else []

    def let_go_on(self) -> None:
        Path(self.compiling.gate).touch()

    @property
    def cache(self) -> NetworkCache:
        return NetworkCache(self.folder / "cache")

    def wait_until_kept(self, count: int) -> tuple[ArtifactInfo, ...]:
        while len(listed := self.cache.artifacts.listed()) < count:
            sleep(0.05)
        return listed

    def left(self) -> list[str]:
        """The unfinished files in the folder of artifacts."""
        folder = self.folder / "cache" / "compiled"
        return [path.name for path in folder.iterdir() if path.suffix == ".part"]


@pytest.fixture
def studio(start: Start, tmp_path: Path) -> Studio:
    compiling = Compiling(
        interruptible=False, gate=str(tmp_path / "gate"), journal=str(tmp_path / "journal")
    )
    return Studio(start, tmp_path, compiling)


@pytest.fixture
def auto(job: MakeJob) -> MakeJob:
    """A job on whatever device is best."""

    def make(name: str, **changes: object) -> RunJob:
        return job(name, backend="auto", **changes)

    return make


def finished(talk: Conversation, job: str) -> JobFinished:
    return talk.wait_for(JobFinished, lambda event: event.job == job)


def wait(condition: Callable[[], bool]) -> None:
    while not condition():
        sleep(0.01)


def test_the_first_picture_is_made_elsewhere_and_the_next_where_it_was_prepared(
    studio: Studio, auto: MakeJob
) -> None:
    talk = studio.open()
    talk.send(auto("first"))
    first = finished(talk, "first")
    assert first.device != NULL
    (notice,) = first.warnings
    assert notice.code is ErrorCode.PREPARING
    assert f"Preparing tiny for {NULL}, once" in notice.message
    assert "ONNX Runtime" in notice.message
    told = talk.wait_for(JobWarned)
    assert told == JobWarned(job="first", warning=notice)
    encoding = talk.wait_for(JobPhase, lambda event: event.phase is Phase.ENCODE)
    assert talk.events.index(told) < talk.events.index(encoding)
    saved = talk.wait_for(ImageSaved, lambda event: event.job == "first")
    assert saved.record.warnings == (notice,)
    assert saved.record.choice == "null is being prepared"

    studio.let_go_on()
    kept = studio.wait_until_kept(len(NETWORKS))
    assert {artifact.network for artifact in kept} == NETWORKS
    assert {artifact.kind for artifact in kept} == {ArtifactKind.COMPILED_NETWORK}
    assert {artifact.device for artifact in kept} == {NULL}
    talk.send(auto("second"))
    second = finished(talk, "second")
    assert (second.device, second.warnings) == (NULL, ())
    assert sorted(studio.begun) == sorted(NETWORKS)
    talk.shut_down()

    # And the next engine compiles nothing either.
    talk = studio.open()
    talk.send(auto("third"))
    assert finished(talk, "third").device == NULL
    assert len(studio.begun) == len(NETWORKS)
    assert studio.left() == []
    talk.shut_down()


def test_a_job_that_is_stopped_does_not_stop_the_compiler(studio: Studio, auto: MakeJob) -> None:
    talk = studio.open()
    talk.send(auto("long", steps=1000, width=256, height=256))
    talk.wait_for(JobPhase, lambda event: event.phase is Phase.DENOISE)
    wait(lambda: len(studio.begun) == 1)
    talk.send(CancelJob(job="long"))
    talk.wait_for(JobCancelled)
    studio.let_go_on()
    studio.wait_until_kept(len(NETWORKS))
    assert len(studio.begun) == len(NETWORKS)
    talk.shut_down()


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes as Linux lists them")
@pytest.mark.parametrize("killed", [False, True])
def test_the_end_of_the_engine_is_that_of_its_compiler(
    studio: Studio, auto: MakeJob, killed: bool
) -> None:
    talk = studio.open()
    talk.send(auto("first"))
    finished(talk, "first")
    wait(lambda: len(studio.begun) == 1)
    (compiler,) = children_of(talk.wait_for(Hello).pid)
    if killed:
        talk.process.send_signal(signal.SIGKILL)
        talk.wait_for_end()
    else:
        talk.shut_down()
        assert studio.left() == []
    wait(lambda: not is_alive(compiler))
    # Nothing of it is in the way of the next engine.
    studio.let_go_on()
    talk = studio.open()
    talk.send(auto("second"))
    finished(talk, "second")
    studio.wait_until_kept(len(NETWORKS))
    wait(lambda: studio.left() == [])
    talk.shut_down()


def children_of(pid: int) -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]


def test_a_compiler_that_dies_is_not_tried_again(studio: Studio, auto: MakeJob) -> None:
    studio.compiling = msgspec.structs.replace(studio.compiling, crashes=("denoiser",))
    studio.let_go_on()
    talk = studio.open()
    talk.send(auto("first"))
    finished(talk, "first")
    studio.wait_until_kept(2)
    wait(lambda: len(studio.begun) == len(NETWORKS))
    for name in ("second", "third"):
        talk.send(auto(name))
        assert finished(talk, name).device != NULL
    assert studio.begun.count("denoiser") == 1
    talk.shut_down()


def test_a_device_that_was_asked_for_is_waited_for(studio: Studio, job: MakeJob) -> None:
    studio.let_go_on()
    talk = studio.open()
    talk.send(job("first", backend="null"))
    first = finished(talk, "first")
    assert (first.device, first.warnings) == (NULL, ())
    assert sorted(studio.begun) == sorted(NETWORKS)
    talk.shut_down()


def test_a_loaded_network_stays_in_the_cache_when_that_is_cleared(
    studio: Studio, auto: MakeJob
) -> None:
    """Networks stay loaded between jobs, and know what they were compiled to."""
    studio.let_go_on()
    talk = studio.open()
    talk.send(auto("first"))
    finished(talk, "first")
    studio.wait_until_kept(len(NETWORKS))
    talk.send(auto("second"))
    assert finished(talk, "second").device == NULL
    studio.cache.remove()
    assert {artifact.network for artifact in studio.cache.artifacts.listed()} == NETWORKS
    talk.send(auto("third", prompt="a prompt that is not known"))
    assert finished(talk, "third").device == NULL
    assert [event for event in talk.of(JobPhase) if event.job == "third"][1].phase is Phase.ENCODE
    assert len(studio.begun) == len(NETWORKS)
    talk.shut_down()


@pytest.mark.parametrize(
    ("shapes", "compiles"), [(ShapeSupport.DYNAMIC, 3), (ShapeSupport.RANGES, 3)]
)
def test_another_size_is_prepared_where_the_runtime_must(
    studio: Studio, auto: MakeJob, shapes: ShapeSupport, compiles: int
) -> None:
    studio.compiling = msgspec.structs.replace(studio.compiling, shapes=shapes)
    studio.let_go_on()
    talk = studio.open()
    talk.send(auto("first"))
    finished(talk, "first")
    studio.wait_until_kept(len(NETWORKS))
    talk.send(auto("second", width=2 * SIDE))
    assert finished(talk, "second").device == NULL
    assert len(studio.begun) == compiles
    talk.shut_down()


def test_a_size_of_its_own_is_prepared_beside(studio: Studio, auto: MakeJob) -> None:
    studio.compiling = msgspec.structs.replace(studio.compiling, shapes=ShapeSupport.STATIC)
    studio.let_go_on()
    talk = studio.open()
    talk.send(auto("first"))
    finished(talk, "first")
    studio.wait_until_kept(len(NETWORKS))
    talk.send(auto("second", width=2 * SIDE))
    second = finished(talk, "second")
    assert second.device != NULL
    assert second.warnings[0].code is ErrorCode.PREPARING
    # The text encoder knows no sizes of pictures.
    studio.wait_until_kept(len(NETWORKS) + 2)
    for name, width in (("third", 2 * SIDE), ("fourth", SIDE)):
        talk.send(auto(name, width=width))
        assert finished(talk, name).device == NULL
    assert len(studio.begun) == len(NETWORKS) + 2
    talk.shut_down()
