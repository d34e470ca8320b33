"""A whole session for tests, on a fake engine or a fork of the real one, ended with the test."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

from pytestqt.qtbot import QtBot

from app.downloads.terms import Terms
from app.engine.client import EngineClient
from app.engine.connection import EngineCommand
from app.engine.process import EngineProcess, EngineState, Supervision
from app.paths import starter_checkpoint
from app.queue.job_queue import JobQueue
from app.queue.jobs import Job
from app.session import Session
from tests.app.folders import folders_in
from tests.app.supervised import PATIENCE_MS, forked_engine
from tests.ended import delete_after_test

# Servers of tests are on this machine, and no test waits for one.
TERMS = Terms(stall_s=20, tries=3, first_wait_s=0.01, loopback_http=True)


class Staged:
    """A session in folders of its own."""

    def __init__(
        self,
        folder: Path,
        bot: QtBot,
        command: EngineCommand | None,
        supervision: Supervision | None = None,
    ) -> None:
        self._bot = bot
        self.paths = folders_in(folder)
        command = command or forked_engine(self.paths.packs)
        self.process = EngineProcess(self.paths, command=command, supervision=supervision)
        self.client = EngineClient(self.process)
        self.queue = JobQueue(self.client, self.paths.state)
        self.session = Session(
            self.paths, starter_checkpoint(), self.process, self.client, self.queue, terms=TERMS
        )

    def wait(self, condition: Callable[[], bool]) -> None:
        """Let events happen until this holds."""
        self._bot.waitUntil(condition, timeout=PATIENCE_MS)

    def start(self) -> Self:
        """Start and wait until the engine is ready."""
        self.session.start()
        self.wait(lambda: self.process.state is EngineState.READY)
        return self

    def wait_for_jobs(self, count: int) -> tuple[Job, ...]:
        """Until so many jobs were submitted, and every one is over."""
        self.wait(
            lambda: (
                len(self.queue.jobs) == count and all(job.state.is_over for job in self.queue.jobs)
            )
        )
        return self.queue.jobs

    def end(self) -> None:
        """Leave no process, thread or file open."""
        self.session.close()
        delete_after_test(self.session, self.queue, self.client, self.process)
