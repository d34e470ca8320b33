"""The real engine killed in each place, and the app killed while it works."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random

import msgspec
import pytest
from PIL import Image
from PySide6.QtCore import QTimer

from app.engine.connection import EngineCommand
from app.engine.end import EngineEnd
from app.engine.process import Supervision
from app.queue.job_queue import JobQueue
from app.queue.jobs import JobState
from engine.api.messages import Event, JobPhase, JobPreview, JobProgress
from engine.api.request import GenerateRequest
from tests.app.conftest import Supervise
from tests.app.downloads.test_disk import can_mount
from tests.app.dying_engine import Moment
from tests.app.requests import generation_of
from tests.app.supervised import QUICK, Supervised, forked_engine, is_alive
from tests.app.test_environment import HOSTILE
from tests.forks import forked
from tests.metadata.records import read_record
from tests.server.scripted_engine import Misdeed, Plan
from tests.tiny_checkpoint import SIDE, write_checkpoint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
HERE = Path(__file__).parent
# At each kind of moment some points of a job; `make thorough` has every point, two hundred in all.
KILLS = pytest.mark.parametrize(
    ("moment", "kills"),
    [
        *((moment, 2) for moment in Moment),
        *(pytest.param(moment, 50, marks=pytest.mark.slow) for moment in Moment),
    ],
)
LONG_MS = 250_000


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole small checkpoint."""
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")


class Pictures:
    """The output folder: every name in it stands for a whole picture that never changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[Path, bytes] = {}

    def check(self, _end: EngineEnd | None = None) -> None:
        """Look at what is new, and whether what was there is as it was."""
        found = set(self._folder.glob("*.png"))
        assert found >= set(self._seen)
        for path in found - set(self._seen):
            with Image.open(path) as image:
                assert image.size == (SIDE, SIDE)
                image.load()
        contents = {path: path.read_bytes() for path in found}
        assert contents.items() >= self._seen.items()
        self._seen = contents

    def count(self) -> int:
        return len(self._seen)

    def seeds(self) -> list[int]:
        """The seeds of all that were seen."""
        records = map(read_record, sorted(self._seen))
        return [record.request.seed for record in records if record is not None]


def dying_engine(folder: Path, moment: Moment) -> EngineCommand:
    folder.mkdir()
    script = str(HERE / "dying_engine.py")
    program, *rest = forked(script, str(folder), moment.value, "--parent", str(os.getpid()))
    return EngineCommand(program, tuple(rest))


class Assassin:
    """Kills the engine while it is at a job, after so many of its events and a moment more."""

    def __init__(self, engine: Supervised, queue: JobQueue) -> None:
        self._engine = engine
        self._queue = queue
        self._random = Random(7)
        self._left = 0
        self._job = ""
        engine.process.received.connect(self._on_event)
        engine.process.ended.connect(self._on_ended)

    def _on_event(self, event: Event, _payload: bytes) -> None:
        job = self._queue.running
        if not isinstance(event, JobPhase | JobProgress | JobPreview) or job is None:
            return
        if job.id != self._job and job.attempts == 1:
            self._job, self._left = job.id, self._random.randint(1, 16)
        if self._left:
            self._left -= 1
            if self._left == 0:
                pid = self._engine.pid
                QTimer.singleShot(self._random.randint(0, 4), lambda: _kill(pid))

    def _on_ended(self, _end: EngineEnd) -> None:
        # The second try of a job, which may not be the one that was meant, is to go well.
        self._left = 0


def _kill(pid: int) -> None:
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)


@KILLS
def test_an_engine_killed_anywhere_costs_no_picture(
    supervise: Supervise, tmp_path: Path, tiny: Path, moment: Moment, kills: int
) -> None:
    """Each job is tried once more and then made; whatever has a picture's name is a picture."""
    patient = msgspec.structs.replace(QUICK, restart_ms=(0,), crash_window_s=0.0)
    engine = supervise(supervision=patient, command=dying_engine(tmp_path / "deaths", moment))
    queue = JobQueue(engine.client, tmp_path / "state")
    pictures = Pictures(tmp_path / "out")
    killer = Assassin(engine, queue) if moment is Moment.ANY else None
    engine.client.engine_ended.connect(pictures.check)
    engine.start()
    request = GenerateRequest(
        prompt="a red horse",
        checkpoint=str(tiny),
        width=SIDE,
        height=SIDE,
        steps=3,
        seed=1000,
        backend="null",
    )
    while len(engine.told.crashes) < kills:
        wanted = msgspec.structs.replace(request, count=kills - len(engine.told.crashes))
        request = msgspec.structs.replace(request, seed=(request.seed or 0) + wanted.count)
        jobs = queue.submit(wanted, tmp_path / "out")
        engine.wait(partial(_are_over, queue, jobs), LONG_MS)
    pictures.check()
    jobs = queue.jobs
    queue.close()
    states = Counter(job.state for job in jobs)
    again = sum(job.attempts == 2 for job in jobs)
    assert states == {JobState.DONE: len(jobs)}
    assert max(job.attempts for job in jobs) == 2
    assert all(Path(path).is_file() for job in jobs for path in job.images)
    assert all(len(job.images) == 1 for job in jobs)
    assert engine.told.given_up == []
    # A job whose prompt is known has fewer events, and may be over first.
    assert killer is None or 2 * again >= kills


