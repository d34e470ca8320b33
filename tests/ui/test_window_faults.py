"""Faults behind the window are told in it, and the window goes on."""

import os
import signal
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from app.form.presets import PresetPart
from app.queue.jobs import JobState
from tests.app.fake_engine import Plan
from tests.app.requests import generation_of
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_pictures import END, png_header

ODD = (
    "a\0b",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.evil\N{POP DIRECTIONAL FORMATTING} \N{RIGHT-TO-LEFT ISOLATE}x",
    "zero\N{ZERO WIDTH SPACE}\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NO-BREAK SPACE}width",
    "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0323",
    "\x07\x1b[31m\x7f\x85",
    "line\u2028separator\u2029paragraph\rreturn\r\nboth\ttab",
    "((((" * 500,
    "<img src='file:///etc/passwd'>" * 100,
)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_engine_is_told_and_its_picture_made_again(make_desk: MakeDesk) -> None:
    desk = make_desk(Plan(steps=30, step_seconds=0.02)).start()
    desk.session.jobs.generate()
    desk.wait(lambda: desk.session.progress.done > 1)
    hello = desk.process.hello
    assert hello is not None
    os.kill(hello.pid, signal.SIGKILL)
    desk.wait(lambda: bool(desk.window.notices.cards))
    assert "engine" in desk.window.notices.cards[-1].message.text()
    # Nothing of the picture that came to nothing stays.
    assert desk.session.progress.preview is None
    (job,) = desk.wait_for_jobs(1)
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    assert desk.window.dock.generate.isEnabled()


def test_odd_prompts_are_used_kept_and_shown_as_they_were_pasted(desk: Desk) -> None:
    desk.start()
    prompt, session = desk.window.form.prompt, desk.session
    for number, text in enumerate(ODD, 1):
        QGuiApplication.clipboard().setText(text)
        prompt.selectAll()
        prompt.paste()
        pasted = prompt.toPlainText()
        # An editor knows one kind of line end; nothing else is lost.
        assert pasted.split() == text.split()
        session.jobs.generate()
        session.presets.save(f"{number} {text}", list(PresetPart))
        job = desk.wait_for_jobs(number)[-1]
        assert generation_of(job).prompt == pasted
        assert session.earlier.history.prompts[0].prompt == pasted
        prompt.clear()
        session.presets.use(session.presets.store.presets[-1])
        assert prompt.toPlainText() == pasted


def test_a_start_picture_that_is_a_bomb_is_refused(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(60_000, 60_000) + END)
    desk.window.form.inputs.start_from(str(path))
    desk.wait(lambda: bool(desk.window.notices.cards))
    assert desk.session.generation.inputs == ()
