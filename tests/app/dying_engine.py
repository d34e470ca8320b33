"""The real engine, which kills itself at a chosen kind of moment: `dying_engine.py FOLDER MOMENT`.

It dies in each job it meets for the first time, at a point that follows from the job's seed, and
leaves a file in FOLDER that says so; the job's second run goes well. Run it in isolated mode.
"""

import os
import signal
import stat
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from engine.api.request import GenerateRequest

# A job of three steps runs networks this often, and sends this many frames, at least: where they
# are still loaded from the job before, no phase tells of preparing them.
_RUNS = 6
_FRAMES = 11


class Moment(StrEnum):
    """The moment at which the engine dies."""

    # Inside a run of a network.
    STEP = "step"
    # With a frame partly written to the app's pipe.
    FRAME = "frame"
    # While the picture is written: half the bytes, all of them, under its name, its folder synced.
    WRITE = "write"
    # Whenever somebody else kills it.
    ANY = "any"


# In how many places of a job it can die at such a moment.
POINTS: Mapping[Moment, int] = {Moment.STEP: _RUNS, Moment.FRAME: _FRAMES, Moment.WRITE: 4}


class Deaths:
    """Counts down to the point of death."""

    def __init__(self, folder: Path, moment: Moment) -> None:
        self._folder = folder
        self._moment = moment
        self._left = 0
        self._random = Random(7)

    def begin(self, seed: int) -> None:
        """A job begins: draw its point of death, unless it died before."""
        mark = self._folder / str(seed)
        self._left = 0
        if self._moment is Moment.ANY or mark.exists():
            return
        mark.touch()
        # The seeds of a batch follow one another, so a batch dies at each point.
        self._left = seed % POINTS[self._moment] + 1

    def is_due(self, moment: Moment) -> bool:
        """Return True at the point where the engine is to die."""
        if moment is not self._moment or self._left == 0:
            return False
        self._left -= 1
        return self._left == 0

    def part(self, length: int) -> int:
        """Some bytes of so many, but not all."""
        return self._random.randrange(length)


def main(deaths: Deaths) -> None:
    _die_in_runs(deaths)
    _die_in_frames(deaths)
    _die_in_writing(deaths)
    from engine.server import main as serve

    serve(sys.argv[3:])


def _die_in_runs(deaths: Deaths) -> None:
    from backends.null import NullSession
    from engine.jobs.runner import JobRunner

    run_job, run = JobRunner.run, NullSession.run

    def run_job_to_death(runner: JobRunner, request: GenerateRequest, *rest: Any) -> Any:
        deaths.begin(request.seed or 0)
        return run_job(runner, request, *rest)

    def run_to_death(session: NullSession, feeds: Mapping[str, Any]) -> Any:
        if deaths.is_due(Moment.STEP):
            _die()
        return run(session, feeds)

    _replace(JobRunner, "run", run_job_to_death)
    _replace(NullSession, "run", run_to_death)


def _die_in_frames(deaths: Deaths) -> None:
    from engine.server import outbox

    def write_to_death(descriptor: int, frame: bytes) -> None:
        if deaths.is_due(Moment.FRAME):
            os.write(descriptor, frame[: deaths.part(len(frame))])
            _die()
        write_all(descriptor, frame)

    write_all = _replace(outbox, "_write_all", write_to_death)


def _die_in_writing(deaths: Deaths) -> None:
    from engine.output import writer

    def sync_to_death(descriptor: int) -> None:
        status = os.fstat(descriptor)
        is_picture = stat.S_ISREG(status.st_mode)
        if is_picture and deaths.is_due(Moment.WRITE):
            os.truncate(descriptor, deaths.part(status.st_size))
            _die()
        sync(descriptor)
        if is_picture and deaths.is_due(Moment.WRITE):
            _die()

    def sync_folder_to_death(folder: Path) -> None:
        sync_folder(folder)
        if deaths.is_due(Moment.WRITE):
            _die()

    def unlink_to_death(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".tmp" and deaths.is_due(Moment.WRITE):
            _die()
        unlink(path, missing_ok)

    sync = _replace(writer, "sync_file", sync_to_death)
    sync_folder = _replace(writer, "sync_folder", sync_folder_to_death)
    unlink = _replace(Path, "unlink", unlink_to_death)


def _replace(owner: Any, name: str, function: Callable[..., Any]) -> Any:
    """Put a function in the place of another, which is returned."""
    before = getattr(owner, name)
    setattr(owner, name, function)
    return before


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("dead")


if __name__ == "__main__":
    main(Deaths(Path(sys.argv[1]), Moment(sys.argv[2])))