# --- the app is killed ---


class Host:
    """An app in a process of its own."""

    def __init__(
        self,
        folder: Path,
        tiny: Path,
        plan: Plan,
        count: int,
        environment: Mapping[str, str] = os.environ,
        supervision: Supervision = Supervision(),  # noqa: B008 (immutable)
        within: Sequence[str] = (),
    ) -> None:
        """Start it; `within` is a command that runs its own."""
        plan_text = msgspec.json.encode(plan).decode()
        script = str(HERE / "host_app.py")
        numbers = str(count), str(supervision.ping_ms)
        command = [sys.executable, "-I", script, str(folder), plan_text, str(tiny), *numbers]
        self.process = subprocess.Popen(
            [*within, *command], stdout=subprocess.PIPE, text=True, env=dict(environment)
        )
        self.lines: list[str] = []

    def wait_for(self, beginning: str | tuple[str, ...]) -> str:
        """The next line that begins so, or in one of these ways."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith(beginning):
                return line
        raise AssertionError(f"no {beginning}: {self.lines}")

    def kill(self) -> None:
        """End it without a chance to say goodbye."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.lines += self.process.stdout
            self.process.stdout.close()

    def done(self) -> int:
        """The number of jobs that it told to be done."""
        return sum(line.startswith("job") and line.endswith("done\n") for line in self.lines)


@pytest.fixture
def hosts() -> Iterator[list[Host]]:
    started: list[Host] = []
    yield started
    for host in started:
        host.kill()


def test_an_app_killed_while_it_works_finds_its_queue_again(
    hosts: list[Host], supervise: Supervise, tmp_path: Path, tiny: Path
) -> None:
    slow = Plan(networks={"denoiser": Misdeed(run_seconds=0.2)})
    host = Host(tmp_path, tiny, slow, 3)
    hosts.append(host)
    pid = int(host.wait_for("engine").split()[1])
    while not host.wait_for("job").endswith("done\n"):
        pass
    # The first picture is made, the second is on its way.
    host.wait_for("step 1")
    host.kill()
    pictures = Pictures(tmp_path / "out")
    pictures.check()
    assert pictures.count() == 1
    engine = supervise(command=forked_engine(tmp_path / "packs"))
    engine.wait(lambda: not is_alive(pid))
    queue = JobQueue(engine.client, tmp_path / "state")
    assert [(job.state, job.attempts, generation_of(job).seed) for job in queue.jobs] == [
        (JobState.WAITING, 1, 8),
        (JobState.WAITING, 0, 9),
    ]
    engine.start()
    engine.wait(lambda: all(job.state is JobState.DONE for job in queue.jobs))
    pictures.check()
    assert pictures.count() == 3
    queue.close()


# From its first job to the telling of its last; `make thorough` has many more moments.
MOMENTS = pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))]
)


