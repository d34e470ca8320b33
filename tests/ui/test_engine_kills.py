"""The window while its engine is killed: it tells so, shows whole pictures alone, and goes on."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from app.notices.notices import Notice
from app.queue.jobs import JobState
from engine.api.messages import Event, JobPhase, JobPreview, JobProgress
from engine.api.values import ErrorCode
from tests.app.dying_engine import Moment
from tests.app.supervised import QUICK, is_alive
from tests.app.test_crashes import Pictures, dying_engine
from tests.tiny_checkpoint import SIDE, write_checkpoint
from tests.ui.conftest import Desk
from ui.theme.theme import Theme

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")


class Watch:
    """Kills the engine after a random number of messages of a job, and looks at the window."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._random, self._left, self._job = Random(1), 0, ""
        self.pictures = Pictures(desk.paths.output)
        self.kills = self.crashes = 0
        desk.process.received.connect(self._on_event)
        desk.process.crashed.connect(self._on_crash)

    def _on_event(self, event: Event, _payload: bytes) -> None:
        job, hello = self._desk.queue.running, self._desk.process.hello
        if job is None or hello is None:
            return
        if not isinstance(event, JobPhase | JobProgress | JobPreview) or job.attempts > 1:
            return
        if job.id != self._job:
            self._job, self._left = job.id, self._random.randint(1, 8)
        self._left -= 1
        if self._left == 0 and is_alive(hello.pid):
            self.kills += 1
            os.kill(hello.pid, signal.SIGKILL)

    def _on_crash(self, _error: object) -> None:
        self.crashes += 1
        assert self._desk.session.progress.preview is None
        self.look()

    def look(self) -> None:
        """Every picture on disk and in the strip is whole, and none has changed."""
        self.pictures.check()
        for picture in self._desk.session.output_pictures.snapshot:
            with Image.open(picture.path) as image:
                image.load()

    def take_notice(self) -> Notice | None:
        """Return the notice of the crash, and close it."""
        found = (
            notice
            for notice in self._desk.session.notices.notices
            if notice.error is not None and notice.error.code is ErrorCode.ENGINE_CRASHED
        )
        notice = next(found, None)
        if notice is not None:
            self._desk.session.notices.dismiss(notice.number)
        return notice


@pytest.fixture
def desk(
    tmp_path: Path, qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """The window over the real engine, which is started again however often it ends."""
    patient = msgspec.structs.replace(QUICK, restart_ms=(0,), crash_window_s=0.0)
    monkeypatch.setattr("tests.ui.conftest.QUICK", patient)
    desk = Desk(tmp_path, qtbot, theme, dying_engine(tmp_path / "deaths", Moment.ANY)).start()
    desk.session.open_file(write_checkpoint(tmp_path / "tiny"))
    form = desk.session.generation
    form.backend, form.steps, form.seed_locked = "null", 20, True
    form.width = form.height = SIDE
    desk.wait(lambda: desk.session.obstacle.found is None)
    yield desk
    desk.end()


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kills", [1, pytest.param(200, marks=pytest.mark.slow)])
def test_an_engine_killed_at_any_message_is_told_and_its_picture_made_once(
    desk: Desk, kills: int
) -> None:
    watch = Watch(desk)
    made = again = 0
    while watch.crashes < kills:
        desk.session.generation.seed, before = 1000 + made, watch.crashes
        desk.session.jobs.generate()
        made += 1
        desk.wait_for_jobs(made)
        # The kill may come when all is said.
        desk.wait(lambda: watch.crashes == watch.kills)
        killed, job = watch.crashes - before, desk.queue.jobs[-1]
        assert (job.state, len(job.images)) == (JobState.DONE, 1)
        assert 1 <= job.attempts <= 1 + killed <= 2
        assert (watch.take_notice() is not None) == (killed == 1)
        again += job.attempts - 1
        watch.look()
    assert again > 0
    desk.wait(lambda: len(desk.session.output_pictures) == made)
    assert desk.window.dock.generate.isEnabled()
