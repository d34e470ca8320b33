"""The line that the command line draws while a picture is made."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.cli import run
from app.cli.job_line import TerminalReporter, rounded
from app.cli.terminal import ByteBar, StatusLine
from engine.api.values import Phase
from engine.pipeline.forecast import PhaseEstimate


class Screen:
    """A terminal and the time."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.now = 50.0
        self.reporter = TerminalReporter(announce=True, clock=lambda: self.now)

    @property
    def line(self) -> str:
        """The line that was drawn last."""
        self.reporter.draw()
        return self._capsys.readouterr().err.rpartition("\r")[2]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Screen]:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    # Nothing is drawn but what the test asks for.
    monkeypatch.setattr("app.cli.job_line._TICK_S", 1e6)
    screen = Screen(capsys)
    yield screen
    screen.reporter.close()


def begin(screen: Screen, phase: Phase, estimate: PhaseEstimate | None = None) -> None:
    if estimate is not None:
        screen.reporter.expect(estimate)
    screen.reporter.phase(phase)


def test_before_anything_is_known_the_phase_is_named(screen: Screen) -> None:
    begin(screen, Phase.COMPILE)
    assert screen.line == "Preparing"


def test_the_time_of_the_whole_job_is_told_from_its_first_phase_on(screen: Screen) -> None:
    begin(screen, Phase.COMPILE, PhaseEstimate(10.0, 90.0, once=True))
    assert screen.line == f"Preparing, once {'░' * 24}  about 2 min left"
    screen.now += 5
    assert screen.line == f"Preparing, once █{'░' * 23}  about 2 min left"
    screen.now += 4
    begin(screen, Phase.ENCODE, PhaseEstimate(1.0, 80.0))
    screen.now += 1
    begin(screen, Phase.DENOISE, PhaseEstimate(70.0, 10.0))
    for done in range(11):
        screen.reporter.progress(done, 20)
        screen.now += 3.5
    assert screen.line == f"Developing {'█' * 12}{'░' * 12} 10/20  3.50 s/step  about 40 s left"


def test_the_time_of_the_phase_is_told_where_only_that_is_known(screen: Screen) -> None:
    """A first compile, before any job was made here."""
    begin(screen, Phase.COMPILE, PhaseEstimate(360.0, None, once=True))
    screen.now += 180
    assert screen.line == f"Preparing, once {'█' * 12}{'░' * 12}  about 3 min for this"


def test_a_phase_that_takes_too_long_is_said_to(screen: Screen) -> None:
    begin(screen, Phase.DECODE, PhaseEstimate(4.0, 0.0))
    screen.now += 9
    assert "longer than usual" in screen.line
    assert "left" not in screen.line.replace("longer", "")


def test_an_expected_time_counts_for_one_phase(screen: Screen) -> None:
    begin(screen, Phase.COMPILE, PhaseEstimate(10.0, 90.0))
    begin(screen, Phase.ENCODE)
    assert "left" not in screen.line


def test_ctrl_c_is_confirmed_at_once(screen: Screen) -> None:
    begin(screen, Phase.COMPILE, PhaseEstimate(10.0, 90.0))
    screen.reporter.stop()
    assert screen.line == "Stopping"


def test_nothing_is_drawn_after_the_end_or_without_a_terminal(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin(screen, Phase.COMPILE, PhaseEstimate(10.0, 90.0))
    screen.reporter.close()
    assert screen.line == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    silent = TerminalReporter(announce=True)
    silent.phase(Phase.DENOISE)
    silent.progress(1, 2)
    ByteBar("Hashing", 100).show(50)
    assert capsys.readouterr().err == ""


def test_time_goes_on_where_nobody_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """OpenVINO's load says nothing until it is done."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("app.cli.job_line._TICK_S", 0.01)
    seconds = iter(range(10_000))
    reporter = TerminalReporter(announce=True, clock=lambda: float(next(seconds)))
    reporter.expect(PhaseEstimate(100.0, 900.0))
    reporter.phase(Phase.COMPILE)
    drawn = ""
    while drawn.count("left") < 5:
        drawn += capsys.readouterr().err
    reporter.close()


def test_bytes_have_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ByteBar("Hashing", 200).show(50)
    assert f"Hashing {'█' * 6}{'░' * 18} 25 %" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["absent/preview.png", "folder"])
def test_a_preview_that_cannot_be_written_is_told_once(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    reporter = TerminalReporter(announce=True, preview=tmp_path / name)
    for step in (1, 2):
        reporter.show(step, np.zeros((8, 8, 3), np.uint8))
    told = capsys.readouterr().err
    assert told.count("The preview cannot be written") == 1
    assert str(tmp_path / name) in told
    assert not list(tmp_path.rglob("*.part"))


def seen(written: str) -> str:
    """The line on a console that knows no codes, as that of Windows may be."""
    line, column = "", 0
    for sign in written:
        if sign == "\r":
            column = 0
            continue
        line = line[:column] + sign + line[column + 1 :]
        column += 1
    return line.rstrip()


def test_a_shorter_line_leaves_nothing_of_a_longer_one_on_any_console(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    line = StatusLine()
    line.draw("Reading the model, which is a long one indeed")
    line.draw("Saving")
    drawn = capsys.readouterr().err
    assert seen(drawn) == "Saving"
    line.clear()
    assert seen(drawn + capsys.readouterr().err) == ""


def test_an_error_takes_the_place_of_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        ByteBar("Looking", 2).show(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("app.cli.models.list_checkpoints", interrupted)
    assert run(["models"]) == 1
    before, _, after = capsys.readouterr().err.rpartition("\r")
    assert before.rstrip(" \r").endswith("50 %")
    assert after == "safelight: Cancelled.\n"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (7.4, "7 s"), (42, "40 s"), (89, "90 s"), (130, "2 min"), (5400, "1.5 h")],
)
def test_time_is_rounded_as_people_do(seconds: float, words: str) -> None:
    assert rounded(seconds) == words