@MOMENTS
def test_an_app_killed_at_any_moment_loses_no_job_and_no_picture(
    hosts: list[Host], supervise: Supervise, tmp_path: Path, tiny: Path, seed: int
) -> None:
    """Kill it after so many lines about three jobs, and a moment more."""
    chance, slow = Random(seed), Plan(networks={"denoiser": Misdeed(run_seconds=0.03)})
    host = Host(tmp_path, tiny, slow, 3)
    hosts.append(host)
    pid = int(host.wait_for("engine").split()[1])
    for _ in range(chance.randint(1, 14)):
        host.wait_for(("job", "step"))
    time.sleep(chance.uniform(0, 0.06))
    host.kill()
    engine = supervise(command=forked_engine(tmp_path / "packs"))
    # Nobody tells it to end: its pipes do, or the kernel.
    engine.wait(lambda: not is_alive(pid))
    pictures = Pictures(tmp_path / "out")
    pictures.check()
    present = pictures.seeds()
    queue = JobQueue(engine.client, tmp_path / "state")
    waiting = [generation_of(job).seed for job in queue.jobs if job.state is JobState.WAITING]
    # One is done whose picture the journal has, though its engine's last word is missing.
    assert {job.state for job in queue.jobs} <= {JobState.WAITING, JobState.DONE}
    # What does not wait is made, and what waits keeps its order.
    assert waiting == [7, 8, 9][3 - len(waiting) :]
    assert set(present) >= {7, 8, 9} - set(waiting)
    assert host.done() <= 3 - len(waiting)
    engine.start()
    engine.wait(lambda: all(job.state is JobState.DONE for job in queue.jobs))
    pictures.check()
    assert set(pictures.seeds()) == {7, 8, 9}
    # One that was saved as the app died, before the journal had it, is made once more.
    assert len(pictures.seeds()) <= 4
    queue.close()


def test_an_engine_hung_in_native_code_ends_with_the_app(
    hosts: list[Host], supervise: Supervise, tmp_path: Path, tiny: Path
) -> None:
    """Block without letting the engine's own threads learn that the app is gone."""
    host = Host(tmp_path, tiny, Plan(hung=True), 1)
    hosts.append(host)
    pid = int(host.wait_for("engine").split()[1])
    while not host.wait_for("job").endswith("running\n"):
        pass
    host.kill()
    supervise().wait(lambda: not is_alive(pid))


def test_an_app_in_a_hostile_environment_makes_its_picture(
    hosts: list[Host], tmp_path: Path, tiny: Path
) -> None:
    host = Host(tmp_path, tiny, Plan(), 1, os.environ | HOSTILE)
    hosts.append(host)
    while not host.wait_for("job").endswith("done\n"):
        pass


def test_an_app_in_a_read_only_installation_makes_its_picture(
    hosts: list[Host], tmp_path: Path, tiny: Path
) -> None:
    if not can_mount():
        pytest.skip("no folder can be made read-only here")
    # A mount of its own, which nobody else sees and which ends with the command.
    protect = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    within = "unshare", "-rm", "sh", "-c", protect, str(HERE.parents[1])
    touched = subprocess.run([*within, "touch", str(HERE / "a")], check=False, capture_output=True)
    assert b"Read-only" in touched.stderr
    host = Host(tmp_path, tiny, Plan(), 1, within=within)
    hosts.append(host)
    while not host.wait_for("job").endswith("done\n"):
        pass


@pytest.mark.parametrize("hours", [8, -8])
def test_a_job_goes_on_after_the_computer_slept(
    hosts: list[Host], tmp_path: Path, tiny: Path, hours: int
) -> None:
    """Both programs stand still for longer than an engine may be silent, the app a moment less.

    The clock has jumped meanwhile: over the night, or back, as where it was wrong before.
    """
    clock, limits = tmp_path / "clock", Supervision(ping_ms=400)
    slow = {"denoiser": Misdeed(run_seconds=0.3)}
    plan = Plan(networks=slow, clock=str(clock))
    host = Host(tmp_path, tiny, plan, 1, supervision=limits)
    hosts.append(host)
    pid = int(host.wait_for("engine").split()[1])
    host.wait_for("step 1")
    for process in (host.process.pid, pid):
        os.kill(process, signal.SIGSTOP)
    time.sleep((limits.missed_pings + 1) * limits.ping_ms / 1000)
    clock.write_text(str(hours * 3600))
    os.kill(host.process.pid, signal.SIGCONT)
    time.sleep(0.5)
    os.kill(pid, signal.SIGCONT)
    while not host.wait_for("job").endswith("done\n"):
        pass
    # The same engine, which was not ended for its silence, and the same try.
    assert sum(line.startswith("engine") for line in host.lines) == 1
    steps = [int(line.split()[1]) for line in host.lines if line.startswith("step")]
    assert steps == sorted(steps)


def _are_over(queue: JobQueue, jobs: tuple[str, ...]) -> bool:
    found = map(queue.job, jobs)
    return all(job is not None and job.state.is_over for job in found)
