"""The last session, read back from whatever has become of its file."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from pytestqt.qtbot import QtBot

from app.form.fields import Form
from app.form.generation import GenerationState
from app.form.last_session import FILE, LastSession, WindowPlace, encode, read_last_session
from engine.api.request import GenerateRequest, InputImage
from engine.api.values import ErrorCode, InputRole
from tests.app.fake_engine import Plan
from tests.app.requests import requests
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

PLACE = WindowPlace(x=-3, y=20, width=800, height=600, maximized=True)
WHOLE = encode(LastSession(form=Form(prompt="a boat", steps=9), opened=(Path("/a"),), place=PLACE))


@given(requests)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_form_reads_back_as_it_was(tmp_path: Path, request: GenerateRequest) -> None:
    form = GenerationState(Path("/models/a.safetensors"))
    form.load_request(request)
    last = LastSession(form=form.form, opened=(Path("/b/ü.ckpt"),), place=PLACE)
    (tmp_path / FILE).write_bytes(encode(last))
    assert read_last_session(tmp_path) == (last, None)
    other = GenerationState(Path("/models/b.safetensors"))
    other.put(last.form)
    assert other.build_request() == form.build_request()


def test_a_form_with_file_names_that_are_not_utf8_reads_back_as_it_was(tmp_path: Path) -> None:
    checkpoint, picture = Path("/models/bl\udce4.safetensors"), "/pictures/m\udcfchle.png"
    form = Form(checkpoint=checkpoint, inputs=(InputImage(role=InputRole.INIT, path=picture),))
    last = LastSession(form=form, opened=(checkpoint,), place=PLACE)
    (tmp_path / FILE).write_bytes(encode(last))
    assert read_last_session(tmp_path) == (last, None)


def write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": write(b""),
    "cut": write(WHOLE[: len(WHOLE) // 2]),
    "flipped": write(WHOLE.replace(b'"steps":', b'"steps"\xc5')),
    "nested": write(b'{"version": 1, "form": ' + b'{"x": ' * 100_000),
    "nested in what is unknown": write(b'{"version": 1, "other": ' + b"[" * 100_000),
    "wrong types": write(b'{"version": 1, "form": {"prompt": 5, "steps": "many"}}'),
    "another thing": write(b"[1, 2, 3]"),
    "not UTF-8": write(WHOLE.replace(b"a boat", b"\xff\xfe boat")),
    "a number without end": write(WHOLE.replace(b'"steps":9', b'"steps":' + b"9" * 400)),
    "a folder": lambda path: path.mkdir(),
    "a fifo": lambda path: os.mkfifo(path),
    "newer": write(WHOLE.replace(b'"version":1', b'"version":2')),
}


@pytest.mark.skipif(os.name != "posix", reason="needs a fifo")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_no_session_is_put_aside_and_said(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    path = folder / FILE
    DAMAGES[damage](path)
    last, problem = read_last_session(folder)
    assert last is None
    assert problem is not None
    assert problem.code is ErrorCode.SESSION_UNREADABLE
    assert not path.exists()
    (aside,) = folder.iterdir()
    assert str(aside) in problem.hint
    assert read_last_session(folder) == (None, None)


@pytest.fixture
def stage(tmp_path: Path, qtbot: QtBot) -> Iterator[Callable[[], Staged]]:
    sessions: list[Staged] = []

    def make() -> Staged:
        sessions.append(Staged(tmp_path, qtbot, fake_command(Plan()), QUICK))
        return sessions[-1]

    yield make
    for session in sessions:
        session.end()


def test_a_change_is_written_without_being_asked_for(stage: Callable[[], Staged]) -> None:
    staged = stage()
    path = staged.paths.state / FILE
    staged.session.generation.prompt = "a harbour"
    staged.wait(lambda: path.exists() and b"a harbour" in path.read_bytes())


def test_typing_without_a_pause_is_written_meanwhile(stage: Callable[[], Staged]) -> None:
    staged = stage()
    path, state = staged.paths.state / FILE, staged.session.generation

    def is_written_while_typing() -> bool:
        state.prompt += "x"
        return path.exists()

    staged.wait(is_written_while_typing)


def test_a_session_begins_as_the_one_before_ended(stage: Callable[[], Staged]) -> None:
    first = stage()
    state = first.session.generation
    opened = first.paths.state.parent / "mix.safetensors"
    opened.touch()
    first.session.checkpoint.open(opened)
    state.prompt, state.steps, state.seed, state.seed_locked = "a mill", 7, 2**64 - 1, True
    left = state.form
    first.end()
    second = stage()
    assert second.session.generation.form == left
    assert opened in [entry.path for entry in second.session.checkpoints.entries]


def test_the_starter_is_the_starter_wherever_it_lies_now(stage: Callable[[], Staged]) -> None:
    first = stage()
    first.session.generation.prompt = "a mill"
    first.end()
    assert (
        str(first.session.checkpoints.starter).encode()
        not in (first.paths.state / FILE).read_bytes()
    )
    second = stage()
    assert second.session.generation.checkpoint == second.session.checkpoints.starter


def test_a_disk_that_takes_nothing_is_said_once(stage: Callable[[], Staged]) -> None:
    staged = stage()
    shutil.rmtree(staged.paths.state)
    staged.paths.state.touch()
    for prompt in ("one", "two"):
        staged.session.generation.prompt = prompt
        staged.wait(lambda: bool(staged.session.notices.notices))
    (notice,) = staged.session.notices.notices
    assert notice.error is not None
    staged.paths.state.unlink()
    staged.paths.state.mkdir()
